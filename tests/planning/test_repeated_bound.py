"""The lower bound for several counts: against brute force, known noise and its reference table."""

import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import leastnoise as ln
from leastnoise.certificate import CanonicalBound
from leastnoise.core.exact import exponential
from leastnoise.planning import repeated_bound
from leastnoise.planning.repeated_bound import bound_of_counts

BOTH = ln.Privacy(1, "1e-6")
ONE = Fraction(1)


@pytest.mark.parametrize(
    "privacy", [BOTH, ln.Privacy(1), ln.Privacy(delta="0.1"), ln.Privacy(2, "0.05")]
)
@pytest.mark.parametrize("cost", [ln.l1, ln.l2, ln.threshold(1)])
def test_for_one_count_it_is_the_bound_of_canonical_noise(
    privacy: ln.Privacy, cost: ln.Cost
) -> None:
    known = CanonicalBound(integer=True).prove(cost, privacy, ONE)
    found = bound_of_counts(cost, privacy, 1)
    assert found <= known * (1 + Fraction(1, 10**15))
    assert float(found) == pytest.approx(float(known), rel=1e-9)


@pytest.mark.parametrize(
    ("releases", "two_sided", "found"),
    [
        (2, 1.915, 1.919),
        (3, 2.908, 2.945),
        (5, 4.691, 4.968),
        (10, 8.096, 9.538),
        (16, 10.71, 12.72),
        (32, 15.46, 18.53),
    ],
)
def test_the_reference_table(releases: int, two_sided: float, found: float) -> None:
    """A little below the bound by a test that is not proved, and below the best noise found."""
    bound = float(bound_of_counts(ln.l1, BOTH, releases))
    assert 0.95 * two_sided < bound < two_sided * 1.0001
    assert bound < found


def test_five_counts_in_l2() -> None:
    assert float(bound_of_counts(ln.l2, BOTH, 5)) == pytest.approx(39.76, abs=0.01)
    five = ln.compare(
        BOTH, sensitivity=1, integer=True, cost=ln.l2, releases=5, solve=False, shape="any"
    )
    assert five.lower_bound == bound_of_counts(ln.l2, BOTH, 5)
    assert "Lower bound" in str(five)
    assert "all of which one person can change by 1, each up or down independently" in " ".join(
        str(five).split()
    )
    other = ln.compare(BOTH, sensitivity=1, cost=ln.l2, releases=5, solve=False)
    assert other.lower_bound < 3


@st.composite
def distributions(draw: st.DrawFn) -> list[Fraction]:
    """Symmetric noise on −2 … 2, as its probabilities."""
    half = draw(st.lists(st.integers(0, 20), min_size=3, max_size=3).filter(any))
    total = 2 * half[2] + 2 * half[1] + half[0]
    return [Fraction(half[abs(x)], total) for x in range(-2, 3)]


def needed_delta(distribution: list[Fraction], releases: int, factor: Fraction) -> Fraction:
    """Return the sum of (p − factor·q)₊ over all outputs, where all counts shift by 1."""

    def probability(point: tuple[int, ...], shift: int) -> Fraction:
        parts = (x - shift + 2 for x in point)
        return math.prod((distribution[x] if 0 <= x < 5 else Fraction(0) for x in parts), start=ONE)

    return sum(
        (
            max(Fraction(0), probability(point, 0) - factor * probability(point, 1))
            for point in product(range(-2, 3), repeat=releases)
        ),
        Fraction(0),
    )


@given(distributions(), st.integers(1, 3), st.sampled_from(["0", "0.5", "2"]))
def test_no_symmetric_noise_costs_less(
    distribution: list[Fraction], releases: int, epsilon: str
) -> None:
    """Any noise satisfies its own δ, which enumeration of all outputs gives."""
    delta = needed_delta(distribution, releases, exponential(Fraction(epsilon)).lower)
    if delta >= 1 or (not delta and epsilon == "0"):
        return
    for cost, power in ((ln.l1, 1), (ln.l2, 2)):
        own = sum(
            (abs(x) ** power * p for x, p in zip(range(-2, 3), distribution, strict=True)), ONE * 0
        )
        assert bound_of_counts(cost, ln.Privacy(epsilon, delta), releases) <= own


def test_asymmetric_noise_can_cost_less_if_all_shifts_have_one_sign() -> None:
    """Proposition 2 of docs/theory/lemma-1.md: the reason for the condition that is printed."""
    assert bound_of_counts(ln.l1, ln.Privacy(2, "0.88"), 4) > Fraction("0.235")


@pytest.mark.parametrize("releases", [2, 5, 12, 100])
@pytest.mark.parametrize("privacy", [BOTH, ln.Privacy("0.3"), ln.Privacy("0.5", "0.01")])
def test_every_row_of_a_comparison_costs_at_least_it(privacy: ln.Privacy, releases: int) -> None:
    for cost in (ln.l1, ln.l2):
        rows = ln.compare(
            privacy, sensitivity=1, integer=True, cost=cost, releases=releases, solve=False
        )
        assert all(row.cost >= rows.lower_bound for row in rows)
        assert rows.lower_bound >= ln.compare(
            privacy, sensitivity=1, integer=True, cost=cost, solve=False
        ).lower_bound * (1 - Fraction(1, 10**9))


def test_more_counts_than_the_most_have_the_bound_of_the_most() -> None:
    most = repeated_bound._MOST_RELEASES
    assert bound_of_counts(ln.l1, BOTH, 10**6) == bound_of_counts(ln.l1, BOTH, most)


def test_a_wrong_proposal_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: floats that propose tails that are too long are not believed."""
    right = bound_of_counts(ln.l1, BOTH, 3)
    repeated_bound._find_tails.cache_clear()
    tests = repeated_bound._Tests
    first, further = tests._propose_first, tests._propose_next
    monkeypatch.setattr(tests, "_propose_first", lambda self, rank: 1.01 * first(self, rank))
    assert bound_of_counts(ln.l1, BOTH, 3) == 0
    monkeypatch.setattr(tests, "_propose_first", first)
    repeated_bound._find_tails.cache_clear()
    monkeypatch.setattr(tests, "_propose_next", lambda self, *at: 1.01 * further(self, *at))
    assert bound_of_counts(ln.l1, BOTH, 3) < right
    repeated_bound._find_tails.cache_clear()


@pytest.mark.parametrize(
    "privacy",
    [ln.Privacy(1000), ln.Privacy(60, "1e-9"), ln.Privacy(0, "0.999"), ln.Privacy("1e-9")],
)
def test_extreme_guarantees_have_a_bound(privacy: ln.Privacy) -> None:
    bound = bound_of_counts(ln.l1, privacy, 4)
    assert bound >= 0
    assert (
        bound
        <= ln.calibrate(
            ln.Privacy(privacy.epsilon / 4, privacy.delta / 4),
            sensitivity=1,
            integer=True,
            solve=False,
        ).cost
    )
