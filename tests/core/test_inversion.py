"""Distributions in runs of any weight: every word maps where exact inversion puts it, or reads
on."""

import random
from bisect import bisect_right
from collections import Counter
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leastnoise.core.arrays import draw as bulk
from leastnoise.core.arrays.lookup import RunLookup, run_lookup
from leastnoise.core.sampling.entropy import CipherTape
from leastnoise.core.sampling.schemes import RunScheme, draw_exactly, run_scheme
from leastnoise.noise import DiscreteSteps, DiscreteUniform, Run
from tests.support.confidence_intervals import FALSE_ALARM, clopper_pearson
from tests.support.tapes import Replay

ONE = Fraction(1)
END = 1 << 64


def small(*weights: int) -> DiscreteSteps:
    runs = (Run(2 * i - 3, 2 if weight % 2 else 1, weight) for i, weight in enumerate(weights))
    return DiscreteSteps(ONE, tuple(runs))


SMALL = [small(1), small(3, 1), small(5, 2, 1, 4), small(1, 7, 1), small(8, 8), small(6, 1, 6)]


def brute(distribution: DiscreteSteps, word: int, bits: int) -> int | None:
    """The same by listing the points: which of them can U in [word, word + 1)/2^bits pick out?"""
    points = [(run.first + i, run.weight) for run in distribution.runs for i in range(run.points)]
    ends = [*accumulate(weight for _, weight in points)]
    lowest, above = (
        Fraction(word * distribution.total, 1 << bits),
        Fraction((word + 1) * distribution.total, 1 << bits),
    )
    possible = [
        index
        for (index, weight), end in zip(points, ends, strict=True)
        if end > lowest and end - weight < above
    ]
    return possible[0] if len(possible) == 1 else None


@pytest.mark.parametrize("distribution", SMALL, ids=repr)
@pytest.mark.parametrize("bits", range(1, 10))
def test_every_word_of_every_length_is_decided_iff_it_can_be(
    distribution: DiscreteSteps, bits: int
) -> None:
    for word in range(1 << bits):
        assert distribution.scheme.index_if_certain(word, bits) == brute(distribution, word, bits)


@pytest.mark.parametrize("distribution", SMALL, ids=repr)
def test_every_tape_enumerated_gives_the_claimed_law(distribution: DiscreteSteps) -> None:
    """Four words of three bits deep: what is undecided by then is squeezed between the edges."""
    pmf: Counter[int] = Counter()
    undecided = [0]
    for bits in (3, 6, 9, 12):
        words = [(word << 3) | more for word in undecided for more in range(8)]
        found = {word: distribution.scheme.index_if_certain(word, bits) for word in words}
        undecided = [word for word, index in found.items() if index is None]
        for index in found.values():
            if index is not None:
                pmf[index] += 1 << (12 - bits)
    points = [run.first + i for run in distribution.runs for i in range(run.points)]
    assert len(undecided) < len(points)
    for index in points:
        share = Fraction(distribution.weight(index) << 12, distribution.total)
        assert pmf[index] <= share < pmf[index] + 2
        if distribution.total & (distribution.total - 1) == 0:
            assert pmf[index] == share
    assert set(pmf) == set(points)


def test_an_undecided_word_reads_on_until_it_is_decided() -> None:
    distribution = small(
        1, 1, 1
    )  # thirds, in binary 0.010101…: the edge is within every word of fives
    fives = int("01" * 32, 2)
    certain = distribution.scheme.index_if_certain
    sides = [
        draw_exactly(certain, fives, Replay([fives, fives, word]))
        for word in (fives - 1, fives + 1)
    ]
    assert len(set(sides)) == 2
    with pytest.raises(AssertionError, match="the tape has run out"):
        draw_exactly(certain, fives, Replay([fives, fives]))


# ------------------------------------------------------------------- many at once


def many(runs: int, bits: int, points: int) -> DiscreteSteps:
    dice = random.Random(runs + bits)
    widths = [dice.randint(1, points) for _ in range(runs)]
    firsts = [0, *accumulate(widths)]
    return DiscreteSteps(
        ONE,
        tuple(
            Run(first - firsts[-1] // 2, width, dice.getrandbits(bits) + 1)
            for first, width in zip(firsts, widths, strict=False)
        ),
    )


LARGE = {
    "20 runs": many(20, 61, 1 << 18),
    "200 runs": many(200, 180, 1 << 15),
    "2000 runs": many(2000, 240, 1 << 12),
    "single points": many(300, 90, 1),
    "wide": many(5, 64, 1 << 42),
    "too wide for floats": many(3, 64, 1 << 50),
    "a few tickets": small(5, 2, 1, 4),
    # Runs that share a word with others, or lie within one: their thresholds coincide.
    "light": DiscreteSteps(
        ONE,
        (
            Run(-900, 300, 1),
            Run(-600, 1, 1 << 150),
            Run(-5, 9, 1 << 88),
            Run(4, 2, 3),
            Run(6, 1 << 20, 1 << 149),
            Run(1 << 21, 1, 1),
        ),
    ),
}


def adversarial(distribution: DiscreteSteps, count: int) -> list[int]:
    """Words at and around the edges of runs and of points within them, and any others."""
    dice = random.Random(5)
    edges, before = [], 0
    for run in distribution.runs:
        places = {0, 1, run.points - 1, run.points, *(dice.randint(0, run.points) for _ in "abc")}
        edges += [before + place * run.weight for place in places]
        before += run.points * run.weight
    edges = dice.sample(edges, min(count, len(edges)))
    words = [(edge << 64) // distribution.total + shift for edge in edges for shift in range(-3, 4)]
    words += [dice.getrandbits(64) for _ in range(count)] + [0, 1, END // 2, END - 1]
    return [word for word in words if 0 <= word < END]


def oracle(distribution: DiscreteSteps, words: list[int], more: list[int]) -> list[int]:
    """Exact inversion by its definition; further words are taken from ``more``, in order."""
    spare, ends = iter(more), [*accumulate(run.points * run.weight for run in distribution.runs)]

    def point(ticket: int) -> int:
        run = bisect_right(ends, ticket)
        before = ends[run - 1] if run else 0
        return distribution.runs[run].first + (ticket - before) // distribution.runs[run].weight

    found = []
    for word in words:
        bits = 64
        while True:
            lowest = Fraction(word * distribution.total, 1 << bits)
            above = Fraction((word + 1) * distribution.total, 1 << bits)
            index = point(lowest.__floor__())
            if index == point(above.__ceil__() - 1):
                break
            word, bits = (word << 64) | next(spare), bits + 64  # noqa: PLW2901 -- it grows
        found.append(index)
    return found


@pytest.mark.parametrize("name", LARGE)
def test_adversarial_words_land_where_exact_inversion_puts_them(name: str) -> None:
    distribution = LARGE[name]
    words = adversarial(distribution, 600)
    more = [random.Random(9).getrandbits(64) for _ in range(4000)]
    blocks = bulk.sample_blocks(distribution.scheme, len(words), Replay(words + more))
    assert [index for block, _, _ in blocks for index in block.tolist()] == oracle(
        distribution, words, more
    )
    tape = Replay(more)
    assert [distribution.scheme.index(word, tape) for word in words] == oracle(
        distribution, words, more
    )


@pytest.mark.parametrize(
    "name", ["20 runs", pytest.param("2000 runs", marks=pytest.mark.long), "wide"]
)
def test_without_flagging_the_same_words_would_catch_it(name: str) -> None:
    """The control: floats that decide everything are wrong on the same words."""
    distribution = LARGE[name]
    table, words = RunLookup(distribution.scheme), adversarial(distribution, 600)
    more = [random.Random(9).getrandbits(64) for _ in range(4000)]
    exact = oracle(distribution, words, more)

    def indices() -> list[float]:
        proposed, tape = np.empty(len(words)), Replay(more)
        stored = np.array([word - (1 << 63) for word in words])
        doubtful = table.propose(stored, proposed, np.empty(len(words)))
        for at in doubtful.tolist():
            proposed[at] = draw_exactly(distribution.scheme.index_if_certain, words[at], tape)
        return [float(index) for index in proposed]

    assert indices() == exact
    # Only what is exactly at an edge is flagged: in the buckets, then among the thresholds.
    right, table._doubt = table._doubt, 1e-300
    assert indices() != exact
    table._doubt, table._doubts = right, np.full_like(table._doubts, 1e-300)
    assert indices() != exact
    singly = RunScheme(distribution.runs)
    singly._rows = [(begin, scale, 1e-300, first) for begin, scale, _, first in singly._rows]
    assert [singly.index(word, Replay(more)) for word in words] != exact


def test_noise_wider_than_any_float_is_inverted_exactly() -> None:
    distribution = DiscreteSteps(ONE, (Run(-(10**320), 2 * 10**320, 3), Run(10**320, 1, 1)))
    words = [*range(7), END // 3, END - 1]
    more = [random.Random(9).getrandbits(64) for _ in range(400)]
    tape = Replay(more)
    assert [distribution.scheme.index(word, tape) for word in words] == oracle(
        distribution, words, more
    )


def test_hardly_any_word_is_settled_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def counted(certain: Any, word: int, tape: CipherTape) -> int:
        calls.append(word)
        return draw_exactly(certain, word, tape)

    monkeypatch.setattr(bulk, "draw_exactly", counted)
    for name in ("20 runs", "200 runs", "2000 runs"):
        for _ in bulk.sample_blocks(LARGE[name].scheme, 100_000, CipherTape()):
            pass
    assert len(calls) <= 3  # expected: fewer than 1e-3


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(1, 5), st.integers(1, 1 << 70)),
        min_size=1,
        max_size=6,
    ),
    st.lists(st.integers(0, END - 1), min_size=1, max_size=20),
)
def test_single_and_bulk_draws_are_one_inversion(
    parts: list[tuple[int, int, int]], words: list[int]
) -> None:
    runs, first = [], -4
    for gap, points, weight in parts:
        runs.append(Run(first + gap, points, weight))
        first += gap + points
    distribution = DiscreteSteps(ONE, tuple(runs))
    more = [END // 3] * 40
    kept = [word for word in words if distribution.scheme.index_if_certain(word, 64) is not None]
    assert [distribution.scheme.draw(Replay([word, *more])) for word in words] == [
        oracle(distribution, [word], more)[0] for word in words
    ]
    if kept:
        blocks = bulk.sample_blocks(distribution.scheme, len(kept), Replay(kept))
        assert [x for block, _, _ in blocks for x in block.tolist()] == oracle(
            distribution, kept, []
        )


@pytest.mark.parametrize(
    "distribution",
    [
        DiscreteSteps(ONE, (Run(-2, 3, 10**40 + 1), Run(1, 2, 7 * 10**39), Run(9, 1, 10**41))),
        DiscreteUniform(reach=2, level=10**30 + 7, rim=10**29, atom=3 * 10**30),
    ],
    ids=repr,
)
def test_weights_beyond_a_word_are_drawn_in_bulk(
    distribution: DiscreteSteps | DiscreteUniform,
) -> None:
    """Every point's count lies in its Clopper–Pearson interval; false alarms at most 1e-9 a
    distribution."""
    assert bulk.fits(distribution.scheme)
    trials, points = 200_000, range(-distribution.farthest, distribution.farthest + 1)
    found: Counter[float] = Counter()
    for block, far, _ in bulk.sample_blocks(distribution.scheme, trials, CipherTape()):
        assert not far
        found.update(block.tolist())
    for index in points:
        low, high = clopper_pearson(found[index], trials, FALSE_ALARM / len(points))
        assert low <= distribution.weight(index) / distribution.total <= high
    assert sum(found[index] for index in points) == trials


def test_a_table_is_made_once() -> None:
    distribution = LARGE["20 runs"]
    again = DiscreteSteps(distribution.step, distribution.runs)
    assert run_lookup(distribution.scheme) is run_lookup(again.scheme)
    assert run_scheme(distribution.runs) is again.scheme
