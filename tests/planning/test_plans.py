"""Plans: the total guarantee, the split among answers, and rejected plans."""

import itertools
import json
import math
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import norm

import leastnoise as ln
from leastnoise.core.basic_composition import compose_basic as together
from leastnoise.core.basic_composition import split_evenly, success_probability
from leastnoise.core.exact import exponential
from leastnoise.core.gaussian_cost import find_caps
from leastnoise.errors import InvalidParameter, NotPrivate, Unsupported
from leastnoise.mechanism import half_width
from leastnoise.noise import Gaussian, Rounded
from leastnoise.planning import Plan
from leastnoise.planning.estimates import split_cost
from leastnoise.planning.options import Option
from leastnoise.planning.shares import (
    TooLittle,
    apportion,
    balance,
    find_smallest,
    make_guarantees,
)

BOTH = ln.Privacy(1, "1e-6")


@cache
def quick(privacy: ln.Privacy, *wanted: ln.NumericQuery) -> Plan:
    return ln.plan(privacy, wanted, solve=False)


def counts(many: int, **more: object) -> list[ln.NumericQuery]:
    asked = {"sensitivity": 1, "integer": True, **more}
    return [ln.NumericQuery(f"count {i}", **asked) for i in range(many)]  # type: ignore[arg-type]


def sums(many: int, **more: object) -> list[ln.NumericQuery]:
    return counts(many, **{"integer": False, **more})


def row(found: Plan, how: str) -> Option:
    return next(one for one in found.rows if one.how == how)


def cost_of(found: Plan, how: str) -> Fraction:
    cost = row(found, how).cost
    assert cost is not None
    return cost


MIXED = (
    ln.NumericQuery("people", sensitivity=1, integer=True),
    ln.NumericQuery("income", sensitivity=4, weight=2),
    ln.NumericQuery("age", sensitivity="1/3", cost=ln.l2),
)
GUARANTEES = [
    ln.Privacy(1, "1e-6"),
    ln.Privacy(1),
    ln.Privacy(delta="0.1"),
    ln.Privacy("1/2", "0.05"),
    ln.Privacy("3", "0.01"),
]


# --------------------------------------------------------------- what all answers keep together


GRID = 1 << 64


def outcomes(mechanism: ln.Mechanism, reach: int) -> dict[int, int]:
    """The probabilities of a drawn distribution on integers, in parts of 2⁻⁶⁴, rounded up."""
    distribution = mechanism.discretized.noise
    return {
        i: math.ceil(distribution.weight(i) * GRID / distribution.total)
        for i in range(-reach, reach + 1)
    }


def hockey_stick(found: Plan, moves: tuple[int, ...], reach: int) -> tuple[Fraction, Fraction]:
    """P(S) − e^ε·P'(S) for the best S within a box at one move, from below; and P(box).

    By enumeration of the product distribution: no set of outputs distinguishes the two better than
    the guarantee allows.
    """
    distributions = [outcomes(made, reach + max(map(abs, moves))) for made in found._ready]
    factor = exponential(found.privacy.epsilon).upper
    inside = gained = 0
    for place in itertools.product(range(-reach, reach + 1), repeat=len(distributions)):
        here = math.prod(
            distribution[x] - 2
            for distribution, x in zip(distributions, place, strict=True)
            if distribution[x] > 2
        )
        if not all(
            distribution[x] > 2 for distribution, x in zip(distributions, place, strict=True)
        ):
            continue
        there = math.prod(
            distribution[x - d]
            for distribution, x, d in zip(distributions, place, moves, strict=True)
        )
        inside += here
        gained += max(0, here * factor.denominator - factor.numerator * there)
    whole = GRID ** len(distributions)
    return Fraction(gained, whole * factor.denominator), Fraction(inside, whole)


ENUMERATED = [
    (ln.Privacy(2, "1e-4"), counts(2, family="canonical"), 30),
    (ln.Privacy(1, "0.05"), counts(2, family="canonical"), 30),
    (ln.Privacy(1, "0.05"), [*counts(1), ln.NumericQuery("far", sensitivity=2, integer=True)], 40),
    (ln.Privacy(delta="0.3"), counts(3), 14),
    (ln.Privacy(2, "0.02"), counts(3, cost=ln.l2, family="canonical"), 14),
    (ln.Privacy(2, "0.02"), counts(2, family="gaussian"), 20),
    (ln.Privacy(1, "0.05"), counts(2, family="laplace"), 30),
]


@pytest.mark.parametrize(("privacy", "wanted", "reach"), ENUMERATED)
def test_the_product_of_what_is_drawn_keeps_the_promise(
    privacy: ln.Privacy, wanted: list[ln.NumericQuery], reach: int
) -> None:
    found = quick(privacy, *wanted)
    sizes = [int(one.sensitivity) for one in wanted]
    for signs in itertools.product((1, -1), repeat=len(sizes) - 1):
        moves = (sizes[0], *(sign * size for sign, size in zip(signs, sizes[1:], strict=True)))
        gained, inside = hockey_stick(found, moves, reach)
        assert gained <= privacy.delta
        assert inside > Fraction(999, 1000)
    # The bound is not idle: with less noise the same enumeration says no.
    narrow = replace(found, _ready=tuple(_narrower(made) for made in found._ready))
    assert hockey_stick(narrow, tuple(sizes), reach)[0] > privacy.delta


def _narrower(mechanism: ln.Mechanism) -> ln.Mechanism:
    return ln.calibrate(
        ln.Privacy(3 + 3 * mechanism.privacy.epsilon, "0.6"),
        sensitivity=mechanism.sensitivity,
        integer=True,
        solve=False,
    )


def test_split_and_shared_noise_are_among_what_is_enumerated() -> None:
    ways = {quick(privacy, *wanted).rows[0].how for privacy, wanted, _ in ENUMERATED}
    assert ways == {"split", "shared"}


@pytest.mark.parametrize("privacy", GUARANTEES)
def test_counts_and_sums_together(privacy: ln.Privacy) -> None:
    found = quick(privacy, *MIXED)
    found.verify()
    assert found.total.epsilon <= privacy.epsilon
    assert found.total.delta <= privacy.delta
    assert all(found.cost <= one.cost for one in found.rows if one.cost is not None)
    assert {one.name for one in found.rows} == {"cheapest known", "shared gaussian", "joint boxes"}
    for one in MIXED:
        made = found[one.name]
        assert (made.sensitivity, made.integer) == (one.sensitivity, one.integer)
        made.verify()
    drawn = (one.weight * found[one.name].discretized.cost for one in MIXED)
    assert found.cost == sum(drawn)


@pytest.mark.parametrize("privacy", GUARANTEES)
@pytest.mark.parametrize("family", [None, "laplace", "uniform", "staircase", "canonical"])
def test_never_dearer_than_an_even_split(privacy: ln.Privacy, family: str | None) -> None:
    def level() -> Fraction:
        return sum(
            (
                one.weight
                * ln.calibrate(
                    split_evenly(privacy, len(MIXED)),
                    sensitivity=one.sensitivity,
                    cost=one.cost or ln.l1,
                    integer=one.integer,
                    family=family,
                    solve=False,
                ).discretized.cost
                for one in MIXED
            ),
            Fraction(0),
        )

    found = quick(privacy, *MIXED)
    # A level density needs δ, falling stairs need ε: else there is nothing to satisfy the guarantee
    # by.
    missing = {"uniform": privacy.delta, "staircase": privacy.epsilon}
    if missing.get(family or "", 1):
        assert found.cost <= level()
    else:
        with pytest.raises(InvalidParameter, match="requires"):
            level()


@pytest.mark.parametrize("many", [2, 3, 7])
def test_the_lattice_keeps_what_gaussian_noises_share(many: int) -> None:
    # Real answers are drawn for a move a step longer than Δ; the noise is wider by as much.
    wanted = [
        ln.NumericQuery(f"sum {i}", sensitivity=Fraction(i + 1, 3), family="gaussian")
        for i in range(many)
    ]
    found = quick(BOTH, *wanted)
    assert found.rows[0].how == "shared"
    moved = 0.0
    for made in found._ready:
        distribution = made.discretized.noise
        assert isinstance(distribution, Rounded)
        assert isinstance(distribution.noise, Gaussian)
        assert isinstance(made.noise, Gaussian)
        assert made.effective_sensitivity > made.sensitivity
        assert (
            made.effective_sensitivity / distribution.noise.sigma
            == made.sensitivity / made.noise.sigma
        )
        moved += float(made.effective_sensitivity / distribution.noise.sigma) ** 2
    mu = math.sqrt(moved)
    reached = norm.cdf(mu / 2 - 1 / mu) - math.e * norm.cdf(-mu / 2 - 1 / mu)
    assert reached == pytest.approx(1e-6, rel=1e-6)


def test_a_plan_that_was_put_together_wrongly_is_found_out() -> None:
    found = quick(BOTH, *MIXED)
    with pytest.raises(NotPrivate, match="in total, which exceeds"):
        replace(found, privacy=ln.Privacy("0.9", "1e-6")).verify()
    with pytest.raises(InvalidParameter, match="A mechanism of this plan is for another answer"):
        replace(found, _ready=found._ready[::-1]).verify()
    with pytest.raises(InvalidParameter, match="have another total guarantee"):
        replace(found, total=ln.Privacy("1/2")).verify()
    cheaper = (replace(found.rows[0], cost=found.cost / 2), *found.rows[1:])
    with pytest.raises(InvalidParameter, match="The costs of this plan differ"):
        replace(found, rows=cheaper).verify()


def test_a_shared_plan_is_proved_from_its_noise() -> None:
    found = quick(BOTH, *counts(60))
    assert found.rows[0].how == "shared"
    with pytest.raises(NotPrivate, match="in total, which exceeds"):
        replace(found, privacy=ln.Privacy("0.99", "1e-6")).verify()
    alone = (replace(found.rows[0], how="split"), *found.rows[1:])
    with pytest.raises(NotPrivate, match="in total, which exceeds"):  # what each has adds up
        replace(found, rows=alone).verify()


# ------------------------------------------------------------------------- how it is split


@pytest.mark.parametrize(
    ("weights", "sizes"), [((1, 1), (1, 4)), ((3, 1), (1, 1)), ((1, 9), (2, 5))]
)
def test_two_laplace_answers_share_epsilon_by_roots(
    weights: tuple[int, int], sizes: tuple[int, int]
) -> None:
    # wΔ/ε each: least where ε is in the ratio of √(wΔ), by Lagrange.
    wanted = [
        ln.NumericQuery(str(i), sensitivity=sizes[i], weight=weights[i], family="laplace")
        for i in range(2)
    ]
    found = quick(ln.Privacy(1), *wanted)
    roots = [math.sqrt(w * d) for w, d in zip(weights, sizes, strict=True)]
    assert found.total == ln.Privacy(1)
    for made, root in zip(found._ready, roots, strict=True):
        assert float(made.privacy.epsilon) == pytest.approx(root / sum(roots), rel=0.01)
    assert float(found.cost) == pytest.approx(sum(roots) ** 2, rel=1e-5)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_gaussian_shares_against_a_grid(p: int) -> None:
    wanted = tuple(
        ln.NumericQuery(str(i), sensitivity=size, weight=weight, cost=ln.lp(p))
        for i, (size, weight) in enumerate([(1, 1), (5, 2), (3, 7)])
    )

    def cost(shares: tuple[float, ...]) -> float:
        pairs = zip(wanted, shares, strict=True)
        return sum(float(w.weight * w.sensitivity**p) / math.sqrt(x) ** p for w, x in pairs)

    found = quick(BOTH, *(replace_family(one) for one in wanted))
    best = shares_of(found)
    assert sum(best) == pytest.approx(1)
    assert best == pytest.approx(_closed_shares(wanted, p), rel=1e-3)
    grid = [i / 60 for i in range(1, 60)]
    lowest = min(cost((x, y, 1 - x - y)) for x in grid for y in grid if x + y < 1 - 1e-9)
    assert cost(tuple(best)) <= lowest <= 1.01 * cost(tuple(best))


def replace_family(one: ln.NumericQuery) -> ln.NumericQuery:
    return ln.NumericQuery(
        one.name, sensitivity=one.sensitivity, weight=one.weight, cost=one.cost, family="gaussian"
    )


def shares_of(found: Plan) -> list[float]:
    """The parts of Σμ² that the answers of shared noise have."""
    assert found.rows[0].how == "shared"
    squares = [made.gaussian_cost.square for made in found._ready]
    return [float(square / sum(squares)) for square in squares]


def _closed_shares(wanted: tuple[ln.NumericQuery, ...], p: int) -> list[float]:
    """By Lagrange: x in the ratio of (wΔᵖ)^(2/(p+2))."""
    parts = [float(one.weight * one.sensitivity**p) ** (2 / (p + 2)) for one in wanted]
    return [part / sum(parts) for part in parts]


def test_gaussian_shares_of_different_costs_are_near_the_best() -> None:
    wanted = (
        ln.NumericQuery("a", sensitivity=1, family="gaussian"),
        ln.NumericQuery("b", sensitivity=2, cost=ln.l2, weight="1/20", family="gaussian"),
    )
    sigma = 1 / float(find_caps(BOTH).mu)

    def cost(x: float) -> float:
        first, second = sigma / math.sqrt(x), 2 * sigma / math.sqrt(1 - x)
        return first * math.sqrt(2 / math.pi) + second**2 / 20

    found = shares_of(quick(BOTH, *wanted))
    lowest = min(cost(i / 2000) for i in range(1, 2000))
    assert cost(found[0]) <= 1.0001 * lowest
    assert cost(0.5) > 1.05 * lowest  # an even share is not


@pytest.mark.parametrize(
    "costs",
    [
        (ln.l1, ln.l2),
        (ln.lp("1/2"), ln.lp(3)),
        (ln.threshold(5), ln.l1),
        (ln.piecewise_linear([(0, 0), (3, 1), (20, 40)]), ln.l2),
    ],
)
def test_shares_of_a_split_against_a_grid(costs: tuple[ln.Cost, ln.Cost]) -> None:
    wanted = [
        ln.NumericQuery(str(i), sensitivity=1 + 2 * i, cost=cost, weight=1 + 3 * i)
        for i, cost in enumerate(costs)
    ]

    def total(x: float) -> float:
        shares = zip(wanted, (x, 1 - x), strict=True)
        return sum(split_cost(one, share, 1e-6 * share) for one, share in shares)

    curves = [lambda x, one=one: split_cost(one, x, 1e-6 * x) for one in wanted]
    best = balance(curves, [1e-4, 1e-4])
    lowest = min(total(i / 500) for i in range(1, 500))
    assert sum(best) == pytest.approx(1)
    assert total(best[0]) <= 1.001 * lowest < total(0.5)


def test_no_share_is_below_what_its_target_needs() -> None:
    best = balance([lambda x: 1 / x, lambda x: 4 / x, lambda x: 0.0], [0.4, 0.0, 0.1])
    assert best == pytest.approx([0.4, 0.5, 0.1])  # without them 1/3, 2/3 and 0


def test_a_split_is_exact() -> None:
    parts = make_guarantees(ln.Privacy("1/3", "0.3"), [0.1, 0.2, 0.7], [0.5, 0.25, 0.25])
    assert sum(part.epsilon for part in parts) == Fraction(1, 3)
    assert success_probability(part.delta for part in parts) >= Fraction(7, 10)
    assert together(parts).delta >= Fraction(3, 10) * (1 - Fraction(1, 10**5))
    assert apportion(Fraction(1), [1.0, 1.0, 1.0]) == (Fraction(1, 3),) * 3
    assert together(parts, Fraction(3, 10)).delta <= Fraction(3, 10)
    tiny = make_guarantees(ln.Privacy(0, Fraction(1, 10**400)), [0, 0], [0.3, 0.7])
    assert 0 < 1 - success_probability(part.delta for part in tiny) <= Fraction(1, 10**400)


@pytest.mark.parametrize("privacy", [ln.Privacy(1, "1e-400"), ln.Privacy(0, "1e-200")])
def test_promises_beyond_floats(privacy: ln.Privacy) -> None:
    wanted = (ln.NumericQuery("a", sensitivity=1), ln.NumericQuery("b", sensitivity="1e300"))
    quick(privacy, *wanted).verify()


def test_a_search_stays_on_its_side() -> None:
    assert 3 <= find_smallest(lambda x: x >= 3, 1.0) <= 3.01
    assert 3 <= find_smallest(lambda x: x >= 3, 20.0) <= 3.01
    with pytest.raises(TooLittle, match="below the error of its noise"):
        find_smallest(lambda x: False, 1.0)


# ---------------------------------------------------- least for one is not least for many


def test_at_epsilon_0_two_answers_want_gaussian_noise() -> None:
    # σ = 1/(δ√π) as δ → 0, so E|X| = √2/(πδ) each; a uniform noise for δ/2 costs 1/(2δ).
    delta = Fraction(1, 10**5)
    found = quick(ln.Privacy(delta=delta), *sums(2))
    shared, level = row(found, "shared"), row(found, "split")
    assert found.family == "gaussian"
    assert float(shared.costs[0] * delta) == pytest.approx(math.sqrt(2) / math.pi, rel=1e-3)
    assert float(level.costs[0] * delta) == pytest.approx(0.5, rel=1e-3)


@pytest.mark.parametrize(("delta", "ahead"), [("0.098", True), ("0.099", False)])
def test_in_variance_below_a_delta_of_0_0986(delta: str, ahead: bool) -> None:
    found = quick(ln.Privacy(delta=delta), *sums(2, cost=ln.l2))
    assert (cost_of(found, "shared") < cost_of(found, "split")) is ahead


@pytest.mark.parametrize(("cost", "first"), [(ln.l1, 12), (ln.l2, 9)])
def test_where_gaussian_noise_overtakes_a_split(cost: ln.Cost, first: int) -> None:
    for many in (first - 1, first):
        found = quick(BOTH, *sums(many, cost=cost))
        assert (cost_of(found, "shared") < cost_of(found, "split")) is (many == first)


def test_a_delta_that_saves_nothing_is_not_spent() -> None:
    assert quick(BOTH, *sums(3)).total == ln.Privacy(1)
    spent = quick(ln.Privacy(1, "0.01"), *sums(2))
    parts = row(spent, "split").guarantees
    assert 0 < together(parts).delta <= Fraction(1, 100)
    assert cost_of(spent, "split") < cost_of(quick(ln.Privacy(1), *sums(2)), "split")
    alone = quick(ln.Privacy(1, "0.01"), *sums(2, family="truncated_laplace"))
    assert alone.rows[0].how == "split"
    assert 0 < alone.total.delta <= Fraction(1, 100)


def test_a_hundred_equal_answers_are_computed_once() -> None:
    found = quick(BOTH, *counts(100))
    assert len({id(made) for made in found._ready}) == 1
    assert found.rows[0].how == "shared"
    # docs/theory/many-answers.md: 33.7 for each of a hundred counts, where a split has 100.
    assert float(found.cost) == pytest.approx(3371, abs=1)
    assert float(cost_of(found, "split")) == pytest.approx(10_000, rel=1e-3)


# ------------------------------------------------------------------------------- one answer


@pytest.mark.parametrize(
    ("privacy", "asked"),
    [
        (ln.Privacy(1), {}),
        (ln.Privacy(delta="0.1"), {"cost": ln.l2}),
        (BOTH, {"integer": True}),
        (ln.Privacy(1, "0.05"), {}),
    ],
)
def test_one_answer_is_what_calibrate_finds(privacy: ln.Privacy, asked: dict[str, object]) -> None:
    alone = ln.calibrate(privacy, sensitivity=1, solve=False, **asked)  # type: ignore[arg-type]
    found = quick(privacy, ln.NumericQuery("x", sensitivity=1, **asked))  # type: ignore[arg-type]
    assert found["x"] == alone
    assert found.total == privacy


def test_solving_makes_a_plan_no_dearer() -> None:
    privacy, wanted = ln.Privacy(2, "0.02"), sums(2, cost=ln.l2)
    solved = ln.plan(privacy, wanted, seconds=2)
    solved.verify()
    assert solved.cost <= quick(privacy, *wanted).cost


# ---------------------------------------------------------------------------------- targets


@pytest.mark.parametrize("privacy", [BOTH, ln.Privacy(1), ln.Privacy("1/2", "0.05")])
def test_targets_are_met_by_what_is_drawn(privacy: ln.Privacy) -> None:
    wanted = (
        ln.NumericQuery("people", sensitivity=1, integer=True, error=30),
        ln.NumericQuery("visits", sensitivity=5, error=100, confidence="0.9"),
        ln.NumericQuery("income", sensitivity=2),
    )
    found = quick(privacy, *wanted)
    found.verify()
    assert half_width(found["people"], "0.95") <= 30
    assert half_width(found["visits"], "0.9") <= 100
    # What is left goes to the answer that has a cost: the others get hardly more than they need.
    assert half_width(found["visits"], "0.9") >= 98
    assert found.cost == found["income"].discretized.cost


def test_where_there_are_targets_alone_all_errors_shrink_together() -> None:
    wanted = [
        ln.NumericQuery(name, sensitivity=1, error=error) for name, error in (("a", 20), ("b", 60))
    ]
    found = quick(BOTH, *wanted)
    shares = [half_width(found[one.name], "0.95") / one.error for one in wanted if one.error]
    assert max(shares) < Fraction(1, 2)
    assert max(shares) <= Fraction(102, 100) * min(shares)
    assert found.cost == max(shares)


def test_a_target_beside_a_cost_is_a_condition() -> None:
    free = quick(ln.Privacy(1), *sums(2))
    bound = quick(
        ln.Privacy(1), ln.NumericQuery("count 0", sensitivity=1, cost=ln.l1, error=4), *sums(2)[1:]
    )
    assert half_width(free["count 0"], "0.95") > 4
    assert half_width(bound["count 0"], "0.95") <= 4
    assert bound.cost > free.cost


def test_an_impossible_target_names_a_promise_and_errors_that_are_possible() -> None:
    wanted = [
        ln.NumericQuery("a", sensitivity=1, error=3),
        ln.NumericQuery("b", sensitivity=2, error=6),
    ]
    with pytest.raises(
        InvalidParameter, match=r"A total ε of [\d.]+ suffices with the same δ"
    ) as e:
        quick(ln.Privacy(1), *wanted)
    said = str(e.value)
    enough = said.split("A total ε of ")[1].split(" ", maxsplit=1)[0]
    quick(ln.Privacy(enough), *wanted)  # it is as said, and not much more than is needed
    with pytest.raises(InvalidParameter, match="The targets cannot be met with"):
        quick(ln.Privacy(Fraction(enough) * Fraction(97, 100)), *wanted)
    errors = [part.split(" ")[0] for part in said.split("Errors of")[1].split("± ")[1:]]
    wider = [
        ln.NumericQuery(one.name, sensitivity=one.sensitivity, error=error)
        for one, error in zip(wanted, errors, strict=True)
    ]
    quick(ln.Privacy(1), *wider)


def test_many_targets_are_not_all_named() -> None:
    with pytest.raises(InvalidParameter, match="all widened by the same factor") as e:
        quick(BOTH, *sums(20, error=2))
    assert str(e.value).count("and 17 more") == 2
    assert "count 2" in str(e.value)
    assert "count 3" not in str(e.value)
    with pytest.raises(InvalidParameter, match=r"Errors of .* are possible as it is") as e:
        quick(BOTH, *sums(1, error=2))
    assert "same factor" not in str(e.value)


# ------------------------------------------------- costs that can only be called, and time


class Counted:
    """x², counting how often it is called."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, size: float) -> float:
        self.calls += 1
        return size * size


def test_a_plan_does_not_call_a_cost_for_every_step_of_a_noise() -> None:
    counted = Counted()
    found = quick(BOTH, *sums(2, cost=ln.Cost(counted)))
    assert counted.calls < 1_500_000
    plain = cost_of(quick(BOTH, *sums(2, cost=ln.l2)), "split")  # joint noise needs a power
    assert plain <= found.cost <= Fraction(102, 100) * plain


def test_when_the_seconds_are_up_closed_forms_remain() -> None:
    found = ln.plan(BOTH, MIXED, seconds="1e-9")
    found.verify()
    assert found.family == "cheapest known"
    assert found._ready == quick(BOTH, *MIXED)._ready
    ln.plan(BOTH, sums(2, error=40), seconds="1e-9").verify()


def test_only_what_is_solved_for_is_called_the_least() -> None:
    # Of very different weight: joint noise of equal answers costs half, and the solver is not run.
    wanted = [*sums(1, cost=ln.l2), ln.NumericQuery("b", sensitivity=1, cost=ln.l2, weight=30)]
    solved = ln.plan(ln.Privacy(2, "0.02"), wanted, seconds=2)
    assert {"least", "cheapest known"} & {one.family for one in solved.rows} == {"least"}
    closed = quick(ln.Privacy(2, "0.02"), *wanted)
    assert {"least", "cheapest known"} & {one.family for one in closed.rows} == {"cheapest known"}


# ------------------------------------------------------------------------------- releasing


def test_all_answers_are_released_at_once() -> None:
    found = quick(BOTH, *MIXED)
    answers = found.release({"age": 40.5, "people": 1000, "income": Fraction(1, 3)})
    assert list(answers) == ["people", "income", "age"] == list(found)
    assert len(found) == 3
    assert answers["people"].value.denominator == 1
    for name, answer in answers.items():
        assert answer.mechanism is found[name]


def test_nothing_is_drawn_before_every_value_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    found = quick(BOTH, *MIXED)
    good = {"people": 1, "income": 2, "age": 3}
    drawn = []
    monkeypatch.setattr("leastnoise.planning.plans.Answer", lambda *parts: drawn.append(parts))
    with pytest.raises(InvalidParameter, match="got no income"):
        found.release({"people": 1, "age": 3})
    with pytest.raises(InvalidParameter, match="got 'height' too"):
        found.release({**good, "height": 3})
    with pytest.raises(InvalidParameter, match="must be finite") as e:
        found.release({**good, "age": math.nan})
    assert "nan" not in str(e.value)
    with pytest.raises(InvalidParameter, match="must be an integer"):
        found.release({**good, "people": 1.5})
    with pytest.raises(InvalidParameter, match="values must be a mapping from names to numbers"):
        found.release([1, 2, 3])  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="allow_exact must be True or False"):
        found.release(good, allow_exact="yes")  # type: ignore[arg-type]
    assert not drawn


def test_exact_values_leave_only_where_that_is_allowed() -> None:
    found = quick(ln.Privacy(delta="0.9"), *sums(2, family="uniform"))
    assert found._ready[0].needs_allow_exact
    values = {"count 0": 1, "count 1": 2}
    with pytest.raises(InvalidParameter, match="allow_exact=True"):
        found.release(values)
    assert set(found.release(values, allow_exact=True)) == set(values)


# ---------------------------------------------------------------------------------- words


def test_tables_and_json_say_the_same() -> None:
    found = quick(BOTH, *MIXED)
    text, html = str(found), found._repr_html_()
    for one in MIXED:
        assert one.name in text
        assert one.name in html
    assert all(one.name in text for one in found.rows)
    content = json.loads(json.dumps(found.to_dict()))
    assert Fraction(content["cost"]) == found.cost
    assert [Fraction(cost) for cost in content["rows"][0]["costs"]] == list(found.rows[0].costs)
    assert content["wanted"][1]["weight"] == "2"
    assert found.explain().startswith(found.total.explain())
    assert "people, income, age" in repr(found)
    shared = quick(ln.Privacy(delta="0.01"), *sums(3))
    assert "All answers share the guarantee" in " ".join(shared.explain().split())


def test_names_are_escaped_in_a_notebook() -> None:
    found = quick(ln.Privacy(1), ln.NumericQuery("<b>", sensitivity=1))
    assert "<b>" not in found._repr_html_()


# ------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"sensitivity": 0}, "sensitivity must be greater than 0"),
        ({"sensitivity": "1/2", "integer": True}, "must be an integer"),
        ({"weight": -1}, "weight must be greater than 0"),
        ({"weight": 0}, "weight must be greater than 0"),
        ({"error": 0}, "error must be greater than 0"),
        ({"error": 1, "confidence": 1}, "confidence must be above 0 and below 1"),
        ({"confidence": "0.9"}, "got confidence without error"),
        ({"confidence": "0.9", "cost": ln.l2}, "got confidence without error"),
        ({"weight": 2, "error": 3}, "got weight and error without cost"),
        ({"weight": 1, "error": 3}, "got weight and error without cost"),
        ({"cost": abs}, "cost must be a Cost"),
        ({"integer": 1}, "integer must be True or False"),
        ({"family": "gausian"}, "Did you mean gaussian"),
        ({"family": 3}, "family must be one of"),
        ({"name": " "}, "name must be a non-empty string"),
    ],
)
def test_an_answer_that_is_none_is_refused(asked: dict[str, object], said: str) -> None:
    given = {"name": "x", "sensitivity": 1, **asked}
    with pytest.raises(InvalidParameter, match=said):
        ln.NumericQuery(given.pop("name"), **given)  # type: ignore[arg-type]


def test_a_plan_that_is_none_is_refused() -> None:
    one = ln.NumericQuery("x", sensitivity=1)
    with pytest.raises(InvalidParameter, match=r"at least one NumericQuery, got an empty list"):
        ln.plan(BOTH, [])
    with pytest.raises(InvalidParameter, match="got an object of type str"):
        ln.plan(BOTH, ["x"])  # type: ignore[list-item]
    with pytest.raises(InvalidParameter, match="got an object of type NoneType"):
        ln.plan(BOTH, [one, None])  # type: ignore[list-item]
    with pytest.raises(InvalidParameter, match="got an object of type int"):
        ln.plan(BOTH, 3)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="Put it in a list"):
        ln.plan(BOTH, one)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="got 'x' twice"):
        ln.plan(BOTH, [one, one])
    with pytest.raises(InvalidParameter, match="privacy must be a Privacy"):
        ln.plan(1, [one])  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="privacy must have ε > 0 or δ > 0"):
        ln.plan(ln.Privacy(0, 0), [one])
    with pytest.raises(Unsupported, match="epsilon must be at most 5000, got 10000"):
        ln.plan(ln.Privacy(10_000), [one])
    with pytest.raises(InvalidParameter, match="solve must be True or False"):
        ln.plan(BOTH, [one], solve=1)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="name must be one of x, got 'y'"):
        quick(BOTH, one)["y"]
    with pytest.raises(InvalidParameter, match="No noise satisfies ε = 1, δ = 0 for all answers"):
        quick(ln.Privacy(1), ln.NumericQuery("x", sensitivity=1, family="gaussian"))
    level = ln.Privacy(delta="0.3")
    for target in (None, 9):
        falling = ln.NumericQuery("x", sensitivity=1, family="staircase", error=target)
        with pytest.raises(InvalidParameter, match="as asked: the staircase requires ε > 0"):
            quick(level, falling)
    smooth = ln.NumericQuery("x", sensitivity=1, family="laplace", error=9)
    assert half_width(quick(level, smooth)["x"], "0.95") <= 9


def test_a_family_that_is_asked_for_is_used() -> None:
    found = quick(
        BOTH,
        ln.NumericQuery("a", sensitivity=1, family="laplace"),
        ln.NumericQuery("b", sensitivity=1, family="uniform"),
        ln.NumericQuery("c", sensitivity=1),
    )
    assert [type(made.noise).__name__ for made in found._ready][:2] == ["Laplace", "Uniform"]
    assert found["b"].privacy.epsilon == 0


def test_answers_print_the_way_they_are_written() -> None:
    one = ln.NumericQuery("x", sensitivity="1/3", cost=ln.l2, weight=2, error=5, confidence="0.9")
    again = eval(repr(one), {"NumericQuery": ln.NumericQuery, "l2": ln.l2})
    assert again == one
    assert repr(ln.NumericQuery("y", sensitivity=1, family="laplace", integer=True)) == (
        "NumericQuery('y', sensitivity=1, integer=True, family='laplace')"
    )


# ------------------------------------------------------------------- in a ledger


def test_a_plan_is_one_release_in_a_ledger_charged_for_all_answers_together(
    tmp_path: Path,
) -> None:
    counts = [
        ln.NumericQuery(name, sensitivity=1, integer=True, family="gaussian")
        for name in "abcdefghijkl"
    ]
    found = quick(BOTH, *counts)
    assert found.rows[0].how == "shared"  # the sum of what each promises alone would be far more
    with ln.Ledger(tmp_path / "l", limit=ln.Privacy(1, "1e-6")) as ledger:
        values = dict.fromkeys("abcdefghijkl", 42)
        first = found.release(values, ledger=ledger, key="a year")
        assert ledger.spent == found.total
        again = found.release(dict.fromkeys(values, 1000), ledger=ledger, key="a year")
        assert {name: a.value for name, a in again.items()} == {
            name: a.value for name, a in first.items()
        }
        assert all(a.receipt is not None and a.receipt.reused for a in again.values())
        (release,) = ledger.releases
        assert release.privacy == found.total
        declared: Any = ledger.export()
        (written,) = declared["evidence"]["releases"]
        assert written["certified"] is None
        with pytest.raises(
            ln.errors.BudgetExceeded, match="Not enough budget in dataset 'data': this"
        ):
            found.release(values, ledger=ledger, key="another year")
        with pytest.raises(ln.errors.InvalidParameter, match=r"got no l\. Add a value for each"):
            found.release(dict.fromkeys("abcdefghijk", 1), ledger=ledger, key="x")
        assert ledger.spent == found.total


def test_a_ledger_is_charged_for_what_is_proved_and_not_for_what_is_said(tmp_path: Path) -> None:
    wanted = [ln.NumericQuery(name, sensitivity=1, integer=True) for name in "ab"]
    found = ln.plan(ln.Privacy(1), wanted, solve=False)
    cheap = replace(found, total=ln.Privacy("1e-9"))
    with ln.Ledger(tmp_path / "l", limit=ln.Privacy(1)) as ledger:
        with pytest.raises(ln.errors.InvalidParameter, match="have another total guarantee"):
            cheap.release({"a": 1, "b": 2}, ledger=ledger, key="k")
        assert ledger.spent == ln.Privacy(0, 0)


def test_a_plan_for_a_ledger_states_its_charge_with_both_kinds_of_accounting(
    tmp_path: Path,
) -> None:
    """Shared noise of thirty counts costs about (0.5/1)² of M² times the ratio of the caps."""
    with ln.Ledger(tmp_path / "people.ledger", limit=BOTH) as ledger:
        many = ln.plan(ln.Privacy("0.5", "5e-7"), counts(30), solve=False, ledger=ledger)
        assert many.rows[0].how == "joint"
        assert many.accounting == (
            "With basic accounting this plan costs 50% of ε = 1, δ = 1e-6. For 50% of the limit, "
            "shared Gaussian noise with Gaussian accounting makes the total cost 15% lower: a 95% "
            "error of count 0 of ± 64 instead of ± 63."
        )
        # E|X| is about (30 + 1)/(2·0.5) for joint noise, and √(2/π)·σ for Gaussian, 64 = 1.96σ.
        assert math.sqrt(2 / math.pi) * 64 / 1.96 / 31 == pytest.approx(0.85, abs=0.02)
        shared = ln.plan(
            ln.Privacy("0.5", "5e-7"), counts(30, family="gaussian"), solve=False, ledger=ledger
        )
        assert shared.accounting == (
            "With basic accounting this plan costs 50% of ε = 1, δ = 1e-6; with Gaussian "
            "accounting, 25.9%. For 50% of the limit, shared Gaussian noise with Gaussian "
            "accounting makes the total cost 28% lower: a 95% error of count 0 of ± 64 instead of "
            "± 90."
        )
        assert " ".join(many.accounting.split()) in " ".join(str(many).split())
        few = ln.plan(ln.Privacy("0.1"), counts(2), solve=False, ledger=ledger)
        assert few.accounting is not None
        assert "costs 10% of" in few.accounting
        assert ledger.spent == ln.Privacy(0, 0)
    assert ln.plan(BOTH, counts(2), solve=False).accounting is None
