"""What a user may say to `hyperpod-preflight`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Final

from hyperpod_model.command_line.parser import Parser, UsageError, Version

PROGRAM: Final = "hyperpod-preflight"
FORMATS: Final = ("text", "json")

_DESCRIPTION: Final = (
    "What stands in a cluster's way in an AWS account, asked before it is deployed: zones, quotas, capacity, "
    "network, buckets, roles and EKS. Nothing is changed. One line each: ok, problem with the way out, or "
    "cannot tell and why."
)
_EPILOG: Final = (
    "exit codes: 0 no problem (cannot tell is none), 1 a problem, or with --strict something that nobody can "
    "tell, 2 unusable input, a wrong option, or no access to AWS at all"
)


def parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line.

    Args:
        argv: Arguments after the program's name. By default those of the process.

    Raises:
        UsageError: If they are wrong.
        SystemExit: With 0, after help or version.
    """
    options = _parser().parse_args(argv)
    if options.file is None and not options.print_policy:
        raise UsageError(f"give a cluster specification or a CreateCluster request; see {PROGRAM} --help")
    return options


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog=PROGRAM, description=_DESCRIPTION, epilog=_EPILOG, allow_abbrev=False)
    parser.add_argument("--version", action=Version, nargs=0, help="print the version")
    parser.add_argument(
        "file", metavar="FILE", nargs="?", help="cluster specification, or a CreateCluster request"
    )
    parser.add_argument(
        "--region",
        metavar="REGION",
        help="of a request, which names none; default: that of the profile or of the environment",
    )
    parser.add_argument(
        "--zone-id",
        metavar="ID",
        help="of a request that leaves its network to be made, such as usw2-az1; default: none",
    )
    parser.add_argument(
        "--profile", metavar="NAME", help="of the AWS configuration; default: that of the environment"
    )
    parser.add_argument(
        "--kube-context",
        metavar="NAME",
        help="context of kubectl for the existing EKS cluster; default: its API is asked with the AWS "
        "credentials, then the context that names its endpoint",
    )
    parser.add_argument(
        "--strict", action="store_true", help="exit with 1 also where something cannot be told"
    )
    parser.add_argument("-f", "--format", choices=FORMATS, default="text", help="default: text")
    parser.add_argument(
        "--print-policy",
        action="store_true",
        help="print the IAM policy with the permissions that are used, and ask nothing; with FILE, for that "
        "cluster alone",
    )
    return parser
