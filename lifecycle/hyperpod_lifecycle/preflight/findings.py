"""What a question to the account brought to light."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["ok", "problem", "cannot tell", "not applicable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of the answer.

    Attributes:
        check: Name of the check, such as ``subnet addresses``.
        subject: What was looked at, such as a subnet's id.
        verdict: How it is.
        message: What was found; why it cannot be told.
        remedy: The way out of a problem.
    """

    check: str
    subject: str
    verdict: Verdict
    message: str
    remedy: str | None = None

    @property
    def text(self) -> str:
        """Subject, what was found and the way out, in one line."""
        said = f"{self.subject}: {self.message}"
        return said if self.remedy is None else f"{said}; {self.remedy}"


@dataclass(frozen=True, slots=True)
class About:
    """Makes the findings of one check.

    Attributes:
        check: Its name.
    """

    check: str

    def ok(self, subject: str, message: str) -> Finding:
        """All is well with a subject."""
        return Finding(check=self.check, subject=subject, verdict="ok", message=message)

    def problem(self, subject: str, message: str, *, remedy: str) -> Finding:
        """Something stands in the way, and there is a way out."""
        return Finding(check=self.check, subject=subject, verdict="problem", message=message, remedy=remedy)

    def cannot_tell(self, subject: str, why: object) -> Finding:
        """Nobody could say, and why."""
        return Finding(check=self.check, subject=subject, verdict="cannot tell", message=str(why))

    def not_applicable(self, why: str) -> Finding:
        """There is nothing to ask, and why."""
        return Finding(check=self.check, subject=self.check, verdict="not applicable", message=why)
