"""Options that are refused in one line."""

from __future__ import annotations

import argparse
from typing import NoReturn


class UsageError(ValueError):
    """A wrong option, in one line."""


class Parser(argparse.ArgumentParser):
    """Refuses wrong options in one line, in place of ending the process."""

    def error(self, message: str) -> NoReturn:
        """Refuse.

        Args:
            message: What is wrong.

        Raises:
            UsageError: Always.
        """
        raise UsageError(f"{message}; see {self.prog} --help")


class Version(argparse.Action):
    """Prints the version, looked up only then: that takes longer than reviewing a template."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        """Print it and end."""
        from hyperpod_model.command_line.version import version

        print(f"{parser.prog} {version()}")
        parser.exit()
