"""A certificate proves what it says, and a false one is refused."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import leastnoise as ln
from leastnoise.certificate import SupportingLine
from leastnoise.costs.cost import Cost
from leastnoise.errors import InvalidParameter, NotPrivate

COSTS = [ln.l1, ln.l2, ln.lp("1/2"), ln.piecewise_linear([(0, 1), (1, 2), (40, 9)])]
TINY = Fraction(1, 10**12)
# Whole thousandths: Hypothesis would rather try small denominators, and miss the large δ.
deltas = st.integers(1, 999).map(lambda n: Fraction(n, 1000))


def made(cost: Cost, delta: Fraction, integer: bool) -> ln.Certificate:
    """The certificate of a mechanism at sensitivity 2."""
    return ln.calibrate(
        ln.Privacy(delta=delta), sensitivity=2, cost=cost, integer=integer
    ).certificate


@given(st.sampled_from(COSTS), deltas, st.booleans())
def test_a_certificate_passes_its_own_check(cost: Cost, delta: Fraction, integer: bool) -> None:
    certificate = made(cost, delta, integer)
    certificate.verify()
    assert 0 <= certificate.gap < Fraction(1, 10**6)


@given(st.sampled_from(COSTS), deltas, st.booleans())
def test_a_promise_smaller_by_a_trillionth_is_refused(
    cost: Cost, delta: Fraction, integer: bool
) -> None:
    certificate = made(cost, delta, integer)
    with pytest.raises(NotPrivate, match=r"a shift of 2 needs δ = "):
        replace(certificate, privacy=ln.Privacy(delta=delta - TINY)).verify()


@given(st.sampled_from(COSTS), deltas, st.booleans())
def test_a_cost_or_bound_off_by_a_trillionth_is_refused(
    cost: Cost, delta: Fraction, integer: bool
) -> None:
    certificate = made(cost, delta, integer)
    with pytest.raises(InvalidParameter, match="the noise does not have the stated cost"):
        replace(certificate, cost=certificate.cost - TINY).verify()
    with pytest.raises(InvalidParameter, match="the evidence proves a different lower bound"):
        replace(certificate, lower_bound=certificate.lower_bound + TINY).verify()


@given(
    st.sampled_from(COSTS),
    deltas,
    st.booleans(),
    st.fractions(min_value=-3, max_value=3, max_denominator=100),
    st.fractions(min_value=-3, max_value=3, max_denominator=100),
    st.integers(-2, 2),
)
def test_no_supporting_line_that_passes_proves_too_much(
    cost: Cost, delta: Fraction, integer: bool, slope: Fraction, height: Fraction, moved: int
) -> None:
    """Whatever line is offered: if it passes, its bound is at most the cost of a private noise."""
    certificate = made(cost, delta, integer)
    line = certificate.evidence
    assert isinstance(line, SupportingLine)
    offered = SupportingLine(
        slope=line.slope + slope,
        intercept=line.intercept + height,
        low=line.low + moved,
        high=line.high + moved,
        integer=line.integer,
    )
    try:
        bound = offered.prove(cost, certificate.privacy, certificate.sensitivity)
    except InvalidParameter as refusal:
        assert "not valid" in str(refusal)  # noqa: PT017 -- either outcome is tested
    else:
        assert bound <= certificate.cost


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (SupportingLine(Fraction(-1), Fraction(0), Fraction(1), Fraction(1)), "out of order"),
        (
            SupportingLine(Fraction(1), Fraction(2), Fraction(2), Fraction(2)),
            "above the point mass",
        ),
        (SupportingLine(Fraction(3), Fraction(2), Fraction(1), Fraction(1)), "does not cross"),
        (SupportingLine(Fraction(5), Fraction(5), Fraction(5), Fraction(5)), "cuts"),
    ],
)
def test_each_comparison_can_fail(line: SupportingLine, reason: str) -> None:
    """For L = |x|, Δ = 4 the line β = λ = 4 at w = 4 supports; each of these is wrong."""
    four = Fraction(4)
    guarantee = ln.Privacy(delta="1/2")
    assert SupportingLine(four, four, four, four).prove(ln.l1, guarantee, four) == 2
    with pytest.raises(InvalidParameter, match=reason):
        line.prove(ln.l1, guarantee, four)


def test_a_supporting_line_proves_nothing_beyond_epsilon_0() -> None:
    four = Fraction(4)
    with pytest.raises(InvalidParameter, match="is for ε = 0"):
        SupportingLine(four, four, four, four).prove(ln.l1, ln.Privacy(1, "1/2"), four)


def test_printing_says_among_what_it_is_least() -> None:
    certificate = made(ln.l1, Fraction(1, 10), integer=False)
    assert str(certificate).startswith("optimal among symmetric unimodal noise")
