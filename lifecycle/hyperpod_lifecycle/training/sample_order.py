"""The order in which a run sees its samples, and where in it the run is: none is skipped, none comes twice.

The order is one sequence for the whole job, epoch after epoch, and does not depend on how many ranks there
are. A step takes the next ``ranks * samples_a_rank`` of it. So the number of samples that steps have used is
all there is to save, and a job that resumes with more or fewer ranks, or another batch size, goes on with the
very next sample.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

_ROUNDS = 6
_MASK = (1 << 64) - 1


class SampleOrder:
    """A sequence of sample numbers: every epoch has each number once, in an order of its own.

    It needs no memory, however many samples there are: the number at a place is computed, by a Feistel
    network over the smallest even power of two that holds all samples, walked on while it is outside.

    Args:
        samples: Samples in the data set, 1 or more.
        seed: Chooses the orders. Default 0.
        shuffle: Whether there is an order other than 0, 1, 2, ... Default there is.

    Raises:
        ValueError: If there are no samples.
    """

    def __init__(self, samples: int, *, seed: int = 0, shuffle: bool = True) -> None:
        if samples < 1:
            raise ValueError(f"samples must be 1 or more, got {samples}")
        self.samples = samples
        self.seed = seed
        self.shuffle = shuffle
        self._half_bits = max(1, ((samples - 1).bit_length() + 1) // 2)
        self._keys: tuple[int, tuple[int, ...]] = (-1, ())

    def __getitem__(self, position: int) -> int:
        """Return the sample at a position of the sequence, from 0, over all epochs.

        Raises:
            IndexError: If the position is negative.
        """
        if position < 0:
            raise IndexError(f"position must be 0 or more, got {position}")
        epoch, place = divmod(position, self.samples)
        if not self.shuffle or self.samples == 1:
            return place
        keys = self._keys_of(epoch)
        place = self._permuted(place, keys)
        while place >= self.samples:
            place = self._permuted(place, keys)
        return place

    def identity(self) -> dict[str, Any]:
        """What two orders must have in common to be the same order."""
        return {"samples": self.samples, "seed": self.seed, "shuffle": self.shuffle}

    def _keys_of(self, epoch: int) -> tuple[int, ...]:
        if self._keys[0] != epoch:
            digest = hashlib.blake2b(
                f"hyperpod-sample-order-1 {self.seed} {epoch}".encode(), digest_size=8 * _ROUNDS
            ).digest()
            keys = tuple(int.from_bytes(digest[8 * i : 8 * i + 8], "big") for i in range(_ROUNDS))
            self._keys = (epoch, keys)
        return self._keys[1]

    def _permuted(self, place: int, keys: tuple[int, ...]) -> int:
        bits = self._half_bits
        mask = (1 << bits) - 1
        left, right = place >> bits, place & mask
        for key in keys:
            left, right = right, left ^ (_mixed(right ^ key) & mask)
        return (left << bits) | right


def _mixed(value: int) -> int:
    # The finalizer of splitmix64: each bit of the input changes half of the bits of the output.
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB & _MASK
    return value ^ (value >> 31)


class ResumableBatches:
    """Batches of one rank, as ``batch_sampler`` of a PyTorch ``DataLoader``, that go on where training was.

    The loader asks for batches ahead of training; only what :meth:`used` was told of counts as seen. So it
    also holds with workers that prefetch.

    What is guaranteed: the samples that steps use, step after step over all ranks, are ``order[0]``,
    ``order[1]`` and so on without a gap or a repetition, whatever fails between steps and however many ranks
    there are after each start. With the same number of ranks and batch size, each rank's batches are the same
    too. With others, the same samples come in the same sequence, but in other batches: the run is correct,
    and not bit for bit the uninterrupted one.

    Args:
        order: The sequence, the same on every rank.
        samples_a_rank: Samples of this rank in a step.
        rank: Number of this rank, from 0.
        ranks: How many ranks share the sequence: those that train on data of their own.
        epochs: Epochs after which batches end; what is left over then and fills no step of all ranks is in
            :attr:`left_over`. Default they never end, and a step may hold the end of one epoch and the begin
            of the next.

    Raises:
        ValueError: If a number is out of range.
    """

    def __init__(
        self, order: SampleOrder, *, samples_a_rank: int, rank: int, ranks: int, epochs: int | None = None
    ) -> None:
        if samples_a_rank < 1:
            raise ValueError(f"samples_a_rank must be 1 or more, got {samples_a_rank}")
        if not 0 <= rank < ranks:
            raise ValueError(f"rank must be from 0 to ranks - 1, got rank {rank} of {ranks}")
        if epochs is not None and epochs < 1:
            raise ValueError(f"epochs must be 1 or more, got {epochs}")
        self.order = order
        self.samples_a_rank = samples_a_rank
        self.rank = rank
        self.ranks = ranks
        self.epochs = epochs
        self.position = 0

    @property
    def samples_a_step(self) -> int:
        """Samples of all ranks in a step."""
        return self.samples_a_rank * self.ranks

    @property
    def epoch(self) -> int:
        """The epoch of the next sample, from 0."""
        return self.position // self.order.samples

    @property
    def left_over(self) -> int | None:
        """Samples at the very end that fill no step; None without ``epochs``."""
        left = self._left()
        return None if left is None else left % self.samples_a_step

    def __iter__(self) -> Iterator[list[int]]:
        """Yield this rank's batches, from the first that no step has used."""
        position = self.position
        while self.epochs is None or position + self.samples_a_step <= self.epochs * self.order.samples:
            begin = position + self.rank
            yield [self.order[begin + self.ranks * index] for index in range(self.samples_a_rank)]
            position += self.samples_a_step

    def __len__(self) -> int:
        """Return the number of steps that are left.

        Raises:
            TypeError: Without ``epochs``, where batches never end.
        """
        left = self._left()
        if left is None:
            raise TypeError("batches never end without epochs")
        return left // self.samples_a_step

    def used(self, steps: int = 1) -> None:
        """Say that steps have used their batches. Call it when a step is done, before saving.

        Args:
            steps: How many.
        """
        self.position += steps * self.samples_a_step

    def state_dict(self) -> dict[str, Any]:
        """Return what a checkpoint must hold: the position, and which order it is a position of."""
        return {"position": self.position, "order": self.order.identity()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where a checkpoint was. Iterators made before go on where they are: make a new one.

        Raises:
            ValueError: If the checkpoint's order is another one: its position would skip and repeat samples.
        """
        if state["order"] != self.order.identity():
            raise ValueError(
                f"the checkpoint has a position in the order {state['order']}, and this run has the order "
                f"{self.order.identity()}; a position in one means nothing in the other: use the same data "
                f"set, seed "
                "and shuffle, or begin a new run"
            )
        self.position = state["position"]

    def _left(self) -> int | None:
        return None if self.epochs is None else max(0, self.epochs * self.order.samples - self.position)
