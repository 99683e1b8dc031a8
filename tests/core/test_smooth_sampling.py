"""Smooth noise on a lattice: every word maps where mpmath's tails put it, or reads on."""

import math
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, partial

import mpmath
import numpy as np
import pytest
from scipy import stats

from leastnoise.core.arrays import draw as bulk
from leastnoise.core.arrays.lookup import QuantileLookup, quantile_lookup
from leastnoise.core.lattice import Grid
from leastnoise.core.sampling import draw_exactly
from leastnoise.core.sampling.entropy import CipherTape, Tape
from leastnoise.core.sampling.quantile import PolynomialCache, Polynomials, plan_polynomials
from leastnoise.noise import Gaussian, Laplace, Rounded, Smooth, TruncatedLaplace
from tests.support.confidence_intervals import FALSE_ALARM, clopper_pearson
from tests.support.tapes import Replay, released

END = 1 << 64
DIGITS = 80
FINE = Fraction(1, 1 << 20)
ENOUGH = 2000  # draws for which a table is made
COARSE = {
    "gaussian": Rounded(Fraction(1), Gaussian("0.7")),
    "laplace": Rounded(Fraction(1), Laplace("3/2")),
    "cut off": Rounded(Fraction(1), TruncatedLaplace(1, "2.2")),
    "cut off within a cell": Rounded(Fraction(2), TruncatedLaplace(3, "0.9")),
}
DISTRIBUTIONS = {
    **COARSE,
    "narrow": Rounded(Fraction(1), Laplace("1e-300")),
    "fine gaussian": Rounded(FINE, Gaussian("4.2246")),
    "fine laplace": Rounded(FINE, Laplace(1)),
    "fine cut off": Rounded(FINE, TruncatedLaplace(1, "6.7571")),
    "nearly level": Rounded(FINE, TruncatedLaplace(1000, 3)),
    "odd step": Rounded(Fraction(7, 10**7), Laplace("0.3")),
    # At tails of 2⁻²⁰ its points are so few words wide that these make up most of the doubt.
    "fairly wide": Rounded(FINE, Laplace(16)),
    "wide gaussian": Rounded(FINE, Gaussian(3000)),
    "wide laplace": Rounded(FINE, Laplace(30000)),
}


# ------------------------------------------------------------------- what mpmath says


@lru_cache(maxsize=1 << 16)
def beyond(noise: Smooth, size: Fraction) -> mpmath.mpf:
    """P(X > size), to 80 digits and a few more."""
    with mpmath.workdps(DIGITS + 20):
        x = mpmath.mpf(size.numerator) / size.denominator
        if isinstance(noise, Gaussian):
            return mpmath.erfc(x / _number(noise.sigma) / mpmath.sqrt(2)) / 2
        if isinstance(noise, Laplace):
            return mpmath.exp(-x / _number(noise.scale)) / 2
        assert isinstance(noise, TruncatedLaplace)
        if size >= noise.radius:
            return mpmath.mpf(0)
        cut = mpmath.exp(-_number(noise.radius) / _number(noise.scale))
        return (mpmath.exp(-x / _number(noise.scale)) - cut) / (2 * (1 - cut))


def _number(exact: Fraction) -> mpmath.mpf:
    return mpmath.mpf(exact.numerator) / exact.denominator


def edge(distribution: Rounded, index: int) -> mpmath.mpf:
    """P(X > (index + 1/2)·step): the tail at which ``index`` begins, coming from 0."""
    return beyond(distribution.noise, (index + Fraction(1, 2)) * distribution.step)


def probability(distribution: Rounded, index: int) -> mpmath.mpf:
    inner = edge(distribution, abs(index) - 1) if index else 1 - edge(distribution, 0)
    return inner - edge(distribution, abs(index))


def size_at(distribution: Rounded, tail: mpmath.mpf) -> int:
    """The smallest j ≥ 0 whose edge is at most ``tail``: from a guess, farther, then halving."""
    low = high = max(0, int(guess(distribution.noise, float(tail)) / float(distribution.step)))
    stride = 1
    while edge(distribution, high) > tail:
        high, stride = high + stride, 2 * stride
    stride = 1
    while low >= 0 and edge(distribution, low) <= tail:
        low, stride = max(-1, low - stride), 2 * stride
    while high - low > 1:
        middle = (low + high) // 2
        if edge(distribution, middle) <= tail:
            high = middle
        else:
            low = middle
    return high


def guess(noise: Smooth, tail: float) -> float:
    """About the size with that tail."""
    if isinstance(noise, Gaussian):
        return float(stats.norm.isf(tail)) * float(noise.sigma)
    if isinstance(noise, Laplace):
        return -math.log(2 * tail) * float(noise.scale)
    assert isinstance(noise, TruncatedLaplace)
    cut = math.exp(-float(noise.radius / noise.scale))
    return -math.log(cut + 2 * (1 - cut) * tail) * float(noise.scale)


def expected(distribution: Rounded, word: int, bits: int) -> int | None:
    """The index that all of [word, word + 1)/2^bits picks out, if there is only one."""
    positive = word >> (bits - 1)
    count = (1 << bits) - 1 - word if positive else word
    if not count and not isinstance(distribution.noise, TruncatedLaplace):
        return None
    with mpmath.workdps(DIGITS):
        sizes = {size_at(distribution, mpmath.mpf(c) / (1 << bits)) for c in (count, count + 1)}
    return (sizes.pop() if positive else -sizes.pop()) if len(sizes) == 1 else None


def oracle(distribution: Rounded, words: list[int], more: Iterator[int]) -> list[int]:
    """Inversion by its definition; further words are taken from ``more``, in order."""
    found = []
    for word in words:
        bits = 64
        while (index := expected(distribution, word, bits)) is None:
            word, bits = (word << 64) | next(more), bits + 64  # noqa: PLW2901 -- it grows
        found.append(index)
    return found


def spare(count: int) -> list[int]:
    return [random.Random(9).getrandbits(64) for _ in range(count)]


# ------------------------------------------------------------------- one by one


@pytest.mark.parametrize("name", COARSE)
@pytest.mark.parametrize("bits", range(1, 10))
def test_every_word_of_every_length_is_decided_iff_it_can_be(name: str, bits: int) -> None:
    for word in range(1 << bits):
        certain = COARSE[name].scheme.index_if_certain(word, bits)
        assert certain == expected(COARSE[name], word, bits)


@pytest.mark.parametrize("name", COARSE)
def test_every_tape_enumerated_gives_the_claimed_law(name: str) -> None:
    """Twelve bits deep: what is undecided by then is squeezed between the edges."""
    distribution, bits = COARSE[name], 12
    found = Counter(distribution.scheme.index_if_certain(word, bits) for word in range(1 << bits))
    undecided = found.pop(None, 0)
    assert undecided <= 2 * len(found) + 2
    sizes = [abs(index) for index in found if index is not None]
    assert Counter(sizes) == {0: 1, **dict.fromkeys(range(1, max(sizes) + 1), 2)}
    for index, words in found.items():
        assert words <= probability(distribution, index or 0) * (1 << bits) <= words + 2


@pytest.mark.parametrize("name", ["gaussian", "laplace", "cut off"])
def test_an_undecided_word_reads_on_until_it_is_decided(name: str) -> None:
    """The words of an edge itself stay undecided; one that differs tells the sides apart."""
    distribution = COARSE[name]
    with mpmath.workdps(DIGITS):
        digits = int(edge(distribution, 0) * (1 << 256))
    *same, last = [(digits >> shift) % END for shift in (192, 128, 64, 0)]
    for other in (last - END // 8, last + END // 8):
        tape = Replay([*same, other % END])
        assert distribution.scheme.draw(tape) == (0 if other % END > last else -1)
        assert tape.read == 32
        # Its mirror image: every bit flipped.
        mirrored = Replay([END - 1 - word for word in (*same, other % END)])
        assert distribution.scheme.draw(mirrored) == (0 if other % END > last else 1)
    with pytest.raises(AssertionError, match="the tape has run out"):
        distribution.scheme.draw(Replay(same))


def test_noise_within_a_cell_is_always_0_and_reads_one_word() -> None:
    distribution = COARSE["cut off within a cell"]
    assert [distribution.scheme.draw(Replay([word])) for word in (0, 1, END // 2, END - 1)] == [
        0,
        0,
        0,
        0,
    ]


@pytest.mark.parametrize("scale", ["1e-300", 1, "1e300"])
@pytest.mark.parametrize("first", [[END // 7], [0], [0] * 40, [0] * 1560], ids=len)
def test_tails_of_any_depth_and_scales_of_any_size(scale: str | int, first: list[int]) -> None:
    """The index is where tails enclosed on their own say it is, down to about 2^−100000."""
    for noise in (Laplace(scale), Gaussian(scale)):
        distribution, tape = Rounded(FINE, noise), Replay([*first, *spare(40)])
        size = -distribution.scheme.draw(tape)
        assert size >= 0
        word, bits = 0, 8 * tape.read
        for part in [*first, *spare(40)][: tape.read // 8]:
            word = (word << 64) | part
        fine = 128 + word.bit_length()
        assert distribution.beyond(size, fine).upper * (1 << bits) <= word
        assert not size or distribution.beyond(size - 1, fine).lower * (1 << bits) >= word + 1
        # One word fewer leaves it open.
        assert bits == 64 or distribution.scheme.index_if_certain(word >> 64, bits - 64) is None


# ------------------------------------------------------------------- many at once


def adversarial(distribution: Rounded, count: int) -> list[int]:
    """Words at and around the edges of points and of buckets, at the ends, and any others."""
    dice = random.Random(5)
    counts = {0, 1, 2, 3, 1000, END // 2 - 1, END // 2 - 2, END // 2 - 1000}
    for _ in range(count):
        tail = dice.random() * 2.0 ** -dice.choice([1, 1, 2, 3, 5, 8, 13, 19, 20, 20, 20, 40])
        if dice.random() < 0.5:  # just within the first bucket of an octave, where terms are large
            tail = 2.0 ** math.floor(math.log2(tail)) * (1 + dice.random() / 1000)
        with mpmath.workdps(DIGITS):
            near = int(edge(distribution, size_at(distribution, mpmath.mpf(tail))) * END)
        counts |= {near + shift for shift in range(-3, 4)}
    for exponent in (39, 42, 43, 44, 50, 61, 62):
        bucket = (1 << exponent) + (dice.randrange(33) << exponent - 5)
        counts |= {bucket + shift for shift in (-1025, -2, -1, 0, 1, 2, 700)}
    words = [count for count in counts if 0 <= count < END // 2]
    words += [END - 1 - word for word in words[::2]]
    return dice.sample(words, len(words)) + [dice.getrandbits(64) for _ in range(count)]


def built(distribution: Rounded) -> QuantileLookup:
    """Return the table of a distribution, built."""
    polynomials = distribution.scheme.polynomials.for_samples(ENOUGH)
    assert polynomials is not None
    return quantile_lookup(polynomials)


def drawn(distribution: Rounded, size: int, tape: Tape) -> list[int]:
    """Indices in bulk, as integers; none of the floats is −0."""
    found: list[int] = []
    for block, far, _ in bulk.sample_blocks(distribution.scheme, size, tape):
        assert not np.signbit(block[block == 0]).any()
        assert not far or min(map(abs, far.values())) > distribution.scheme.reach
        assert max(abs(block)) <= distribution.scheme.reach
        found += [far.get(at, int(index)) for at, index in enumerate(block.tolist())]
    return found


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_adversarial_words_land_where_exact_inversion_puts_them(name: str) -> None:
    distribution = DISTRIBUTIONS[name]
    assert bulk.fits(distribution.scheme)
    words, more = adversarial(distribution, 30), spare(2000)
    right = oracle(distribution, words, unread := iter(more))
    built(distribution)
    tape = Replay(words + more)
    assert drawn(distribution, len(words), tape) == right
    # Not a word more was read than it took.
    assert tape.read == 8 * (len(words) + len(more) - len(list(unread)))
    assert max(map(abs, right)) <= distribution.farthest
    for word in words[::5]:
        assert (
            distribution.scheme.draw(Replay([word, *more]))
            == oracle(distribution, [word], iter(more))[0]
        )


def proposals(
    distribution: Rounded, polynomials: Polynomials, words: list[int]
) -> tuple[list[int], list[int]]:
    """The indices in bulk, and where floats left them in doubt."""
    table = QuantileLookup(polynomials)
    found, stored = np.empty(len(words)), np.array([word - END // 2 for word in words])
    near = table.propose(stored, found, np.empty(len(words)))
    for at in near.tolist():
        found[at] = draw_exactly(distribution.scheme.index_if_certain, words[at], Replay(spare(9)))
    return [int(index) for index in found], near.tolist()


@pytest.mark.parametrize("name", ["fine gaussian", "fine laplace", "wide gaussian"])
def test_without_the_doubt_the_same_words_would_catch_it(name: str) -> None:
    """The controls: floats that decide everything, and too low a degree, are wrong on them."""
    distribution = DISTRIBUTIONS[name]
    plan = plan_polynomials(distribution.scheme)
    all_words = adversarial(distribution, 30)
    sure = {
        word: index for word in all_words if (index := expected(distribution, word, 64)) is not None
    }
    words, exact = list(sure), list(sure.values())
    found, near = proposals(distribution, Polynomials(distribution.scheme, plan), words)
    assert found == exact
    assert 0 < len(near) < len(words)
    # In wide noise it is the length of a word that makes up the doubt.
    lower = replace(plan, degree=plan.degree - (3 if "wide" in name else 1))
    for wrong in (replace(plan, doubt=1e-300), lower):
        made = Polynomials(distribution.scheme, wrong)
        assert proposals(distribution, made, words)[0] != exact
        assert any(made.index(word) not in (None, right) for word, right in sure.items())


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_one_by_one_and_together_polynomials_leave_the_same_words_in_doubt(name: str) -> None:
    distribution = DISTRIBUTIONS[name]
    made, words = (
        Polynomials(distribution.scheme, plan_polynomials(distribution.scheme)),
        adversarial(distribution, 30),
    )
    found, near = proposals(distribution, made, words)
    singly = [made.index(word) for word in words]
    assert [at for at, index in enumerate(singly) if index is None] == near
    assert all(index in (None, other) for index, other in zip(singly, found, strict=True))
    assert any(index is not None for index in singly)


def test_all_first_bits_of_a_word() -> None:
    distribution = COARSE["gaussian"]
    built(distribution)
    rest = 0x5A5A_5A5A_5A5A
    words = [(top << 48) | rest for top in range(1 << 16)]
    with mpmath.workdps(DIGITS):
        ends = [int(edge(distribution, j) * END) for j in range(60)]
    # A tail above an edge, by a whole unit at least, lies nearer to 0 than it.
    exact = []
    for word in words:
        count = min(word, END - 1 - word)
        assert all(count != end for end in ends)
        size = sum(end > count for end in ends)
        exact.append(size if word >= END // 2 else -size)
    assert drawn(distribution, len(words), Replay(words)) == exact
    assert [
        draw_exactly(distribution.scheme.index_if_certain, word, Replay([])) for word in words[::64]
    ] == exact[::64]


def test_few_draws_make_no_table_and_are_the_same() -> None:
    distribution = Rounded(FINE, Gaussian("1.2345"))
    words = [random.Random(2).getrandbits(64) for _ in range(300)]
    singly = drawn(distribution, len(words), Replay(words))
    assert distribution.scheme.polynomials.for_samples(1) is None
    table = built(distribution)
    assert table is built(Rounded(FINE, Gaussian("1.2345")))
    assert drawn(distribution, len(words), Replay(words)) == singly


def test_after_many_draws_single_ones_are_the_same_by_polynomials() -> None:
    """Which draw makes them is its number's doing alone, whether arrays or single numbers came."""
    distribution = Rounded(FINE, Gaussian("1.5432"))
    words = [random.Random(3).getrandbits(64) for _ in range(100)]
    exactly = [
        draw_exactly(distribution.scheme.index_if_certain, word, Replay([])) for word in words
    ]
    for rest in ([0] * 8, spare(8)):
        polynomials = PolynomialCache(distribution.scheme)
        assert [polynomials.for_samples(1) for _ in range(1000)] == [None] * 1000
        assert polynomials.for_samples(499) is None
        assert polynomials.for_samples(1) is polynomials.for_samples(1) is not None
        assert [distribution.scheme.draw(Replay([word, *rest])) for word in words] == exactly
        built(distribution)  # from now on, by polynomials


@pytest.mark.parametrize("name", ["fine gaussian", "fine laplace", "fine cut off", "gaussian"])
def test_hardly_any_word_is_settled_one_by_one(name: str) -> None:
    distribution = DISTRIBUTIONS[name]
    table, size = built(distribution), 200_000
    dice = np.random.default_rng(3)
    words = dice.integers(-END // 2, END // 2, size, dtype=np.int64)
    assert len(table.propose(words, np.empty(size), np.empty(size))) <= 20  # expected: 3 at most


def test_noise_too_wide_for_floats_is_left_to_the_exact_route() -> None:
    assert not bulk.fits(Rounded(FINE, Gaussian(10**9)).scheme)
    assert not bulk.fits(Rounded(Fraction(1), Laplace(10**300)).scheme)
    assert not bulk.fits(Rounded(FINE, TruncatedLaplace(10**9, 10**9)).scheme)
    assert Rounded(Fraction(1), Laplace(10**300)).scheme.polynomials.for_samples(10**9) is None
    # Cut off where nobody sees it.
    assert bulk.fits(Rounded(FINE, TruncatedLaplace(1, 10**5)).scheme)


@pytest.mark.parametrize("size", [4, ENOUGH])
def test_arrays_leave_as_their_lattice_points_plus_what_one_by_one_gives(size: int) -> None:
    """Floats and integers, with and without a table, and a draw that lies beyond the others."""
    words = [0, END - 1, END // 2, END // 2 - 1]
    words += [random.Random(6).getrandbits(64) for _ in range(size - 4)]
    fine, whole = Rounded(FINE, Laplace("1.23")), Rounded(Fraction(1), Laplace("1.23"))
    for distribution in (fine, whole):
        integer = distribution is whole
        values = np.arange(size) if integer else np.arange(size) / 7
        # The far ones are at the very ends; each of them reads the words that follow the block.
        singly = oracle(distribution, words, iter(more := [5, END - 6, *spare(9)]))
        assert max(singly) > distribution.scheme.reach > max(singly[2:])
        grid = Grid(distribution.step)
        found = released(values, grid, distribution, partial(Replay, words + more), integer=integer)
        moved = [
            grid.index(*value.as_integer_ratio()) + index
            for value, index in zip(values.tolist(), singly, strict=True)
        ]
        assert found.tolist() == [grid.nearest_float(index) for index in moved]
        assert found.dtype == (np.int64 if integer else np.float64)


# ------------------------------------------------------------------ the distribution that comes out


def cells_fit(
    distribution: Rounded, indices: "np.ndarray[tuple[int], np.dtype[np.float64]]"
) -> bool:
    """Whether the count of each point near 0 lies in its Clopper–Pearson interval."""
    found, points = Counter(indices.tolist()), range(-6, 7)
    limits = {j: clopper_pearson(found[j], len(indices), FALSE_ALARM / 13) for j in points}
    return all(low <= probability(distribution, j) <= high for j, (low, high) in limits.items())


@pytest.mark.parametrize("name", ["gaussian", "laplace", "cut off"])
def test_a_million_draws_follow_the_law(name: str) -> None:
    """False alarms at most 1e-9 a distribution."""
    distribution, size = COARSE[name], 1_000_000
    built(distribution)
    blocks = bulk.sample_blocks(distribution.scheme, size, CipherTape())
    indices = np.concatenate([block.copy() for block, _, _ in blocks])
    assert len(indices) == size
    assert cells_fit(distribution, indices)
    # The controls: noise a little wider, and an edge of cells a little off.
    dice = np.random.default_rng(4)
    if name == "gaussian":
        assert not cells_fit(distribution, np.floor(dice.normal(scale=0.7 * 1.01, size=size) + 0.5))
        assert not cells_fit(distribution, np.floor(dice.normal(scale=0.7, size=size) + 0.51))
