"""What a user may say to `hyperpod-review`."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Final

from hyperpod_model.command_line.parser import Parser, UsageError, Version

PROGRAM: Final = "hyperpod-review"
FORMATS: Final = ("text", "json", "sarif", "html", "markdown")
MAP_FORMATS: Final = ("text", "json", "html")
FAIL_ON: Final = ("error", "warning", "advice", "never")
DEFAULT_PATH: Final = "cdk.out"

_REGION: Final = re.compile(r"[a-z]{2,}(-[a-z]+)+-[0-9]+")
_ACCOUNT: Final = re.compile(r"[0-9]{12}")

_DESCRIPTION: Final = (
    "Review CloudFormation templates and Kubernetes manifests of SageMaker HyperPod clusters: EFA, "
    "checkpoint ports, who can run code on the nodes, encryption, recovery. Nothing is sent anywhere."
)
_EXIT_CODES: Final = (
    "exit codes: 0 clean, 1 findings at or above --fail-on that nobody acknowledged, 2 input that cannot be "
    "reviewed or a wrong option. Undetermined findings never fail."
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
    if options.trust_map and options.format not in MAP_FORMATS:
        raise UsageError(
            f"--trust-map has the formats {', '.join(MAP_FORMATS)}, got --format {options.format}"
        )
    if options.trust_map and options.baseline is not None:
        raise UsageError("--trust-map and --baseline answer different questions; give one of them")
    if options.quiet and options.verbose:
        raise UsageError("--quiet and --verbose exclude each other; give one of them")
    if options.acknowledgements is not None and options.no_acknowledgements:
        raise UsageError("--acknowledgements and --no-acknowledgements exclude each other; give one of them")
    return options


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog=PROGRAM, description=_DESCRIPTION, epilog=_EXIT_CODES, allow_abbrev=False)
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="*",
        help="template or manifest in JSON or YAML, directory with some, cloud assembly, or - for standard "
        f"input; default: {DEFAULT_PATH}",
    )
    _add_report_options(parser.add_argument_group("report"))
    _add_judgement_options(parser.add_argument_group("what counts"))
    _add_deployment_options(parser.add_argument_group("what only deployment would tell"))
    _add_other_commands(parser.add_argument_group("instead of a review"))
    return parser


def _add_report_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument("-f", "--format", choices=FORMATS, default="text", help="default: text")
    group.add_argument("-o", "--output", metavar="FILE", help="write the report there, and its summary here")
    group.add_argument(
        "-q", "--quiet", action="store_true", help="text: a line for each open finding, no more"
    )
    group.add_argument("-v", "--verbose", action="store_true", help="list the kept promises as well")
    group.add_argument(
        "-j",
        "--jobs",
        metavar="N",
        type=_jobs,
        default=1,
        help="processes for many templates, 0 for one a core; default: 1",
    )


def _add_judgement_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--fail-on",
        choices=FAIL_ON,
        default="error",
        help="least severity that makes the exit code 1; default: error",
    )
    group.add_argument(
        "--rules",
        metavar="RULE|GROUP,...",
        action="append",
        default=[],
        help="apply only these rules, by id or group; default: all",
    )
    group.add_argument(
        "--acknowledgements",
        metavar="FILE",
        help="accepted findings with their reasons; default: .hyperpod-review.yaml, if it is there",
    )
    group.add_argument(
        "--no-acknowledgements",
        action="store_true",
        help="accept nothing, not even what a CDK app acknowledged",
    )
    group.add_argument(
        "--checkpoint-bucket",
        metavar="NAME",
        action="append",
        default=[],
        help="logical id or name of a bucket that holds checkpoints, beside those that are recognised",
    )
    group.add_argument(
        "--baseline",
        metavar="OLD",
        help="template that is deployed: judge PATH as an update of it as well",
    )


def _add_deployment_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "-p",
        "--parameter",
        metavar="NAME=VALUE",
        action="append",
        type=_parameter,
        default=[],
        help="value of a template parameter; default: its default and every allowed value",
    )
    group.add_argument(
        "--region", type=_region, help="Region of templates that do not tell theirs, such as us-west-2"
    )
    group.add_argument("--account", type=_account, help="account id of templates that do not tell theirs")


def _add_other_commands(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--trust-map",
        action="store_true",
        help="say who can run code on the training nodes, and by which statements (text, json, html)",
    )
    group.add_argument("--list-rules", action="store_true", help="list all rules (text, json)")
    group.add_argument("--explain", metavar="RULE", help="explain a rule and how to acknowledge its findings")
    group.add_argument("--version", action=Version, nargs=0, help="print the version")


def _parameter(text: str) -> tuple[str, str]:
    name, mark, value = text.partition("=")
    if not name or not mark:
        raise argparse.ArgumentTypeError(f"must be NAME=VALUE, got {text!r}")
    return name, value


def _region(text: str) -> str:
    if _REGION.fullmatch(text) is None:
        raise argparse.ArgumentTypeError(f"must be a Region such as us-west-2, got {text!r}")
    return text


def _account(text: str) -> str:
    if _ACCOUNT.fullmatch(text) is None:
        raise argparse.ArgumentTypeError(f"must be the 12 digits of an account id, got {text!r}")
    return text


def _jobs(text: str) -> int:
    if not text.isdecimal() or int(text) > 256:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to 256, got {text!r}")
    return int(text)
