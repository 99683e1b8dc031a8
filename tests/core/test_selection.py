"""Selections: coins land with exactly their probability, and the choice is permute-and-flip."""

import pickle
from collections import Counter
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import leastnoise as ln
from leastnoise.core.arrays.selection import choose, flip, probabilities
from leastnoise.core.exact import decay, exponential
from leastnoise.core.sampling.coins import DOUBT, Coins
from leastnoise.core.selection import Selector
from leastnoise.errors import InvalidParameter
from tests.support.confidence_intervals import FALSE_ALARM
from tests.support.selection_laws import by_permutations, by_quadrature, by_subsets
from tests.support.tapes import Replay

END = 1 << 64
RATES = [Fraction(1, 2), Fraction(7, 3), Fraction(1, 1000), Fraction(60), Fraction(1, 10**15)]
SETTINGS = settings(max_examples=80, deadline=None)


def truth(rate: Fraction, n: int) -> mpmath.mpf:
    """Return e^(−rate·n) to 200 binary digits, by another library."""
    with mpmath.workprec(200):
        return mpmath.exp(-mpmath.mpf(rate.numerator) * n / rate.denominator)


def errors(*numbers: int) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    return np.array(numbers, dtype=np.int64)


# ------------------------------------------------------------------- coins


@pytest.mark.parametrize("rate", [Fraction(1, 2), Fraction(7, 3), Fraction(60)], ids=str)
@pytest.mark.parametrize("bits", range(1, 9))
def test_a_coin_is_settled_by_so_many_bits_iff_it_can_be(rate: Fraction, bits: int) -> None:
    coins = Coins(rate)
    for n, word in product(range(6), range(1 << bits)):
        with mpmath.workprec(200):
            edge = truth(rate, n) * 2**bits
            wanted = 1 if word + 1 <= edge else 0 if word >= edge else None
        assert coins.lands_if_certain(n, word, bits) == wanted


def test_a_coin_in_doubt_reads_on_until_it_is_settled() -> None:
    coins, n = Coins(Fraction(1, 2)), 3
    edge = decay(Fraction(3, 2), 300).lower * END**2
    first, second = divmod(int(edge), END)
    for below, lands in ((second - 1, True), (second + 1, False)):
        tape = Replay([below])
        assert coins.lands(n, first, tape) is lands
        assert tape.read == 8
    settled = Replay([])
    assert coins.lands(n, first - 1, settled)
    assert not coins.lands(n, first + 1, settled)


def test_a_coin_that_hardly_ever_lands_is_settled_without_computing_how_rarely() -> None:
    coins = Coins(Fraction(1))
    assert not coins.lands(10**30, 1, Replay([]))
    assert not coins.lands(10**30, 0, Replay([0, 0, 5]))


@given(st.sampled_from(RATES), st.floats(0, 1.1))
@SETTINGS
def test_floats_are_as_near_as_the_settling_of_coins_relies_on(rate: Fraction, at: float) -> None:
    coins = Coins(rate)
    n = min(int(at * coins.last), coins.last)
    (found,) = probabilities(errors(n), coins).tolist()
    assert abs(mpmath.mpf(found) - truth(rate, n)) < DOUBT / 2
    assert 40 <= rate * coins.last < 40 + rate


@given(st.sampled_from(RATES), st.floats(0, 1), st.integers(-3, 3))
@SETTINGS
def test_many_coins_land_where_one_by_one_they_do(rate: Fraction, at: float, beside: int) -> None:
    """Words beside every edge that floats could mistake, and far from it."""
    coins = Coins(rate)
    n = int(at * coins.last)
    near = int(truth(rate, n) * END)
    words = [near + beside + far for far in (0, -(1 << 10), 1 << 10, -(1 << 20), 1 << 20)]
    words = [min(max(word, 0), END - 1) for word in [*words, 0, END - 1]]
    further = [END // 3] * len(words)
    together = flip(errors(*[n] * len(words)), coins, Replay(words + further))
    alone = [coins.lands(n, word, Replay(further)) for word in words]
    assert together.tolist() == alone


def test_the_best_candidate_lands_whatever_its_word() -> None:
    coins = Coins(Fraction(3))
    for word in (0, 1, END // 2, END - 1):
        assert flip(errors(0), coins, Replay([word])).tolist() == [True]


# ------------------------------------------------------------------- the choice


@given(st.lists(st.fractions(0, 1, max_denominator=20), min_size=0, max_size=4))
@settings(max_examples=40, deadline=None)
def test_a_uniform_choice_of_what_lands_is_permute_and_flip(others: list[Fraction]) -> None:
    chances = [Fraction(1), *others]
    distribution = by_subsets(chances)
    assert distribution == by_permutations(chances)
    assert sum(distribution) == 1
    assert np.allclose(
        by_quadrature(np.array(chances, dtype=float)), np.array(distribution, dtype=float)
    )


def test_every_outcome_of_the_coins_chooses_each_that_landed_equally_often() -> None:
    """All 8 outcomes of three coins beside the best one; a word for each of those that landed."""
    coins, ranks = Coins(Fraction(1, 2)), (2, 0, 1, 3)
    for landed in product((False, True), repeat=3):
        a, c, d = landed
        flips = [a, True, c, d]
        words = [0 if lands else END - 1 for lands in flips]
        wanted = [place for place, lands in enumerate(flips) if lands]
        found = [
            choose(errors(*ranks), coins, Replay([*words, (2 * i + 1) * END // (2 * len(wanted))]))
            for i in range(len(wanted))
        ]
        assert found == wanted


@pytest.mark.parametrize("given_as", [list, np.array], ids=["list", "array"])
def test_the_sampled_law_is_the_exact_one(given_as: type) -> None:
    """Chi-squared, with a false alarm in 1e9; the control is a distribution at another ε."""
    ranks, times = [3, 1, 0, 0, 2, 5, 40], 20_000
    selector = Selector(ln.Privacy(2), 3)
    chances = [decay(Fraction(rank, 3)).lower for rank in ranks]
    seen = Counter(selector.choose(given_as([7 + rank for rank in ranks])) for _ in range(times))
    observed = [seen[place] for place in range(6)]
    wanted = [float(p) for p in by_subsets(chances)[:6]]
    scale = sum(observed) / sum(wanted)
    assert times - sum(observed) < 20  # the last is chosen about once in a million times
    assert stats.chisquare(observed, [p * scale for p in wanted]).pvalue > FALSE_ALARM
    other = [float(p) for p in by_subsets([chance**2 for chance in chances])[:6]]
    assert stats.chisquare(observed, [p / sum(other) * sum(observed) for p in other]).pvalue < 1e-9


def test_errors_of_any_size_are_taken_exactly() -> None:
    selector = Selector(ln.Privacy(1), 1)
    huge = 10**30
    assert selector.choose([huge + 10**6, huge, huge + 10**6]) == 1
    assert selector.choose([2**63 - 1, 0]) == 1
    assert selector.choose([2**64 - 1, 2**63, 2**64]) == 1
    assert {selector.choose([5]) for _ in range(9)} == {0}


@pytest.mark.parametrize("far", [41, 44, 100, 10**30])
def test_coins_of_the_worst_candidates_land_as_rarely_as_they_should(
    far: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """U = e^−40.5 is below e^−40 and above e^−far: no probability is taken for a larger one.

    Stated errors rely on it at every confidence (PermuteAndFlip.error_bound).
    """
    word = int(truth(Fraction(81, 2), 1) * END)
    selector = Selector(ln.Privacy(2), 1)
    for beyond, chosen in ((40, 1), (far, 0)):
        # One word for each coin, and one that chooses the last of those that landed.
        monkeypatch.setattr("leastnoise.core.selection.SYSTEM", Replay([END // 2, word, END - 1]))
        assert selector.choose([7, 7 + beyond]) == chosen


# ------------------------------------------------------------------- the guarantee


def exact_law(ranks: tuple[int, ...], rate: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Enclose the probability of each candidate, by the published mechanism."""
    least = min(ranks)
    chances = [decay(rate * (rank - least), 200) for rank in ranks]
    distribution = by_subsets([chance.lower for chance in chances])
    # Of at most four coins, each within 2⁻²⁰⁰ of its own, no outcome is further off than this.
    off = Fraction(1, 1 << 190)
    return [(max(p - off, Fraction(0)), p + off) for p in distribution]


@pytest.mark.parametrize("epsilon", [Fraction(1, 5), Fraction(1), Fraction(3)], ids=str)
@pytest.mark.parametrize("size", [2, 3])
def test_neighboring_errors_change_no_probability_by_more_than_the_guarantee(
    epsilon: Fraction, size: int
) -> None:
    """All errors up to 3, and all that are within Δ = 1 or 2 of them, exactly."""
    grown = exponential(epsilon, 256).lower  # it is reached, so known closely
    naive = 0
    for sensitivity in (1, 2):
        rate = Selector(ln.Privacy(epsilon), sensitivity).rate
        every = list(product(range(4), repeat=size))
        distributions = {ranks: exact_law(ranks, rate) for ranks in every}
        twice = {ranks: exact_law(ranks, 2 * rate) for ranks in every}
        for one, other in product(every, every):
            if max(abs(a - b) for a, b in zip(one, other, strict=True)) > sensitivity:
                continue
            slack = Fraction(1, 1 << 180)
            for (_, p), (q, _) in zip(distributions[one], distributions[other], strict=True):
                assert p <= grown * q + slack
            # The control: at twice the rate the guarantee would be broken.
            pairs = zip(twice[one], twice[other], strict=True)
            naive += any(p > grown * q + slack for (p, _), (_, q) in pairs)
    assert naive


def test_a_selector_needs_an_epsilon_and_a_sensitivity() -> None:
    for privacy in (ln.Privacy(delta="0.1"), ln.Privacy("1e-30")):
        with pytest.raises(InvalidParameter, match="requires ε > 0"):
            Selector(privacy, 1)
    for sensitivity in (0, -1):
        with pytest.raises(InvalidParameter, match="an integer above 0"):
            Selector(ln.Privacy(1), sensitivity)


def test_a_selector_is_proved_again_when_it_is_copied() -> None:
    selector = Selector(ln.Privacy(1), 1)
    assert pickle.loads(pickle.dumps(selector)) == selector
    build, parts = selector.__reduce__()
    with pytest.raises(InvalidParameter, match="an integer above 0"):
        build(parts[0], 0)


def test_the_work_is_the_same_for_all_errors() -> None:
    """So many words are read, whatever the errors: one for each candidate, and one to choose."""
    reads: list[int] = []

    class Counting(Replay):
        def fill(self, buffer: bytearray) -> None:
            reads.append(len(buffer) // 8)
            super().fill(buffer)

    for ranks in ([0] * 50, [0] + [10**9] * 49, list(range(50))):
        tape = Counting([END // 2 + 12345 * i for i in range(51)])
        coins = Coins(Fraction(1, 7))
        choose(errors(*ranks), coins, tape)
        assert tape.read == 51 * 8
    assert reads == [50] * 3
