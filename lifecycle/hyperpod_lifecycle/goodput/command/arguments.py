"""What a user may say to `hyperpod-goodput`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, Final

from hyperpod_model.command_line.parser import Parser, Version

PROGRAM: Final = "hyperpod-goodput"
FORMATS: Final = ("text", "json")

NUMBERS: Final = {
    "nodes": (int, "N", "nodes that train, without spares"),
    "accelerators_per_node": (int, "N", "accelerators of each"),
    "days": (float, "DAYS", "length of the run"),
    "failures_per_device_hour": (float, "RATE", "failures that stop the job, for each accelerator and hour"),
    "process_share": (float, "SHARE", "share of the failures after which the node stays, 0 to 1"),
    "cluster_share": (float, "SHARE", "share of the failures that stop all nodes, 0 to 1"),
    "detection_minutes": (float, "MIN", "from a failure until the job is being stopped"),
    "restart_minutes": (float, "MIN", "ending and starting processes"),
    "spare_nodes": (int, "N", "nodes that stand by"),
    "spare_minutes": (float, "MIN", "putting a spare in a failed node's place"),
    "replacement_minutes": (float, "MIN", "until a failed node's replacement can train"),
    "initialization_minutes": (float, "MIN", "imports, ranks, communication"),
    "retrieval_minutes": (float, "MIN", "loading a durable checkpoint"),
    "data_loading_minutes": (float, "MIN", "data loaders"),
    "first_step_minutes": (float, "MIN", "overhead of the first step"),
    "checkpoint_interval_minutes": (float, "MIN", "training from one durable checkpoint to the next"),
    "save_stall_seconds": (float, "SEC", "how long a durable save stops training"),
    "save_minutes": (float, "MIN", "from a save's begin until its checkpoint is complete"),
    "memory_interval_minutes": (float, "MIN", "training between checkpoints in the memory of the nodes"),
    "memory_stall_seconds": (float, "SEC", "how long a save to memory stops training"),
    "memory_retrieval_minutes": (float, "MIN", "loading a checkpoint from memory"),
    "peer_minutes": (float, "MIN", "checkpointless: from detection until training goes on"),
}
"""Fields of a scenario that are options, with their type, what stands for the value, and what they are."""

_DESCRIPTION: Final = (
    "What failures cost a training run on a cluster that stands: estimated from the cluster, the job and a "
    "few numbers, or measured from a run. Nothing is sent anywhere."
)


def parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line.

    Args:
        argv: Arguments after the program's name. By default those of the process.

    Raises:
        UsageError: If they are wrong.
        SystemExit: With 0, after help or version.
    """
    return _parser().parse_args(argv)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog=PROGRAM,
        description=_DESCRIPTION,
        epilog=(
            "exit codes: 0 well, 1 a measured goodput below --at-least, 2 unusable input or a wrong option"
        ),
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=Version, nargs=0, help="print the version")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_estimate(commands)
    _add_interval(commands)
    _add_spares(commands)
    _add_measure(commands)
    return parser


def _add_estimate(commands: Any) -> None:
    parser = _command(commands, "estimate", "say what failures are expected to cost, by cause and by stage")
    _add_scenario(parser)
    _add_simulation(parser)
    _add_output(parser, plot="the hours by stage of recovery")


def _add_interval(commands: Any) -> None:
    parser = _command(commands, "interval", "say how often to save durable checkpoints")
    _add_scenario(parser)
    _add_simulation(parser)
    _add_output(parser, plot="the loss by interval")


def _add_spares(commands: Any) -> None:
    parser = _command(commands, "spares", "say what each spare node buys")
    _add_scenario(parser)
    parser.add_argument(
        "--most", type=_spares, default=4, metavar="N", help="highest number of spares; default: 4"
    )
    _add_output(parser, plot="the goodput by number of spares")


def _add_measure(commands: Any) -> None:
    parser = _command(
        commands,
        "measure",
        "compute the goodput of a run from its recovery records or its logs",
        fails="goodput below --at-least",
    )
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="+",
        help="records of the resume library (*.jsonl, or a folder of them), or logs of one rank",
    )
    parser.add_argument(
        "--pattern",
        metavar="REGEX",
        help=(
            "how a line of the log says that a step is done, with the groups 'time' and 'step'; default: a "
            "time as in ISO 8601, and step=N, step N or step: N"
        ),
    )
    parser.add_argument("--accelerators", type=_positive, metavar="N", help="paid for; default: unknown")
    parser.add_argument(
        "--at-least",
        type=_share,
        metavar="SHARE",
        help="exit with 1 where the goodput is lower; default: never",
    )
    _add_output(parser, plot="where the hours went")


def _add_scenario(parser: argparse.ArgumentParser) -> None:
    known = parser.add_argument_group("what is known")
    known.add_argument("--cluster", metavar="FILE", help="cluster specification, or a CreateCluster request")
    known.add_argument("--job", metavar="FILE", help="job specification")
    known.add_argument("--step-seconds", type=_seconds, metavar="SEC", help="how long a training step takes")
    numbers = parser.add_argument_group("numbers, each in place of what cluster, job or an assumption say")
    for name, (kind, value, what) in NUMBERS.items():
        numbers.add_argument(option(name), dest=name, type=kind, metavar=value, help=what)
    numbers.add_argument(
        "--checkpointless",
        dest="checkpointless",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="failed processes and nodes take their state from peers",
    )


def _add_simulation(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--runs", type=_runs, default=1000, metavar="N", help="simulated runs, 0 for none; default: 1000"
    )
    parser.add_argument("--seed", type=_seed, default=1, metavar="N", help="of the simulation; default: 1")


def _add_output(parser: argparse.ArgumentParser, *, plot: str) -> None:
    parser.add_argument("-f", "--format", choices=FORMATS, default="text", help="default: text")
    parser.add_argument(
        "--plot",
        metavar="FILE",
        help=(
            f"draw {plot}: into a file that ends with .svg or .png, or - for the terminal; needs the extra "
            "'plots'"
        ),
    )


def _command(commands: Any, name: str, what: str, *, fails: str | None = None) -> argparse.ArgumentParser:
    ones = "" if fails is None else f"1 {fails}, "
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=what,
        description=f"{what[0].upper()}{what[1:]}.",
        epilog=f"exit codes: 0 well, {ones}2 unusable input or a wrong option",
        allow_abbrev=False,
    )
    parser.set_defaults(module=name)
    return parser


def option(name: str) -> str:
    """Return the option of a field of a scenario."""
    return f"--{name.replace('_', '-')}"


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1, got {text!r}")
    return int(text)


def _spares(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 to 1000, got {text!r}")
    return int(text)


def _seed(text: str) -> int:
    if not text.isdecimal() or len(text) > 18:
        raise argparse.ArgumentTypeError(f"must be a whole number from 0, got {text!r}")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"must be more than 0, got {text!r}")
    return seconds


def _runs(text: str) -> int:
    if not text.isdecimal() or int(text) == 1 or int(text) > 1_000_000:
        raise argparse.ArgumentTypeError(f"must be 0, or from 2 to 1000000, got {text!r}")
    return int(text)


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"must be from 0 to 1, got {text!r}")
    return share
