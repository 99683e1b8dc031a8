"""Plans that are sized to a share of an allocation or of a limit, and what they would save."""

import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import leastnoise as ln
from leastnoise.errors import BudgetExceeded, InvalidParameter
from leastnoise.ledger import AllocatedPrivacy
from leastnoise.planning import Plan

LIMIT = ln.Privacy(1, "1e-6")


@pytest.fixture
def survey(tmp_path: Path) -> Iterator[ln.Ledger]:
    with ln.Ledger(tmp_path / "a.ledger", limit=LIMIT) as ledger:
        yield ledger.allocate("survey", ln.Privacy("0.8", "9e-7"))


def counts(number: int, **facts: Any) -> list[ln.NumericQuery]:
    return [
        ln.NumericQuery(f"count {i}", sensitivity=1, integer=True, **facts) for i in range(number)
    ]


def squares(plan: Plan) -> Fraction:
    """Return Σ(d/σ)² from the noise that is sampled, d being the shift of lattice points."""
    total = Fraction(0)
    for mechanism in plan.mechanisms.values():
        noise: Any = mechanism.discretized.noise
        total += (mechanism.effective_sensitivity / noise.noise.sigma) ** 2
    return total


def cap(allocation: Any) -> Fraction:
    return Fraction(allocation.caps.square)


def remaining(allocation: ln.Ledger) -> AllocatedPrivacy:
    assert isinstance(allocation.remaining, AllocatedPrivacy)
    return allocation.remaining


def test_ten_tenths_fill_an_allocation_exactly(survey: ln.Ledger) -> None:
    plan = ln.plan(queries=counts(30), ledger=survey, share="1/10")
    plan.verify()
    assert cap(survey) / 10 * Fraction("0.9999999") < squares(plan) <= cap(survey) / 10
    values = {query.name: 7 for query in plan.queries}
    for number in range(9):
        plan.release(values, ledger=survey, key=f"{number}")
        assert remaining(survey).cost.square == cap(survey) * (9 - number) / 10
    last = ln.plan(remaining(survey), counts(30), ledger=survey)
    assert squares(last) == squares(plan)
    assert last.accounting is not None
    assert "costs 10% of the allocation" in last.accounting
    last.release(values, ledger=survey, key="last")
    assert remaining(survey).cost.square == 0
    assert remaining(survey).cost.failure == survey.limit.delta / 10  # Gaussian noise has no γ
    before = survey.head
    with pytest.raises(BudgetExceeded, match=r"this release needs 10% of μ²"):
        plan.release(values, ledger=survey, key="one more")
    with pytest.raises(InvalidParameter, match="Nothing remains of the allocation"):
        ln.plan(remaining(survey), counts(2))
    assert survey.head == before
    survey.verify()


def test_a_share_is_divided_so_that_the_weighted_cost_is_least(survey: ln.Ledger) -> None:
    """Σ wᵢΔᵢ√(2/π)/(μ√xᵢ) is least at xᵢ ∝ (wᵢΔᵢ)^(2/3): then it is (Σ(wᵢΔᵢ)^(2/3))^(3/2)·…"""
    parts = [(1, 1), (50, 1), (3, 8), (400, 2)]
    queries = [
        ln.NumericQuery(f"{i}", sensitivity=delta, weight=weight)
        for i, (delta, weight) in enumerate(parts)
    ]
    plan = ln.plan(queries=queries, ledger=survey, share="1/5")
    total = sum((delta * weight) ** (2 / 3) for delta, weight in parts) ** 1.5
    least = total * math.sqrt(2 / math.pi) / math.sqrt(cap(survey) / 5)
    assert float(plan.cost) == pytest.approx(least, rel=1e-4)
    assert cap(survey) / 5 * Fraction("0.9999999") < squares(plan) <= cap(survey) / 5


def test_the_stated_guarantee_is_that_of_the_part(survey: ln.Ledger) -> None:
    plan = ln.plan(queries=counts(12), ledger=survey, share="1/4")
    assert plan.total.delta <= survey.limit.delta
    noise = squares(plan)
    tail = [math.erfc(x / math.sqrt(2)) / 2 for x in _places(noise, plan.total.epsilon)]
    reached = tail[0] - math.exp(plan.total.epsilon) * tail[1]
    assert reached == pytest.approx(float(plan.total.delta), rel=1e-6)


def _places(square: Fraction, epsilon: Fraction) -> tuple[float, float]:
    mu = math.sqrt(square)
    return float(epsilon) / mu - mu / 2, float(epsilon) / mu + mu / 2


def test_targets_in_an_allocation_are_met_or_a_share_is_suggested(survey: ln.Ledger) -> None:
    with pytest.raises(InvalidParameter, match=r"A share of 0\.\d+ suffices") as caught:
        ln.plan(queries=counts(3, error=20), ledger=survey, share="1/10")
    share = str(caught.value).partition("A share of ")[2].partition(" ")[0]
    plan = ln.plan(queries=counts(3, error=20), ledger=survey, share=share)
    assert all(width <= 20 for width in plan.rows[0].half_widths)
    with pytest.raises(InvalidParameter, match=r"got ± 1 for count 0.*\. Errors of ±") as caught:
        ln.plan(queries=counts(3, error=1), ledger=survey, share=1)
    assert "A share" not in str(caught.value)
    with pytest.raises(InvalidParameter, match="in an allocation, Gaussian accounting applies"):
        ln.plan(queries=counts(2, family="laplace"), ledger=survey, share="1/10")


def test_a_share_of_a_plain_limit_is_a_guarantee(tmp_path: Path) -> None:
    with ln.Ledger(tmp_path / "a.ledger", limit=LIMIT) as ledger:
        plan = ln.plan(queries=counts(30), ledger=ledger, share="1/10", solve=False)
        assert plan.privacy == ln.Privacy("0.1", "1e-7")
        plan.release({query.name: 1 for query in plan.queries}, ledger=ledger, key="a")
        assert ledger.spent == plan.total


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({}, r"Exactly one of privacy and share= must be given, got none"),
        ({"privacy": LIMIT, "share": "1/10"}, r"Exactly one of .* got both"),
        ({"share": "1/10"}, r"share needs a ledger"),
        ({"privacy": "much"}, r"privacy must be a Privacy, got 'much'"),
    ],
)
def test_arguments_that_exclude_each_other(options: dict[str, Any], match: str) -> None:
    with pytest.raises(InvalidParameter, match=match):
        ln.plan(queries=counts(2), **options)


@pytest.mark.parametrize("share", [0, "-1/10", "11/10", "half"])
def test_a_share_is_a_part(survey: ln.Ledger, share: Any) -> None:
    with pytest.raises(InvalidParameter, match="share must be"):
        ln.plan(queries=counts(2), ledger=survey, share=share)


def widths(text: str) -> list[int]:
    """Return the 95% errors in a sentence: with Gaussian accounting, and with basic."""
    return [int(word) for word in text.rstrip(".").split() if word.isdigit()][-2:]


def test_the_saving_is_stated_with_both_errors(tmp_path: Path) -> None:
    """The errors are those of plans that are made for the two kinds of accounting."""
    with ln.Ledger(tmp_path / "a.ledger", limit=LIMIT) as ledger:
        amount = ln.Privacy("0.1", "1e-7")
        plan = ln.plan(amount, counts(30, family="gaussian"), solve=False, ledger=ledger)
        text = plan.accounting
        joint = ln.plan(amount, counts(30), solve=False, ledger=ledger)
    with ln.Ledger(tmp_path / "b.ledger", limit=LIMIT, accounting="gaussian") as gaussian:
        other = ln.plan(queries=counts(30), ledger=gaussian, share="1/10")
    assert text is not None
    assert "costs 10% of ε = 1, δ = 1e-6; with Gaussian accounting, 1.0" in text
    assert "For 10% of the limit, shared Gaussian noise with Gaussian accounting makes" in text
    assert "the total cost 67% lower: a 95% error" in text
    assert 1 - other.cost / plan.cost == pytest.approx(0.67, abs=0.01)
    assert widths(text) == [other.rows[0].half_widths[0], plan.rows[0].half_widths[0]]
    assert joint.accounting is not None
    assert joint.rows[0].how == "joint"
    assert "costs 10% of ε = 1, δ = 1e-6. For 10% of the limit, shared" in joint.accounting
    less = math.floor(100 * (1 - other.cost / joint.cost))
    assert f"makes the total cost {less}% lower" in joint.accounting
    assert widths(joint.accounting) == [
        other.rows[0].half_widths[0],
        joint.rows[0].half_widths[0],
    ]
    assert " ".join(text.split()) in " ".join(str(plan).split())


def test_a_plan_beyond_the_limit_is_compared_within_it(tmp_path: Path) -> None:
    with ln.Ledger(tmp_path / "a.ledger", limit=LIMIT) as ledger:
        plan = ln.plan(ln.Privacy(10, "1e-6"), counts(3), solve=False, ledger=ledger)
        within = ln.plan(LIMIT, counts(3), solve=False)
    assert plan.accounting is not None
    assert "costs 1000% of" in plan.accounting
    assert "For 100% of the limit, shared Gaussian noise" in plan.accounting
    assert "Gaussian accounting saves nothing: a 95% error" in plan.accounting
    assert widths(plan.accounting)[1] == within.rows[0].half_widths[0]
