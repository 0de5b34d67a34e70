from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperpod_lifecycle.training import ResumableBatches, SampleOrder


def stream(order: SampleOrder, count: int) -> list[int]:
    return [order[position] for position in range(count)]


def step_of_all(order: SampleOrder, position: int, samples_a_rank: int, ranks: int) -> list[int]:
    """What all ranks see in the next step, in the order of the sequence."""
    batches = []
    for rank in range(ranks):
        of_rank = ResumableBatches(order, samples_a_rank=samples_a_rank, rank=rank, ranks=ranks)
        of_rank.position = position
        batches.append(next(iter(of_rank)))
    return [batches[index % ranks][index // ranks] for index in range(samples_a_rank * ranks)]


class TestSampleOrder:
    @pytest.mark.parametrize("samples", [1, 2, 3, 4, 5, 16, 17, 100, 1000, 4097])
    def test_each_epoch_has_each_sample_once(self, samples: int):
        order = SampleOrder(samples, seed=3)
        for epoch in range(3):
            begin = epoch * samples
            assert sorted(order[begin + place] for place in range(samples)) == list(range(samples))

    def test_epochs_and_seeds_have_orders_of_their_own(self):
        order, other = SampleOrder(100, seed=1), SampleOrder(100, seed=2)
        first, second = stream(order, 100), stream(order, 200)[100:]
        assert first != second
        assert first != stream(other, 100)
        assert first != sorted(first)
        assert first == stream(SampleOrder(100, seed=1), 100)

    def test_the_order_is_the_same_in_every_version(self):
        """A checkpoint's position must mean the same after an update of the library."""
        assert stream(SampleOrder(10, seed=0), 10) == [8, 2, 0, 1, 6, 4, 9, 7, 5, 3]

    def test_positions_spread_evenly(self):
        """A shuffle that leaves neighbours together would show in the training: they must be far apart."""
        order = SampleOrder(10_000, seed=4)
        numbers = stream(order, 10_000)
        steps = [abs(a - b) for a, b in itertools.pairwise(numbers)]
        assert 3100 < sum(steps) / len(steps) < 3560  # a third of the samples, for independent places
        firsts = [SampleOrder(1000, seed=seed)[0] for seed in range(1000)]
        assert 440 < sum(firsts) / len(firsts) < 560

    def test_without_shuffling_it_counts(self):
        assert stream(SampleOrder(3, shuffle=False), 7) == [0, 1, 2, 0, 1, 2, 0]

    def test_a_large_data_set_takes_no_time_and_no_memory(self):
        order = SampleOrder(10**15, seed=1)
        assert 0 <= order[10**16 + 12345] < 10**15

    def test_none_is_refused(self):
        with pytest.raises(ValueError, match="samples must be 1 or more, got 0"):
            SampleOrder(0)
        with pytest.raises(IndexError, match="position must be 0 or more, got -1"):
            SampleOrder(3)[-1]


class TestResumableBatches:
    @settings(max_examples=40, deadline=None)
    @given(
        samples=st.integers(1, 50),
        shapes=st.lists(st.tuples(st.integers(1, 5), st.integers(1, 7), st.integers(0, 4)), max_size=6),
    )
    def test_no_sample_is_left_out_or_comes_twice_whatever_the_number_of_ranks(
        self, samples: int, shapes: list[tuple[int, int, int]]
    ):
        """Each start has a batch size, a number of ranks, and steps until it ends."""
        order = SampleOrder(samples, seed=9)
        seen: list[int] = []
        state = ResumableBatches(order, samples_a_rank=1, rank=0, ranks=1).state_dict()
        for samples_a_rank, ranks, steps in shapes:
            leader = ResumableBatches(order, samples_a_rank=samples_a_rank, rank=0, ranks=ranks)
            leader.load_state_dict(state)
            for _ in range(steps):
                seen += step_of_all(order, leader.position, samples_a_rank, ranks)
                leader.used()
            state = leader.state_dict()
        assert seen == stream(order, len(seen))

    def test_what_a_loader_fetched_ahead_does_not_count(self):
        batches = ResumableBatches(SampleOrder(20, seed=1), samples_a_rank=2, rank=0, ranks=1)
        ahead = iter(batches)
        first, second, _third = next(ahead), next(ahead), next(ahead)
        batches.used()
        assert batches.position == 2
        again = ResumableBatches(SampleOrder(20, seed=1), samples_a_rank=2, rank=0, ranks=1)
        again.load_state_dict(batches.state_dict())
        assert next(iter(again)) == second != first

    def test_batches_end_with_the_epochs(self):
        batches = ResumableBatches(SampleOrder(10), samples_a_rank=2, rank=1, ranks=2, epochs=2)
        assert len(batches) == 5
        assert len(list(batches)) == 5
        assert batches.left_over == 0
        batches.used(3)
        assert (len(batches), batches.epoch, batches.position) == (2, 1, 12)
        uneven = ResumableBatches(SampleOrder(10), samples_a_rank=3, rank=0, ranks=1, epochs=1)
        assert (len(list(uneven)), uneven.left_over) == (3, 1)

    def test_without_epochs_they_never_end(self):
        batches = ResumableBatches(SampleOrder(3), samples_a_rank=2, rank=0, ranks=1)
        assert len(list(itertools.islice(batches, 100))) == 100
        assert batches.left_over is None
        with pytest.raises(TypeError, match="never end without epochs"):
            len(batches)

    @pytest.mark.parametrize(
        "other", [SampleOrder(11, seed=1), SampleOrder(10, seed=2), SampleOrder(10, seed=1, shuffle=False)]
    )
    def test_a_position_in_another_order_is_refused(self, other: SampleOrder):
        state = ResumableBatches(SampleOrder(10, seed=1), samples_a_rank=1, rank=0, ranks=1).state_dict()
        with pytest.raises(ValueError, match="a position in one means nothing in the other"):
            ResumableBatches(other, samples_a_rank=1, rank=0, ranks=1).load_state_dict(state)

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"samples_a_rank": 0}, "samples_a_rank must be 1 or more, got 0"),
            ({"rank": 2}, "rank must be from 0 to ranks - 1, got rank 2 of 2"),
            ({"epochs": 0}, "epochs must be 1 or more, got 0"),
        ],
    )
    def test_numbers_out_of_range_are_refused(self, changes: dict[str, int], message: str):
        with pytest.raises(ValueError, match=message):
            ResumableBatches(SampleOrder(3), **{"samples_a_rank": 1, "rank": 0, "ranks": 2} | changes)
