"""What a user may say to `hyperpod-nodes`."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from hyperpod_model.command_line.parser import Parser, Version

PROGRAM: Final = "hyperpod-nodes"
FORMATS: Final = ("text", "json")

_SPAN: Final = re.compile(r"(\d+(?:\.\d+)?)(s|m|h|d)")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_RELEASE: Final = re.compile(r"\d+\.\d+\.\d+")
_NODES: Final = (
    "instance id (i-0123456789abcdef0), name in Slurm or Kubernetes, private DNS name, or group and number "
    "(workers-3)"
)
_DESCRIPTION: Final = (
    "Look at the nodes of a live HyperPod cluster, repair them, and rehearse that. CLUSTER is a name or an "
    "ARN; the ARN also says the region. What changes something asks first, and shows it with --dry-run."
)
_CODES: Final = (
    "exit codes: 0 well, 1 refused, declined, or not done for every node, 2 a wrong option, or AWS does not "
    "do what is asked"
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
    parser = Parser(prog=PROGRAM, description=_DESCRIPTION, epilog=_CODES, allow_abbrev=False)
    parser.add_argument("--version", action=Version, nargs=0, help="print the version")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_list(commands)
    _add_watch(commands)
    _add_advise(commands)
    _add_repair(commands, "replace", "replace nodes by new instances")
    _add_repair(commands, "reboot", "reboot nodes")
    _add_connect(commands)
    _add_logs(commands)
    _add_check(commands)
    _add_update_software(commands)
    _add_drill(commands)
    return parser


def _add_list(commands: Any) -> None:
    parser = _command(commands, "list", "list nodes with their state and faults", module="list_nodes")
    parser.add_argument("cluster", metavar="CLUSTER", nargs="?", help="default: list the clusters")
    _add_selection(parser)
    _add_health(parser)
    _add_format(parser)


def _add_watch(commands: Any) -> None:
    parser = _command(commands, "watch", "show the nodes until interrupted", module="watch")
    _add_cluster(parser)
    _add_selection(parser)
    _add_health(parser)
    parser.add_argument(
        "--every", type=_positive_float, default=15.0, metavar="SEC", help="between looks; default: 15"
    )
    parser.add_argument("--times", type=_positive, metavar="N", help="looks; default: until interrupted")


def _add_advise(commands: Any) -> None:
    parser = _command(
        commands, "advise", "say whether faults ask for a reboot or a replacement, and why", module="advise"
    )
    parser.add_argument("cluster", metavar="CLUSTER", nargs="?", help="name or ARN; not needed with --fault")
    parser.add_argument("nodes", metavar="NODE", nargs="*", help=f"{_NODES}; default: all that have a fault")
    parser.add_argument(
        "--xid", dest="faults", action="append", type=_xid, metavar="N", help="judge an Xid, asking nobody"
    )
    parser.add_argument(
        "--fault", dest="faults", action="append", metavar="TEXT", help="judge a line of a log, asking nobody"
    )
    parser.add_argument(
        "--rebooted", action="store_true", help="it was rebooted or restarted for this, and it came back"
    )
    _add_health(parser)
    _add_format(parser)


def _add_repair(commands: Any, name: str, what: str) -> None:
    parser = _command(commands, name, what, module="repair")
    parser.set_defaults(action=name)
    _add_cluster(parser)
    parser.add_argument("nodes", metavar="NODE", nargs="+", help=_NODES)
    _add_job(parser)
    parser.add_argument(
        "--wait-for-save",
        type=_minutes,
        metavar="MINUTES",
        help="wait so long for a save that is under way in --checkpoints, to 1440; then do nothing",
    )
    _add_health(parser)
    _add_consent(parser)
    _add_format(parser)


def _add_connect(commands: Any) -> None:
    parser = _command(commands, "connect", "print or start a shell on a node", module="connect")
    _add_cluster(parser)
    parser.add_argument("node", metavar="NODE", help=_NODES)
    parser.add_argument("--start", action="store_true", help="start it; default: print the command")
    parser.add_argument("--run", metavar="COMMAND", help="run this on the node; default: a shell")
    _add_format(parser)


def _add_logs(commands: Any) -> None:
    parser = _command(commands, "logs", "print what a node wrote into CloudWatch Logs", module="logs")
    _add_cluster(parser)
    parser.add_argument("node", metavar="NODE", help=_NODES)
    parser.add_argument(
        "--of",
        choices=("lifecycle", "health", "deep-checks"),
        default="lifecycle",
        help="lifecycle scripts, health agent or deep health checks; default: lifecycle",
    )
    parser.add_argument(
        "--since", type=since, metavar="TIME", help="such as 90m, 6h, 2d; default: since the node's launch"
    )
    parser.add_argument(
        "--lines", type=_positive, default=200, metavar="N", help="newest lines; default: 200"
    )
    parser.add_argument("--follow", action="store_true", help="go on until interrupted")
    _add_format(parser)


def _add_check(commands: Any) -> None:
    parser = _command(commands, "check", "start deep health checks", module="check")
    _add_cluster(parser)
    parser.add_argument("nodes", metavar="NODE", nargs="*", help=_NODES)
    parser.add_argument("--group", action="append", default=[], metavar="NAME", help="all nodes of a group")
    parser.add_argument(
        "--check",
        dest="checks",
        action="append",
        metavar="NAME",
        help="InstanceStress, InstanceConnectivity or MultiNodeTrainingValidation; default: InstanceStress",
    )
    _add_consent(parser)
    _add_format(parser)


def _add_update_software(commands: Any) -> None:
    parser = _command(
        commands, "update-software", "update the image of nodes, which runs their scripts again",
        module="update_software",
    )  # fmt: skip
    _add_cluster(parser)
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--group",
        action="append",
        default=[],
        metavar="NAME",
        help="default: all groups on EKS; on Slurm there is no default",
    )
    which.add_argument("--all-groups", action="store_true", help="on Slurm the controller's, too")
    parser.add_argument("--image-id", metavar="ID", help="image of your own, or default")
    parser.add_argument(
        "--release-version", type=_release, metavar="X.Y.Z", help="of HyperPod's image; default: the newest"
    )
    rolling = parser.add_argument_group("in batches, with the EKS orchestrator")
    for name, what in (("batch", "at once"), ("rollback-batch", "at once where it is rolled back")):
        either = rolling.add_mutually_exclusive_group()
        either.add_argument(f"--{name}-nodes", type=_positive, metavar="N", help=f"nodes {what}")
        either.add_argument(f"--{name}-percent", type=_positive, metavar="N", help=f"percent {what}")
    rolling.add_argument("--wait-seconds", type=_waiting, metavar="SEC", help="between batches, to 3600")
    rolling.add_argument(
        "--rollback-alarm", action="append", default=[], metavar="NAME", help="CloudWatch alarm"
    )
    _add_consent(parser)
    _add_format(parser)


def _add_drill(commands: Any) -> None:
    parser = _command(
        commands, "drill", "rehearse a failure: replace a node during a run and time its recovery",
        module="drill",
    )  # fmt: skip
    _add_cluster(parser)
    parser.add_argument("node", metavar="NODE", help=_NODES)
    _add_job(parser, needed=True)
    parser.add_argument(
        "--by",
        choices=("api", "slurm"),
        default="api",
        help="replace by HyperPod's API, or set the node to fail in Slurm; default: api",
    )
    parser.add_argument(
        "--timeout-minutes", type=_positive_float, default=240.0, metavar="MIN", help="default: 240"
    )
    parser.add_argument(
        "--poll-seconds", type=_positive_float, default=15.0, metavar="SEC", help="default: 15"
    )
    _add_health(parser)
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")
    parser.add_argument(
        "--yes", action="count", default=0, help="do not ask the first time; given twice: do not ask at all"
    )
    _add_format(parser)


def _command(commands: Any, name: str, what: str, *, module: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=what, description=f"{what[0].upper()}{what[1:]}.", epilog=_CODES, allow_abbrev=False
    )
    parser.set_defaults(module=module)
    parser.add_argument("--region", metavar="NAME", help="default: of the ARN, the profile or AWS_REGION")
    parser.add_argument("--profile", metavar="NAME", help="of the AWS configuration; default: AWS_PROFILE")
    return parser


def _add_cluster(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("cluster", metavar="CLUSTER", help="name or ARN")


def _add_selection(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--group", action="append", default=[], metavar="NAME", help="default: all groups")
    parser.add_argument("--faulty", action="store_true", help="only nodes with a fault, or not running")


def _add_health(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--kube-context",
        metavar="NAME",
        help="ask Kubernetes through kubectl; default: the EKS cluster's API, with the AWS credentials",
    )


def _add_job(parser: argparse.ArgumentParser, *, needed: bool = False) -> None:
    parser.add_argument(
        "--recovery-records",
        required=needed,
        metavar="PLACE",
        help="folder or s3:// URI of the job's records, to say what it loses",
    )
    parser.add_argument(
        "--checkpoints", metavar="PLACE", help="folder or URI of the job's checkpoints, to say what it loses"
    )


def _add_consent(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")
    parser.add_argument("--yes", action="store_true", help="do not ask")


def _add_format(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-f", "--format", choices=FORMATS, default="text", help="default: text")


def since(text: str) -> datetime:
    """Return when something was, said as how long ago.

    Args:
        text: Such as ``90m``.
    """
    found = _SPAN.fullmatch(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"must be a number with s, m, h or d, such as 90m, got {text!r}")
    try:
        return datetime.now(UTC) - timedelta(**{_UNITS[found[2]]: float(found[1])})
    except OverflowError as error:
        raise argparse.ArgumentTypeError(f"is too long ago, got {text!r}") from error


def _xid(text: str) -> str:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a whole number, got {text!r}")
    return f"Xid {int(text)}"


def _release(text: str) -> str:
    if _RELEASE.fullmatch(text) is None:
        raise argparse.ArgumentTypeError(f"must be such as 1.2.3, got {text!r}")
    return text


def _waiting(text: str) -> int:
    if not text.isdecimal() or int(text) > 3600:
        raise argparse.ArgumentTypeError(f"must be from 0 to 3600, got {text!r}")
    return int(text)


def _minutes(text: str) -> float:
    minutes = _positive_float(text)
    if minutes > 1440:
        raise argparse.ArgumentTypeError(f"must be 1440 or less, got {text!r}")
    return minutes


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1, got {text!r}")
    return int(text)


def _positive_float(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"must be more than 0, got {text!r}")
    return number
