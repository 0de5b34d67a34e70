"""A training of 2 nodes with 2 processes each under a real torchrun, whose ranks are killed.

Both nodes are on this machine, and a killed process is started again by its node's torchrun: no node is
replaced. All else is real: PyTorch, gloo, ``torch.distributed.checkpoint``, SIGKILL, files.
"""

from __future__ import annotations

from killed_training.nodes import LIBRARY, Nodes, Trace, train_to_the_end
from killed_training.story import Kill, Story, tell

__all__ = ["LIBRARY", "Kill", "Nodes", "Story", "Trace", "tell", "train_to_the_end"]
