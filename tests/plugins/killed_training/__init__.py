"""A training of 2 nodes with 2 processes each under a real torchrun, whose ranks and nodes are killed.

Both nodes are on this machine, and are processes: a killed one is started again, and no node is replaced. All
else is real: PyTorch, gloo, ``torch.distributed.checkpoint``, SIGKILL, files.
"""

from __future__ import annotations

from killed_training.agents import LIBRARY, Agents, PlainAgents, ReadyAgents
from killed_training.nodes import Nodes, Trace, train_to_the_end
from killed_training.story import Kill, Story, tell

__all__ = [
    "LIBRARY",
    "Agents",
    "Kill",
    "Nodes",
    "PlainAgents",
    "ReadyAgents",
    "Story",
    "Trace",
    "tell",
    "train_to_the_end",
]
