"""Plans with joint noise: which option is chosen, blocks, targets, totals, releases and ledgers."""

import copy
import itertools
import math
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import leastnoise as ln
from leastnoise.core.exact import exponential
from leastnoise.errors import BudgetExceeded, InvalidParameter, NotPrivate
from leastnoise.mechanism import JointMechanism, JointPart, calibrate_joint, find_blocks, half_width
from leastnoise.planning import Plan
from leastnoise.planning.joint import _find_width
from tests.support.confidence_intervals import FALSE_ALARM, clopper_pearson

BOTH = ln.Privacy(1, "1e-6")


def counts(many: int, **more: Any) -> list[ln.NumericQuery]:
    asked = {"sensitivity": 1, "integer": True, **more}
    return [ln.NumericQuery(f"count {i}", **asked) for i in range(many)]


@cache
def quick(privacy: ln.Privacy, *queries: ln.NumericQuery) -> Plan:
    return ln.plan(privacy, queries, solve=False)


def blocks_of(plan: Plan) -> list[tuple[int, ...]]:
    return sorted(places for _, places in find_blocks(plan._ready))


# ----------------------------------------------------------------------- the option that is chosen


def joint_error(many: int) -> float:
    """E|x₁| of P(x) ∝ e^−max|xᵢ| on the integers, by sums over shells.

    The shell r has (2r+1)ᵏ − (2r−1)ᵏ points. Box r is uniform in each coordinate, so that over the
    boxes, Σ|x₁| = (2r+1)ᵏ⁻¹·r(r+1).
    """
    top, mass = 0.0, 0.0
    for r in range(1500):
        fall = math.exp(-r) * (1 - math.exp(-1))
        mass += fall * (2 * r + 1) ** many
        top += fall * (2 * r + 1) ** (many - 1) * r * (r + 1)
    return top / mass


# The table of batch.md at (1, 1e-6): E|error| of joint, split and Gaussian noise for each count.
TABLE = {
    2: (1.428956, 1.919035, 4.767),
    3: (1.959733, 2.945, 5.838),
    5: (2.974965, 4.967, 7.537),
    10: (5.487500, 9.983, 10.66),
    16: (8.492188, 15.99, 13.48),
    32: (16.49609, 31.99, 19.07),
    43: (21.99709, 43.00, 22.10),
    64: (32.49805, 64.00, 26.97),
}


@pytest.mark.parametrize("many", TABLE)
def test_the_cheapest_of_three_options_is_released(many: int) -> None:
    joint, split, gaussian = TABLE[many]
    plan = quick(BOTH, *counts(many))
    plan.verify()
    each = {row.how: row.costs[0] for row in plan.rows if row.cost is not None}
    assert float(each["joint"]) == pytest.approx(joint, rel=2e-6)
    assert joint_error(many) == pytest.approx(joint, rel=2e-6)
    assert float(each["split"]) == pytest.approx(split, rel=1e-3)
    assert float(each["shared"]) == pytest.approx(gaussian, rel=2e-3)
    assert plan.rows[0].how == ("joint" if many <= 43 else "shared")
    assert plan.total == (ln.Privacy(1) if many <= 43 else BOTH)
    answers = plan.release(dict.fromkeys(plan, 500))
    assert len(answers) == many
    errors = [abs(answer.value - 500) for answer in answers.values()]
    assert max(errors) < 60 * plan.rows[0].costs[0]  # by chance less often than once in 1e9


def test_one_answer_and_an_allocation_have_no_joint_noise(tmp_path: Path) -> None:
    (row,) = (row for row in quick(BOTH, *counts(1)).rows if row.how == "joint")
    assert row.excluded == "no answers gain from joint noise"
    with ln.Ledger(tmp_path / "a.ledger", limit=BOTH, accounting="gaussian") as ledger:
        plan = ln.plan(queries=counts(3), ledger=ledger, share="1/10")
    (row,) = (row for row in plan.rows if row.how == "joint")
    assert row.excluded == "in an allocation, Gaussian noise costs less"
    level = quick(ln.Privacy(delta="0.1"), *counts(3))
    (row,) = (row for row in level.rows if row.how == "joint")
    assert row.excluded == "joint noise requires ε > 0"
    assert "Not joint boxes: joint noise requires ε > 0." in str(level)


def test_a_plan_says_why_it_has_joint_noise() -> None:
    text = " ".join(str(quick(BOTH, *counts(3))).split())
    assert "noise: joint boxes" in text
    assert "cheapest known 8.83" in text
    assert "one sample for the whole block" in text
    # 3·2.945… of the split over 3·1.959733, rounded down.
    assert "Why joint boxes: it has the lowest total cost; that of cheapest known is 1.502" in text
    assert "Joint noise is the best known, and not claimed to be optimal." in text
    many = " ".join(str(quick(BOTH, *counts(64))).split())
    assert "Why shared gaussian: it has the lowest total cost; that of joint boxes is 1.205" in many
    forced = " ".join(str(quick(ln.Privacy(1), *counts(2, family="laplace"))).split())
    assert "Why as asked: no other option is possible." in forced
    targets = " ".join(str(quick(BOTH, *counts(3, error=40))).split())
    assert "Why joint boxes: it has the smallest ratio of an error to its target" in targets


# ------------------------------------------------------------------------------------- its privacy


SMALL = [
    counts(2),
    [*counts(1), ln.NumericQuery("two", sensitivity=2, integer=True)],
    counts(3),
]


def law_of(plan: Plan, reach: int) -> dict[tuple[int, ...], Fraction]:
    """The joint probabilities of points in a box, from g(n) = bⁿ of the sampled noise."""
    ((block, places),) = find_blocks(plan._ready)
    assert isinstance(block, JointMechanism)
    assert places == tuple(range(len(plan)))
    noise = block.noise
    weights = {}
    for x in itertools.product(range(-reach, reach + 1), repeat=len(places)):
        boxes = (
            max(0, math.ceil(Fraction(abs(a) - edge, shift)))
            for a, shift, edge in zip(x, noise.shifts, noise.edges, strict=True)
        )
        weights[x] = Fraction(noise.ratio ** max(boxes))
    whole = sum(weights.values(), Fraction(0))
    return {x: weight / whole for x, weight in weights.items()}


@pytest.mark.parametrize("queries", SMALL, ids=lambda queries: str(len(queries)))
def test_no_shift_of_all_answers_is_seen(queries: list[ln.NumericQuery]) -> None:
    """P(x) ≤ e^ε·P(x + d) for all points and all |dᵢ| ≤ Δᵢ, by enumeration.

    Independent noise with the same marginals does not pass.
    """
    plan = quick(ln.Privacy(2), *queries)
    reach = 6 if len(queries) < 3 else 4
    factor = exponential(Fraction(2)).upper
    deltas = [int(query.sensitivity) for query in queries]
    shifts = list(itertools.product(*(range(-d, d + 1) for d in deltas)))

    def passes(law: dict[tuple[int, ...], Fraction]) -> bool:
        for x, own in law.items():
            for d in shifts:
                there = law.get(tuple(a + b for a, b in zip(x, d, strict=True)))
                if there is not None and own > factor * there:
                    return False
        return True

    law = law_of(plan, reach)
    assert passes(law)
    assert not passes(make_independent(law))


def make_independent(law: dict[tuple[int, ...], Fraction]) -> dict[tuple[int, ...], Fraction]:
    """Independent noise with the marginals of a law."""
    size = len(next(iter(law)))
    sides: list[dict[int, Fraction]] = [{} for _ in range(size)]
    for x, probability in law.items():
        for side, a in zip(sides, x, strict=True):
            side[a] = side.get(a, Fraction(0)) + probability
    pairs = {x: zip(sides, x, strict=True) for x in law}
    return {
        x: math.prod((side[a] for side, a in own), start=Fraction(1)) for x, own in pairs.items()
    }


def exceeds(successes: tuple[int, int], trials: int, epsilon: float) -> bool:
    """Whether two event counts prove, at false alarm 1e-9, that a release does not satisfy ε."""
    low = clopper_pearson(successes[0], trials, FALSE_ALARM)[0]
    high = clopper_pearson(successes[1], trials, FALSE_ALARM)[1]
    return low > math.exp(epsilon) * high


def test_an_audit_of_releases_finds_only_independent_noise() -> None:
    """The event "every answer exceeds 1" is e^ε times as likely at 1 as at 0, and no more.

    Control: independent noise of the same marginals, of which the same verdict proves a violation.
    """
    plan = quick(ln.Privacy(2), *counts(3))
    alone = list(plan.mechanisms.values())
    trials = 30_000

    def count(value: int, *, joint: bool) -> int:
        found = 0
        for _ in range(trials):
            if joint:
                answers = list(plan.release(dict.fromkeys(plan, value)).values())
            else:
                answers = [mechanism.release(value) for mechanism in alone]
            found += all(answer.value > 1 for answer in answers)
        return found

    assert not exceeds((count(1, joint=True), count(0, joint=True)), trials, 2)
    assert exceeds((count(1, joint=False), count(0, joint=False)), trials, 2)


# ------------------------------------------------------------------------------------------ blocks


def partitions(places: Sequence[int]) -> Iterator[list[list[int]]]:
    """All set partitions."""
    if not places:
        yield []
        return
    first, *others = places
    for known in partitions(others):
        yield [[first], *known]
        for i, block in enumerate(known):
            yield [*known[:i], [first, *block], *known[i + 1 :]]


def test_there_are_as_many_partitions_as_bell_numbers() -> None:
    assert [sum(1 for _ in partitions(range(n))) for n in range(6)] == [1, 1, 2, 5, 15, 52]


def least_by_force(queries: Sequence[ln.NumericQuery], epsilon: float, power: int) -> float:
    """The least exact cost over all partitions: Σ wΔᵖ·E|x|ᵖ, with the best of many divisions of ε.

    E|x|ᵖ is that of calibrate_joint at ε = 1 for the block, which is about proportional to 1/εᵖ.
    The exact cost of the best five partitions is then computed with noise for their parts.
    """

    def roots(block: list[int]) -> float:
        j, p = len(block), power
        rising = math.gamma(j + p) * (j + p) / ((p + 1) * math.gamma(j + 1))
        size = sum(float(queries[i].weight * queries[i].sensitivity ** p) for i in block)
        return float((rising * size) ** (1 / (p + 1)))

    ranked = sorted(partitions(range(len(queries))), key=lambda way: sum(map(roots, way)))
    costs = []
    for way in ranked[:5]:
        whole, cost = sum(map(roots, way)), 0.0
        for block in way:
            part = Fraction(epsilon * roots(block) / whole).limit_denominator(10**6)
            made = calibrate_joint(
                ln.Privacy(part),
                sensitivity=[queries[i].sensitivity for i in block],
                integer=True,
                cost=ln.l1 if power == 1 else ln.l2,
            )
            cost += sum(
                float(queries[i].weight * own.cost)
                for i, own in zip(block, made.parts, strict=True)
            )
        costs.append(cost)
    return min(costs)


WEIGHTED = [
    [(1, 1), (1, 1), (1, 1), (400, 1), (400, 1), (400, 1)],
    [(1, 1), (1, 1), (1, 30), (1, 30)],
    [(1, 1), (3, 1), (9, 1), (27, 1), (81, 1), (243, 1)],
    [(5, 2), (1, 50), (1, 3), (2000, 1)],
]


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("kinds", WEIGHTED, ids=str)
def test_blocks_cost_at_most_a_hundredth_more_than_the_best_partition(
    kinds: list[tuple[int, int]], power: int
) -> None:
    cost = ln.l1 if power == 1 else ln.l2
    queries = [
        ln.NumericQuery(str(i), sensitivity=delta, integer=True, weight=weight, cost=cost)
        for i, (weight, delta) in enumerate(kinds)
    ]
    plan = quick(ln.Privacy(1), *queries)
    plan.verify()
    assert plan.rows[0].how == "joint"
    assert float(plan.cost) <= 1.01 * least_by_force(queries, 1, power)


def test_answers_of_very_different_weight_are_in_two_blocks() -> None:
    light, heavy = counts(3), counts(3, weight=400)
    queries = [*light, *(replace_name(query) for query in heavy)]
    plan = quick(ln.Privacy(1), *queries)
    assert blocks_of(plan) == [(0, 1, 2), (3, 4, 5)]
    first, second = plan[queries[0].name].privacy, plan[queries[3].name].privacy
    assert first.epsilon + second.epsilon == 1 == plan.total.epsilon
    # By Lagrange the parts of ε are as the roots of the weights: 1 to 20.
    assert float(second.epsilon / first.epsilon) == pytest.approx(20, rel=1e-3)


def replace_name(query: ln.NumericQuery) -> ln.NumericQuery:
    return ln.NumericQuery(f"heavy {query.name}", sensitivity=1, integer=True, weight=query.weight)


def test_an_answer_with_a_family_keeps_it_beside_a_block() -> None:
    queries = [*counts(4), ln.NumericQuery("x", sensitivity=1, family="laplace")]
    plan = quick(ln.Privacy(1), *queries)
    assert plan.rows[0].how == "joint"
    assert blocks_of(plan) == [(0, 1, 2, 3), (4,)]
    assert type(plan["x"].noise).__name__ == "Laplace"
    plan.verify()


def test_a_delta_that_saves_nothing_is_not_spent_beside_a_block() -> None:
    queries = [ln.NumericQuery("a", sensitivity=1, integer=True), *counts(2, weight=300)]
    plan = quick(BOTH, *queries)
    assert (0,) in blocks_of(plan)
    assert plan.total == ln.Privacy(1)
    spent = quick(ln.Privacy(1, "0.2"), *queries)
    if spent.rows[0].how == "joint":
        assert spent.total.delta > 0


# ----------------------------------------------------------------------------------------- targets


def test_the_width_of_joint_noise_is_that_of_its_law() -> None:
    """Of E[(1 − t/R)₊] for a box R with a Gamma distribution, by a sum over a fine grid."""
    for numbers in (1, 2, 7, 40):
        t = _find_width(numbers, Fraction(19, 20))
        step = 1e-3
        grid = [step * (i + 0.5) for i in range(int(120 / step))]
        weights = [math.exp(numbers * math.log(r) - r - math.lgamma(numbers + 1)) for r in grid]
        beyond = sum(w * (1 - t / r) for w, r in zip(weights, grid, strict=True) if r > t) * step
        assert beyond == pytest.approx(0.05, rel=1e-3)
    assert _find_width(1, Fraction(19, 20)) == pytest.approx(math.log(20))


def test_targets_are_met_and_all_errors_shrink_together() -> None:
    queries = [
        *(ln.NumericQuery(f"near {i}", sensitivity=1, error=30) for i in range(3)),
        *(ln.NumericQuery(f"far {i}", sensitivity=1, error=300) for i in range(3)),
    ]
    plan = quick(ln.Privacy(1), *queries)
    plan.verify()
    assert plan.rows[0].how == "joint"
    ratios = [
        half_width(plan[query.name], "0.95") / query.error for query in queries if query.error
    ]
    assert max(ratios) == plan.cost < 1
    assert max(ratios) <= Fraction(102, 100) * min(ratios)


def test_targets_beside_costs_are_conditions() -> None:
    queries = [*counts(2, error=30), ln.NumericQuery("c", sensitivity=1, integer=True)]
    plan = quick(ln.Privacy(1), *queries)
    plan.verify()
    (row,) = (row for row in plan.rows if row.how == "joint")
    assert row.cost is not None
    assert max(row.half_widths[:2]) <= 30


def test_an_impossible_target_is_answered_with_what_joint_noise_allows() -> None:
    """Five counts at ε = 1: a 95% error of about 6 jointly, and of 15 by a split."""
    with pytest.raises(InvalidParameter, match=r"A total ε of ([\d.]+) suffices") as caught:
        quick(ln.Privacy(1), *counts(5, error=4))
    enough = Fraction(str(caught.value).partition("A total ε of ")[2].split()[0])
    plan = quick(ln.Privacy(enough), *counts(5, error=4))
    assert plan.rows[0].how == "joint"
    assert enough < Fraction(5, 2)


# ---------------------------------------------------------------------------- put together wrongly


def test_parts_of_joint_noise_cannot_be_exchanged() -> None:
    plan, other = quick(ln.Privacy(1), *counts(3)), quick(ln.Privacy(1), *counts(3))
    again = ln.plan(ln.Privacy(1), counts(3), solve=False)
    values = dict.fromkeys(plan, 7)
    first, second, third = plan._ready
    wrong = [
        (first, second, again._ready[2]),  # of two plans
        (first, second, second),  # one twice, and one missing
        (first, second, quick(ln.Privacy(1), *counts(1))._ready[0]),
    ]
    assert other is plan
    for ready in wrong:
        for how in ("joint", "split", "shared"):
            rows = (replace(plan.rows[0], how=how), *plan.rows[1:])
            bad = replace(plan, _ready=ready, rows=rows)
            with pytest.raises(NotPrivate, match="must be released together, each once"):
                bad.verify()
            with pytest.raises(NotPrivate, match="must be released together, each once"):
                bad.release(values)
    turned = replace(plan, _ready=(third, first, second))  # each once, in another order
    turned.verify()
    assert len(turned.release(values)) == 3


def test_a_part_has_the_noise_that_is_sampled() -> None:
    plan, wider = quick(ln.Privacy(1), *counts(3)), quick(ln.Privacy("0.5"), *counts(3))
    part, other = plan._ready[0], wider._ready[0]
    assert isinstance(part, JointPart)
    assert isinstance(other, JointPart)
    with pytest.raises(NotPrivate, match="must be released together"):
        replace(other, owner=part.owner)
    with pytest.raises(NotPrivate, match="must be released together"):
        replace(part, discretized=other.discretized)
    with pytest.raises(NotPrivate, match="must be released together"):
        replace(part, certificate=other.certificate)
    with pytest.raises(NotPrivate, match="must be released together"):
        replace(part, place=3)
    assert replace(part, place=1) == plan._ready[1]  # equal numbers have equal noise


def test_numbers_with_other_lattices_have_noise_of_their_own() -> None:
    """Equal sensitivities with different steps: each answer is on its own lattice."""
    two = calibrate_joint(ln.Privacy(1), sensitivity=[1, 2])
    steps = (two.noise.steps[0], two.noise.steps[0] / 2)
    noise = replace(two.noise, steps=steps, shifts=(two.noise.shifts[0], 2 * two.noise.shifts[0]))
    made = JointMechanism(ln.Privacy(1), (Fraction(1),) * 2, (False, False), noise)
    for part, step in zip(made.parts, steps, strict=True):
        assert part.discretized.step == step
    answers = made.release((3, 3))
    assert all(abs(answer.value - 3) < 200 for answer in answers)


def test_a_ledger_is_charged_for_the_proved_total(tmp_path: Path) -> None:
    plan = quick(BOTH, *counts(3))
    cheap = replace(plan, total=ln.Privacy("1e-9"))
    values = dict.fromkeys(plan, 5)
    with ln.Ledger(tmp_path / "l", limit=ln.Privacy("1.5")) as ledger:
        with pytest.raises(InvalidParameter, match="have another total guarantee"):
            cheap.release(values, ledger=ledger, key="k")
        assert ledger.spent == ln.Privacy(0, 0)
        first = plan.release(values, ledger=ledger, key="k")
        again = plan.release(dict.fromkeys(plan, 9), ledger=ledger, key="k")
        assert [a.value for a in again.values()] == [a.value for a in first.values()]
        assert ledger.spent == ln.Privacy(1)
        (release,) = ledger.releases
        assert release.privacy == plan.total
        with pytest.raises(BudgetExceeded, match="Not enough budget"):
            plan.release(values, ledger=ledger, key="other")
        ledger.verify()


class Killed(BaseException):
    """As if the process ended."""


def test_a_release_that_ends_before_it_is_stored_stays_charged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The charge is stored before noise is sampled, and nothing is sampled for a repeated key."""
    plan = quick(BOTH, *counts(3))
    values = dict.fromkeys(plan, 5)
    ((block, _),) = find_blocks(plan._ready)
    assert isinstance(block, JointMechanism)
    sampled = []

    def kill(tape: object) -> tuple[int, ...]:
        sampled.append(tape)
        raise Killed

    draw = block.releaser._draw
    with ln.Ledger(tmp_path / "l", limit=ln.Privacy(3)) as ledger:
        object.__setattr__(block.releaser, "_draw", kill)
        try:
            with pytest.raises(BaseException):  # noqa: B017, PT011 -- Killed, or what it becomes
                plan.release(values, ledger=ledger, key="k")
        finally:
            object.__setattr__(block.releaser, "_draw", draw)
        assert len(sampled) == 1
        assert ledger.spent == ln.Privacy(1)
        plan.release(values, ledger=ledger, key="k")
        assert ledger.spent == ln.Privacy(1)
        ledger.verify()


def test_one_sample_is_drawn_for_a_block() -> None:
    plan = quick(ln.Privacy(1), *counts(4))
    ((block, _),) = find_blocks(plan._ready)
    assert isinstance(block, JointMechanism)
    draw, calls = block.releaser._draw, []

    def counted(tape: Any) -> tuple[int, ...]:
        calls.append(tape)
        return draw(tape)

    object.__setattr__(block.releaser, "_draw", counted)
    try:
        plan.release(dict.fromkeys(plan, 1))
    finally:
        object.__setattr__(block.releaser, "_draw", draw)
    assert len(calls) == 1


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda plan: pickle.loads(pickle.dumps(plan))])
def test_a_copied_plan_is_still_released_jointly(copied: Any) -> None:
    plan = copied(quick(BOTH, *counts(3)))
    plan.verify()
    assert blocks_of(plan) == [(0, 1, 2)]
    assert plan.total == ln.Privacy(1)
    assert len(plan.release(dict.fromkeys(plan, 3))) == 3


# ------------------------------------------------------------------------------------- composition


def test_composition_never_falls_below_the_guarantee() -> None:
    """A part counts as much as all numbers: once for a release of all, and once for each part."""
    joint = calibrate_joint(ln.Privacy(1), sensitivity=[1, 1, 1], integer=True)
    answers = joint.release((1, 2, 3))
    assert ln.compose([answers]).epsilon(0) == 1 == ln.compose([joint]).epsilon(0)
    assert ln.compose([joint.parts[0]]).epsilon(0) == 1
    assert ln.compose(joint.parts).epsilon(0) == 3  # released one by one
    assert ln.compose([(answers, 2)]).epsilon(0) == 2
    assert ln.compose([answers, ln.Privacy(0, "0.1")]).delta(1) == Fraction(1, 10)
    # The loss of all numbers at one shift: ln P(x)/P(x + d) is 1 for x with all xᵢ ≤ −1 that a
    # shift moves towards 0, so no smaller ε is true at δ = 0.
    assert ln.compose([answers]).delta("0.99") > 0
