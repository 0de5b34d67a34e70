"""``hyperpodrun`` of PyPI hyperpod-elastic-agent 1.1.3 on a torch that it does not support yet.

A stand-in for the launcher, not for the agent. The agent needs torch before 2.12, of which PyPI has no small
build for Linux; from 2.12 on, torchrun has a ``--shutdown-timeout`` of its own. Here the agent's wins, as if
torchrun had none. And each agent listens at a port of its own, as all share one machine.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser

from hyperpod_elastic_agent import run
from torch.distributed.run import get_args_parser


def _parser() -> ArgumentParser:
    parser = get_args_parser()
    parser._optionals.conflict_handler = "resolve"
    return parser


def main() -> None:
    """Run the agent."""
    run.get_args_parser = _parser
    sys.argv.insert(1, f"--server-port={os.environ['OPERATOR_DOUBLE_AGENT_PORT']}")
    run.main()


if __name__ == "__main__":
    main()
