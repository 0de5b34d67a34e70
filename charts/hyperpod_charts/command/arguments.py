"""What a user may say to `hyperpod-jobs`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, Final

from hyperpod_model.command_line.parser import Parser, UsageError, Version
from hyperpod_policy.command.arguments import FAIL_ON

PROGRAM: Final = "hyperpod-jobs"
VALIDATE_FORMATS: Final = ("text", "json", "sarif", "markdown")
FORMATS: Final = ("text", "json")

_DESCRIPTION: Final = (
    "Training jobs on SageMaker HyperPod: rendered as Kubernetes manifests or as batch files for Slurm, "
    "checked before they queue, explained, and their logs read. Nothing is sent anywhere, except by --submit "
    "to sbatch."
)
OF_SLURM: Final = ("--submit", "--partition", "--gres", "--venv", "--image-file", "--log-folder")
_EXIT_CODES: Final = "exit codes: 0 well, 1 {fails}, 2 unusable input or a wrong option"


def parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line.

    Args:
        argv: Arguments after the program's name. By default those of the process.

    Raises:
        UsageError: If they are wrong.
        SystemExit: With 0, after help or version.
    """
    options = _parser().parse_args(argv)
    if options.module == "validate" and options.acknowledgements is not None and options.no_acknowledgements:
        raise UsageError("--acknowledgements and --no-acknowledgements exclude each other; give one of them")
    if options.module == "render":
        _refuse_mixed(options)
    return options


def _refuse_mixed(options: argparse.Namespace) -> None:
    if options.slurm:
        if options.no_network_policy:
            raise UsageError("--no-network-policy is for manifests; leave it out with --slurm")
        return
    given = [name for name in OF_SLURM if getattr(options, name.lstrip("-").replace("-", "_"))]
    if given:
        raise UsageError(f"{', '.join(given)} goes with --slurm only; add it")


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog=PROGRAM,
        description=_DESCRIPTION,
        epilog=_EXIT_CODES.format(fails="a job that is refused, a finding, or a log that is not EFA"),
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=Version, nargs=0, help="print the version")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_render(commands)
    _add_validate(commands)
    _add_explain(commands)
    _add_check_logs(commands)
    return parser


def _add_render(commands: Any) -> None:
    parser = _command(commands, "render", "write a job's manifests", fails="the job is refused")
    parser.add_argument(
        "job", metavar="JOB", help="job specification in YAML or JSON, or - for standard input"
    )
    _add_cluster(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help="write there; default: standard output")
    parser.add_argument(
        "--no-network-policy",
        action="store_true",
        help="leave out the NetworkPolicy that lets only the job's own pods in",
    )
    slurm = parser.add_argument_group("on a cluster with Slurm")
    slurm.add_argument(
        "--slurm", action="store_true", help="write a batch file for sbatch in place of manifests"
    )
    slurm.add_argument("--submit", action="store_true", help="hand it to sbatch as well")
    slurm.add_argument(
        "--partition", metavar="NAME", help="default: the cluster's with the most such nodes, or Slurm's own"
    )
    slurm.add_argument(
        "--gres",
        metavar="NAME:NUMBER",
        help="generic resources a node, or none; default: the job's GPUs, such as gpu:8",
    )
    slurm.add_argument(
        "--venv", metavar="FOLDER", help="Python environment on shared storage, in place of the job's image"
    )
    slurm.add_argument(
        "--image-file", metavar="FILE", help="the image as a .sqsh file of enroot on shared storage"
    )
    slurm.add_argument(
        "--log-folder",
        metavar="FOLDER",
        help="folder on shared storage for logs; default: one log, where the job is submitted",
    )


def _add_validate(commands: Any) -> None:
    parser = _command(
        commands,
        "validate",
        "say what is wrong with jobs and manifests",
        fails="findings that nobody acknowledged",
    )
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="+",
        help="job specifications, manifests written elsewhere, folders of them, or - for standard input",
    )
    _add_cluster(parser)
    parser.add_argument("-f", "--format", choices=VALIDATE_FORMATS, default="text", help="default: text")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the report there, and its summary here")
    parser.add_argument(
        "-q", "--quiet", action="store_true", help="text: a line for each open finding, no more"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="list the kept promises as well")
    parser.add_argument(
        "--fail-on",
        choices=FAIL_ON,
        default="warning",
        help="least severity that makes the exit code 1; default: warning",
    )
    parser.add_argument(
        "--acknowledgements",
        metavar="FILE",
        help="accepted findings with their reasons; default: .hyperpod-review.yaml, if it is there",
    )
    parser.add_argument("--no-acknowledgements", action="store_true", help="accept nothing")


def _add_explain(commands: Any) -> None:
    parser = _command(
        commands,
        "explain",
        "say what a job becomes and why, or what a field takes",
        fails="the job is refused",
    )
    parser.add_argument(
        "subject",
        metavar="JOB|FIELD",
        help="job specification, - for standard input, or a field such as checkpoint.s3_uri",
    )
    _add_cluster(parser)
    parser.add_argument("-f", "--format", choices=FORMATS, default="text", help="default: text")


def _add_check_logs(commands: Any) -> None:
    parser = _command(
        commands,
        "check-logs",
        "say from a job's logs whether it uses EFA, and all of it",
        fails="not EFA, not all of it, or a known error",
        unusable="unusable input, a log without the lines that tell, or a wrong option",
    )
    parser.add_argument(
        "logs", metavar="LOG", nargs="+", help="log of one pod or of many, or - for standard input"
    )
    expected = parser.add_mutually_exclusive_group()
    expected.add_argument("--job", metavar="FILE", help="job specification that the log is of")
    expected.add_argument(
        "--instance-type",
        metavar="TYPE",
        help="such as ml.p5.48xlarge; default: as the log tells, if it does",
    )
    parser.add_argument(
        "--interfaces",
        metavar="N",
        type=_count,
        help="EFA interfaces a pod; default: all of the type, or the job's",
    )
    parser.add_argument("-f", "--format", choices=FORMATS, default="text", help="default: text")


def _command(
    commands: Any,
    name: str,
    what: str,
    *,
    fails: str,
    unusable: str = "unusable input or a wrong option",
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=what,
        description=f"{what[0].upper()}{what[1:]}.",
        epilog=f"exit codes: 0 well, 1 {fails}, 2 {unusable}",
        allow_abbrev=False,
    )
    parser.set_defaults(module=name.replace("-", "_"))
    return parser


def _add_cluster(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--cluster",
        metavar="FILE",
        help="cluster that the job is to run on: its specification, or a CreateCluster request",
    )


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1024:
        raise argparse.ArgumentTypeError(f"must be a number from 1 to 1024, got {text!r}")
    return int(text)
