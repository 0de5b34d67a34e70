"""Ranks that agree through PyTorch, on a group of their own beside the training's collectives."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any


class TorchCoordinator:
    """A :class:`~hyperpod_lifecycle.training.coordinator.Coordinator` over ``torch.distributed``.

    It makes a gloo group of all ranks, whatever the training's back end is: its messages cannot come between
    the collectives of a step, a background thread may use it while training goes on, and CPUs talk where GPUs
    are busy. Use one coordinator in one thread at a time, and make them on all ranks in the same order.

    Values travel as JSON, never pickled.

    Args:
        timeout_seconds: Longest wait for other ranks. Default that of PyTorch, 30 minutes.

    Attributes:
        rank: Number of this process.
        world_size: Number of processes.
        group: The process group.
    """

    def __init__(self, *, timeout_seconds: float | None = None) -> None:
        import torch.distributed as dist

        timeout = None if timeout_seconds is None else timedelta(seconds=timeout_seconds)
        self.group: Any = dist.new_group(backend="gloo", timeout=timeout)
        self.rank: int = dist.get_rank(self.group)
        self.world_size: int = dist.get_world_size(self.group)

    def barrier(self) -> None:
        """Wait until every rank is here."""
        import torch.distributed as dist

        dist.barrier(self.group)

    def gather(self, value: Any) -> list[Any] | None:
        """Bring every rank's value to rank 0, in the order of ranks; None on the others."""
        import torch
        import torch.distributed as dist

        content = _encoded(value)
        lengths = torch.zeros(self.world_size, dtype=torch.int64)
        lengths[self.rank] = len(content)
        dist.all_reduce(lengths, group=self.group)
        longest = int(lengths.max())
        padded = torch.zeros(longest, dtype=torch.uint8)
        padded[: len(content)] = content
        parts = [torch.empty_like(padded) for _ in range(self.world_size)] if self.rank == 0 else None
        dist.gather(padded, parts, group=self.group, group_dst=0)
        if parts is None:
            return None
        return [_decoded(part[: int(length)]) for part, length in zip(parts, lengths, strict=True)]

    def broadcast(self, value: Any) -> Any:
        """Give every rank the value of rank 0."""
        import torch
        import torch.distributed as dist

        content = _encoded(value) if self.rank == 0 else torch.empty(0, dtype=torch.uint8)
        length = torch.tensor([len(content)])
        dist.broadcast(length, group=self.group, group_src=0)
        if self.rank != 0:
            content = torch.empty(int(length), dtype=torch.uint8)
        dist.broadcast(content, group=self.group, group_src=0)
        return _decoded(content)

    def any(self, value: bool) -> bool:
        """Say on every rank whether it holds on any: one small collective, for each step."""
        import torch
        import torch.distributed as dist

        told = torch.tensor([int(value)])
        dist.all_reduce(told, dist.ReduceOp.MAX, group=self.group)
        return bool(told.item())


def _encoded(value: Any) -> Any:
    import torch

    return torch.frombuffer(bytearray(json.dumps(value).encode()), dtype=torch.uint8)


def _decoded(content: Any) -> Any:
    # By way of a list: PyTorch's bridge to bytes is NumPy, which need not be installed.
    return json.loads(bytes(content.tolist()))
