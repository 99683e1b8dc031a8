"""``share=`` and ``error=``: what they charge, and that the wanted error is reached."""

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

import leastnoise as ln
from leastnoise.cli import main
from leastnoise.core.gaussian_cost import GaussianCost
from leastnoise.errors import BudgetExceeded, InvalidParameter
from leastnoise.ledger import AllocatedPrivacy
from leastnoise.mechanism import Mechanism, half_width
from leastnoise.tables import Count, Histogram, Mean, ProtectedTable, Quantile, Query, Sum
from leastnoise.tables.answers import Statement
from leastnoise.tables.budget import allocate
from leastnoise.tables.mean_target import MeanTarget
from leastnoise.tables.queries.plan import plan_query
from leastnoise.tables.release import PreparedRelease
from leastnoise.tables.released_number import divide_by_weights
from leastnoise.tables.spending_limit import SpendingLimit
from leastnoise.tables.target_error import Scale, size_of
from tests.support.confidence_intervals import FALSE_ALARM, clopper_pearson

LIMIT = ln.Privacy(1, "1e-6")
USUAL = Fraction(19, 20)
ROWS = 5000
COLUMNS = {
    "unit": list(range(ROWS)),
    "g": [("a", "b")[place % 2] for place in range(ROWS)],
    "x": [float(place % 101) for place in range(ROWS)],
}
BOUNDS = (0, 100)
ACCOUNTING = ["basic", "gaussian"]


@pytest.fixture(params=ACCOUNTING)
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ln.Ledger]:
    with open_ledger(tmp_path, request.param) as opened:
        yield opened


@pytest.fixture
def people(ledger: ln.Ledger) -> ProtectedTable:
    return protected(ledger)


def open_ledger(folder: Path, accounting: str, **more: Any) -> ln.Ledger:
    return ln.Ledger(folder / "people.ledger", limit=LIMIT, accounting=accounting, **more)


def protected(ledger: Any, **more: Any) -> ProtectedTable:
    options: dict[str, Any] = {"unit": "unit", "max_rows": 1, "name": "people"} | more
    return ln.protect(pa.table(COLUMNS), ledger=ledger, **options)


def spent(ledger: ln.Ledger) -> GaussianCost | ln.Privacy:
    """Return the sum of the charges: (μ², γ) in an allocation, else (ε, δ)."""
    return ledger.allocations[0].spent if ledger.accounting == "gaussian" else ledger.spent


def size(answer: Any) -> Fraction:
    return size_of(answer.total_privacy)


# --------------------------------------------------------------------------------- the arguments


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ({}, "Exactly one of privacy=, share= and error= must be given, got none"),
        ({"privacy": ln.Privacy(1), "share": 1}, "got privacy= and share="),
        ({"share": "1/2", "error": 3}, "got share= and error="),
        ({"privacy": 1}, "privacy must be a Privacy, got 1"),
        ({"share": 0}, "share must be greater than 0, got 0"),
        ({"share": "3/2"}, "share= must be above 0 and at most 1, got '3/2'"),
        ({"share": "half"}, "share must be a finite number, got 'half'"),
        ({"error": -1}, "error must be greater than 0, got -1"),
        ({"error": 3, "at_most": 2}, "at_most= must be above 0 and at most 1, got 2"),
        ({"share": "1/2", "at_most": 1}, "at_most= limits the cost of error=, got share="),
        ({"error": "1/2"}, "error must be at least 1 for integers, got 0.5"),
    ],
)
def test_invalid_amounts_are_rejected_before_anything_is_charged(
    people: ProtectedTable, ledger: ln.Ledger, terms: dict[str, Any], message: str
) -> None:
    before = spent(ledger)
    for call in (people.count, lambda **given: people.explain(Count(), **given)):
        with pytest.raises(InvalidParameter, match=re.escape(message)):
            call(**terms)
    assert spent(ledger) == before


def test_a_share_needs_a_ledger() -> None:
    people = protected(ln.UNRECORDED)
    with pytest.raises(InvalidParameter, match="share= needs a ledger, because it is a share of"):
        people.count(share="1/50")
    with pytest.raises(InvalidParameter, match="at_most= needs a ledger, because it is a share"):
        people.count(error=10, at_most="1/50")
    with pytest.raises(InvalidParameter, match="error= needs a ledger for a mean"):
        people.mean("x", bounds=BOUNDS, error=10)
    assert people.count(error=10).privacy.delta == 0


# ---------------------------------------------------------------------------------------- shares


def test_fifty_fiftieths_are_all_of_it_and_one_more_is_rejected(
    people: ProtectedTable, ledger: ln.Ledger
) -> None:
    limit = SpendingLimit.of(ledger)
    for place in range(50):
        people.count(share="1/50", key=f"count {place}")
    with pytest.raises(BudgetExceeded, match=r"Not enough budget in .*Nothing was charged"):
        people.count(share="1/50", key="one more")
    assert people.count(share="1/50", key="count 7").receipt.reused  # type: ignore[union-attr]
    if limit.caps is None:
        assert ledger.spent == LIMIT
        assert ledger.remaining == ln.Privacy(0, 0)
    else:
        assert spent(ledger) == GaussianCost(limit.caps.square)


@pytest.mark.parametrize(
    "query",
    [
        Count(),
        Count(by="g", groups=["a", "b"], max_groups=3),
        Sum("x", bounds=BOUNDS),
        Mean("x", bounds=BOUNDS),
        Quantile("x", "0.5", bounds=BOUNDS, bins=20, interval="0.95"),
        Histogram("x", edges=[0, 50, 100], max_groups=2),
    ],
    ids=["count", "by group", "sum", "mean", "quantile", "histogram"],
)
def test_a_share_of_an_allocation_is_charged_exactly_and_covers_the_noise(
    tmp_path: Path, query: Query
) -> None:
    with open_ledger(tmp_path, "gaussian") as ledger:
        people, caps = protected(ledger), ledger.allocations[0].caps
        prepared = people.explain(query, share="1/7").prepared
        assert prepared.gaussian_cost.fits(GaussianCost(caps.square / 7))
        # Not wasteful: the noise costs all of it.
        assert prepared.gaussian_cost.square > caps.square / 7 * Fraction(999_999, 1_000_000)
        (answer,) = people.ask([query], share="1/7")
        assert ledger.allocations[0].spent.square <= caps.square / 7
        assert ledger.allocations[0].spent.square > caps.square / 7 * Fraction(999_999, 1_000_000)
        assert ledger.allocations[0].spent.failure == 0
        assert isinstance(answer.total_privacy, AllocatedPrivacy)
        assert size(answer) == Fraction(1, 7)
        assert "cost: 14.29% of the allocation" in " ".join(str(answer).split())


def test_discovering_groups_takes_the_share_of_both_caps(tmp_path: Path) -> None:
    with open_ledger(tmp_path, "gaussian") as ledger:
        people, caps = protected(ledger), ledger.allocations[0].caps
        found = people.count(by="g", max_groups=1, share="1/50")
        assert found.keys == (("a",), ("b",))
        assert ledger.allocations[0].spent == caps * Fraction(1, 50)
        mechanism = found["a"].mechanism
        assert mechanism.gaussian_cost.fits(caps * Fraction(1, 50))
        assert mechanism.gaussian_cost.failure > 0


def test_an_allocation_without_gamma_cannot_discover_groups(tmp_path: Path) -> None:
    with open_ledger(tmp_path, "basic") as ledger:
        own = ledger.allocate("year", ln.Privacy("0.5", "1e-7"), discovery=0)
        people = protected(own)
        with pytest.raises(InvalidParameter, match="needs γ > 0, and this allocation has none"):
            people.count(by="g", max_groups=1, share="1/50")
        people.count(by="g", groups=["a", "b"], max_groups=1, share="1/50")
        assert ledger.allocations[0].spent.square == own.caps.square / 50


def test_a_share_is_of_the_limit_of_the_analyst(tmp_path: Path) -> None:
    own = ln.Privacy("0.2", "1e-7")
    with open_ledger(tmp_path, "basic", analyst="ann", analyst_limit=own) as ledger:
        assert protected(ledger).count(share="1/4").privacy == ln.Privacy("0.05", "2.5e-8")


# ---------------------------------------------------------------------------------------- errors

WANTED: list[tuple[Query, Fraction]] = [
    (Count(), Fraction(120)),
    (Count(by="g", groups=["a", "b"], max_groups=3), Fraction(300)),
    (Sum("x", bounds=BOUNDS), Fraction(10_000)),
    (Histogram("x", edges=[0, 50, 100], max_groups=2), Fraction(200)),
    (Quantile("x", "0.5", bounds=BOUNDS, bins=20), Fraction(200)),
]


@pytest.mark.parametrize(
    ("query", "error"), WANTED, ids=["count", "by group", "sum", "histogram", "quantile"]
)
def test_a_wanted_error_is_reached_and_costs_no_more_than_it_must(
    people: ProtectedTable, ledger: ln.Ledger, query: Query, error: Fraction
) -> None:
    planned = plan_query(query, people.source, people.unit)
    scale = Scale(SpendingLimit.of(ledger))

    def error_of(amount: ln.Privacy) -> Fraction:
        return planned.query.answer_error(allocate(amount, planned.numbers)[0])

    before = spent(ledger)
    (answer,) = people.ask([query], error=error)
    cost = size(answer)
    assert error_of(scale.amount(cost)) <= error
    # A smaller amount, by more than the four digits of the search, is not enough.
    assert error_of(scale.amount(cost * Fraction(99, 100))) > error
    assert size_of(people.explain(query, error=error * Fraction(102, 100)).prepared.together) < cost
    # It is charged once, as the answer states.
    total = answer.total_privacy
    if isinstance(total, AllocatedPrivacy):
        assert total.cost == GaussianCost(cost * total.caps.square)
        now = spent(ledger)
        assert isinstance(now, GaussianCost)
        assert now.square == pytest.approx(total.cost.square)
        assert now.fits(total.cost)
    else:
        assert spent(ledger) == total
    assert spent(ledger) != before
    (again,) = people.ask([query], error=error)
    assert again.receipt is not None
    assert again.receipt.reused


def test_in_an_allocation_a_count_has_the_sigma_of_the_closed_form(tmp_path: Path) -> None:
    """P(|N| ≤ E) for rounded Gaussian noise is P(|X| ≤ E + ½), so σ = (E + ½)/z."""
    with open_ledger(tmp_path, "gaussian") as ledger:
        people, caps = protected(ledger), ledger.allocations[0].caps
        cost = size(people.count(error=40))
        sigma = 40.5 / NormalDist().inv_cdf(0.975)
        assert 1 <= float(cost * caps.square) * sigma**2 <= 1.001


def test_a_wanted_error_of_discovered_groups(tmp_path: Path) -> None:
    with open_ledger(tmp_path, "gaussian") as ledger:
        people = protected(ledger)
        found = people.count(by="g", max_groups=1, error=60)
        assert half_width(found["a"].mechanism, USUAL) <= 60
        caps, charged = ledger.allocations[0].caps, ledger.allocations[0].spent
        assert charged == caps * (charged.square / caps.square)
        # The sum's error is wanted, and its count decides.
        sums = people.sum("x", bounds=BOUNDS, by="g", max_groups=1, error=5000)
        assert half_width(sums["a"].mechanism, USUAL) <= 5000
    with pytest.raises(InvalidParameter, match="Discovering groups needs δ > 0, which an error"):
        protected(ln.UNRECORDED).count(by="g", max_groups=1, error=60)


def test_an_error_beyond_at_most_is_rejected_with_one_that_is_possible(
    people: ProtectedTable, ledger: ln.Ledger
) -> None:
    before = spent(ledger)
    with pytest.raises(
        BudgetExceeded, match=r"and at most .* may be spent. Nothing was ch"
    ) as told:
        people.count(error=20, at_most="1/100")
    assert spent(ledger) == before
    possible = told.value.fix.rsplit("error=", 1)[1].rstrip(".")
    answer = people.count(error=possible, at_most="1/100")
    assert half_width(answer.mechanism, USUAL) <= Fraction(possible)
    assert size(answer) <= Scale(SpendingLimit.of(ledger)).cap(Fraction(1, 100))


def test_an_error_beyond_the_rest_is_rejected_with_one_that_is_possible(
    people: ProtectedTable, ledger: ln.Ledger
) -> None:
    people.count(share="0.99")
    before = spent(ledger)
    with pytest.raises(BudgetExceeded, match=r"Not enough budget in .*an error of ± ") as told:
        people.count(error=30)
    assert spent(ledger) == before
    possible = told.value.fix.rsplit("error=", 1)[1].rstrip(".")
    answer = people.count(error=possible)
    assert half_width(answer.mechanism, USUAL) <= Fraction(possible)
    assert Fraction(possible) < 1000  # it uses what remains


def test_no_budget_is_enough_for_some_errors(tmp_path: Path) -> None:
    more = r"± 1 needs more than the budget.*an error of ± 8 is possible: write error=8\."
    with open_ledger(tmp_path, "gaussian") as ledger, pytest.raises(BudgetExceeded, match=more):
        protected(ledger).count(error=1)


def test_several_queries_have_no_error_together(people: ProtectedTable) -> None:
    with pytest.raises(InvalidParameter, match=r"error= is for one query, .* got 2 queries"):
        people.ask([Count(), Sum("x", bounds=BOUNDS)], error=5)


# ----------------------------------------------------------------------------------------- means


def target(people: ProtectedTable, ledger: ln.Ledger, error: Any, **more: Any) -> MeanTarget:
    query = Mean("x", bounds=BOUNDS, **more)
    limit = SpendingLimit.of(ledger)
    return MeanTarget(people.source, people.unit, query, Fraction(error), limit, Fraction(1))


def test_a_mean_is_charged_twice_and_repeated_for_nothing(
    people: ProtectedTable, ledger: ln.Ledger
) -> None:
    answer = people.mean("x", bounds=BOUNDS, error=3, key="mean of x")
    charges = {one.key: one for one in ledger.releases}
    assert list(charges) == ["mean of x: count", "mean of x"]
    now = spent(ledger)
    if isinstance(answer.total_privacy, AllocatedPrivacy):
        assert isinstance(now, GaussianCost)
        assert now == answer.total_privacy.cost
    else:
        assert now == answer.total_privacy
        assert now.epsilon == sum(one.privacy.epsilon for one in charges.values())
    again = people.mean("x", bounds=BOUNDS, error=3, key="mean of x")
    assert again.interval() == answer.interval()
    assert again.receipt is not None
    assert again.receipt.reused
    assert spent(ledger) == now
    fresh = people.mean("x", bounds=BOUNDS, error=3, key="mean of x", fresh=True)
    assert fresh.receipt is not None
    assert not fresh.receipt.reused
    assert [one.key for one in ledger.releases] == ["mean of x: count", "mean of x", "mean of x"]


def test_a_mean_without_a_key_is_repeated_for_nothing_too(
    people: ProtectedTable, ledger: ln.Ledger
) -> None:
    first = people.mean("x", bounds=BOUNDS, error=3)
    charged = spent(ledger)
    assert people.mean("x", bounds=BOUNDS, error=3).value == first.value
    assert spent(ledger) == charged
    # The count is found again for a similar error.
    people.mean("x", bounds=BOUNDS, error="2.9")
    assert len(ledger.releases) == 3


def test_a_mean_by_group_reaches_its_error_in_every_group(
    people: ProtectedTable, ledger: ln.Ledger
) -> None:
    means = people.mean("x", bounds=BOUNDS, by="g", groups=["a", "b"], max_groups=1, error=5)
    aimed = target(people, ledger, 5, by="g", groups=["a", "b"], max_groups=1)
    rows = min(int(answer.count.value) for _, answer in means)
    error = aimed.find_error(means.privacy, rows)
    assert error is not None
    assert error <= 6  # the second counts are not far below the first ones: by 600 of 2500
    with pytest.raises(InvalidParameter, match="error= needs public groups for a mean"):
        people.mean("x", bounds=BOUNDS, by="g", max_groups=1, error=5)


def test_the_first_count_of_a_mean_is_a_small_part(
    people: ProtectedTable, ledger: ln.Ledger
) -> None:
    most = Fraction(1, 20) if ledger.accounting == "gaussian" else Fraction(1, 10)
    scale = Scale(SpendingLimit.of(ledger))
    for error in (20, 3, "0.1", "0.01"):
        aimed = target(people, ledger, error)
        cost = size_of(aimed.prepare_count().together)
        assert cost == aimed.count_share * scale.cap(Fraction(1))
        assert aimed.count_share <= most
    assert target(people, ledger, "0.01").count_share < most


def test_a_mean_that_cannot_be_so_accurate_says_that_its_count_was_charged(
    people: ProtectedTable, ledger: ln.Ledger
) -> None:
    """The count would have to be off by 25 times the scale of its noise to make it possible."""
    needs = r"mean of x with an error of ± 0\.3.*The charge of its count stands"
    with pytest.raises(BudgetExceeded, match=needs):
        people.mean("x", bounds=BOUNDS, error="0.3", at_most="1/1000")
    (counted,) = ledger.releases
    assert counted.key.startswith("count of rows with x #")
    people.count(share="0.9")
    lacks = "Not enough budget for the mean of x: it needs .* The charge of its count stands"
    with pytest.raises(BudgetExceeded, match=lacks):
        people.mean("x", bounds=BOUNDS, error="0.3")
    assert len(ledger.releases) == 3


@pytest.mark.parametrize("at_most", ["1/4", "1/10"])
def test_the_error_that_is_named_for_a_mean_is_possible(
    people: ProtectedTable, ledger: ln.Ledger, at_most: str
) -> None:
    """Even if the rows are counted again, and that count is as low as the advice allows for."""
    aimed = replace(target(people, ledger, "0.1"), at_most=Fraction(at_most))
    first = aimed.prepare_count()
    rest, counting = SpendingLimit.of(ledger), noise_of_count(first)
    with pytest.raises(BudgetExceeded, match=r"an error of ± .* is possible: write error=") as told:
        aimed.prepare_mean(ROWS, counting, first.together, rest)
    possible = Fraction(told.value.fix.rsplit("error=", 1)[1].rstrip("."))
    other = replace(aimed, error=possible)
    again, rows = first, ROWS
    if other.count_share != aimed.count_share:
        again = other.prepare_count()
        rows -= math.ceil(half_width(noise_of_count(again), Fraction(99, 100)))
        rows -= int(half_width(counting, Fraction(99, 100)))
    second = other.prepare_mean(rows, noise_of_count(again), again.together, rest)
    total = second.with_earlier
    assert total is not None
    assert size_of(total) <= other.scale.cap(Fraction(at_most))


def noise_of_count(prepared: PreparedRelease) -> Mechanism:
    ((_, ((_, mechanism),)),) = prepared.queries
    assert isinstance(mechanism, Mechanism)
    return mechanism


def test_an_error_below_the_rounding_of_a_mean_is_rejected(people: ProtectedTable) -> None:
    with pytest.raises(InvalidParameter, match="smaller than the step to which values are rounded"):
        people.mean("x", bounds=BOUNDS, error="1e-5")


@pytest.mark.parametrize("accounting", ACCOUNTING)
@pytest.mark.parametrize("drift", [-2, 0, 2])
def test_a_mean_covers_the_truth_and_is_narrow_for_every_first_count(
    tmp_path: Path, accounting: str, drift: int
) -> None:
    """The first count is off by ``drift`` times its 68% error; then 1000 means are sampled."""
    trials, error = 1000, Fraction(3)
    with open_ledger(tmp_path, accounting) as ledger:
        people = protected(ledger)
        aimed = target(people, ledger, error)
        first = aimed.prepare_count()
        counting = noise_of_count(first)
        rows = ROWS + drift * int(half_width(counting, Fraction(68, 100)))
        second = aimed.prepare_mean(rows, counting, first.together, SpendingLimit.of(ledger))
        ((planned, numbers),) = second.queries
        lattice = aimed.query.lattice
        values: Any = COLUMNS["x"]
        middle = lattice.middle * lattice.step
        truth = sum(map(Fraction, values), Fraction(0)) / ROWS
        sums = int((truth - middle) * ROWS / lattice.step)
        columns = [
            mechanism.releaser.add_noise_to_steps([value] * trials, step=number.step)
            for (number, mechanism), value in zip(numbers, (ROWS, sums), strict=True)
            if isinstance(mechanism, Mechanism)
        ]
        statement = Statement(
            subject=planned.query.subject(planned.rows),
            privacy=second.together,
            total_privacy=second.together,
        )
        answers: Any = planned.query.answers(
            list(zip(*columns, strict=True)), [mechanism for _, mechanism in numbers], statement
        )
    intervals = [answer.interval() for answer in answers]
    covered = sum(low <= truth <= high for low, high in intervals)
    assert clopper_pearson(covered, trials, FALSE_ALARM)[1] >= 0.95
    if drift < 2:  # the true count is not far below the first one
        narrow = sum(
            max(answer.value - low, high - answer.value) <= error
            for answer, (low, high) in zip(answers, intervals, strict=True)
        )
        assert clopper_pearson(narrow, trials, FALSE_ALARM)[1] >= 0.99


@pytest.mark.parametrize("accounting", ACCOUNTING)
def test_the_interval_of_a_mean_is_at_most_the_bound_for_any_released_sum(
    tmp_path: Path, accounting: str
) -> None:
    """At the fewest rows that the plan allows for, and sums up to the bounds and beyond."""
    with open_ledger(tmp_path, accounting) as ledger:
        people = protected(ledger)
        aimed = target(people, ledger, 3)
        first = aimed.prepare_count()
        counting = noise_of_count(first)
        rows = 500  # so few that the noise of the first count matters
        second = aimed.prepare_mean(rows, counting, first.together, SpendingLimit.of(ledger))
        ((planned, numbers),) = second.queries
        mechanisms = [mechanism for _, mechanism in numbers]
        own, adding = mechanisms
        assert isinstance(own, Mechanism)
        assert isinstance(adding, Mechanism)
        sure = Fraction(99, 100)
        assert half_width(counting, sure) > Fraction(rows, 20)
        fewest = rows - half_width(own, sure) - half_width(counting, sure)
        statement = Statement(
            subject=planned.query.subject(planned.rows),
            privacy=second.together,
            total_privacy=second.together,
        )
        widest = Fraction(0)
        for part in range(-11, 12):
            total = int(part * 5 * fewest / adding.discretized.step)
            answers: Any = planned.query.answers([(int(fewest), total)], mechanisms, statement)
            low, high = answers[0].interval()
            widest = max(widest, answers[0].value - low, high - answers[0].value)
        assert widest <= 3
        assert widest > Fraction(29, 10)  # not wasteful


# --------------------------------------------------------------------------------------- weights


def test_weights_divide_the_budget_among_queries(tmp_path: Path) -> None:
    queries = [Count(), Sum("x", bounds=BOUNDS)]
    people = protected(ln.UNRECORDED)
    answers: Any = people.ask(queries, privacy=ln.Privacy(1), weights=[3, 1])
    assert [answer.mechanism.privacy.epsilon for answer in answers] == [
        Fraction(3, 4),
        Fraction(1, 4),
    ]
    assert answers[0].total_privacy == ln.Privacy(1)
    with open_ledger(tmp_path, "gaussian") as ledger:
        answers = protected(ledger).ask(queries, share="1/2", weights=["3", "1"])
        count, total = (answer.mechanism.gaussian_cost.square for answer in answers)
        assert float(count / total) == pytest.approx(3)
        half = GaussianCost(ledger.allocations[0].caps.square / 2)
        assert ledger.allocations[0].spent == half
        assert (answers[0].mechanism.gaussian_cost + answers[1].mechanism.gaussian_cost).fits(half)


def test_equal_weights_of_queries_with_one_number_are_the_default() -> None:
    people = protected(ln.UNRECORDED)
    queries = [Count(), Sum("x", bounds=BOUNDS)]
    without = people.explain(*queries, privacy=ln.Privacy(1, "1e-6"))
    given = people.explain(*queries, privacy=ln.Privacy(1, "1e-6"), weights=[5, 5])
    assert given.prepared.key == without.prepared.key


def test_a_number_of_several_queries_gets_a_part_of_each() -> None:
    """The first query has the numbers 0 and 1, the second has 1 alone."""
    parts = divide_by_weights([Fraction(1), Fraction(3)], [(0, 1), (1,)])
    assert parts == (Fraction(1, 8), Fraction(7, 8))
    people = protected(ln.UNRECORDED)
    queries = [Count(where="x >= 0"), Mean("x", bounds=BOUNDS), Quantile("x", 0.5, bounds=BOUNDS)]
    prepared = people.explain(*queries, privacy=ln.Privacy(1), weights=[1, 2, 1]).prepared
    epsilons = [
        [mechanism.privacy.epsilon for _, mechanism in numbers] for _, numbers in prepared.queries
    ]
    assert epsilons == [[Fraction(1, 4)], [Fraction(1, 4)] * 2, [Fraction(1, 4)]]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1], "weights must have a number for each query, got 1 for 2"),
        ([1, 0], "a weight must be greater than 0, got 0"),
        ("12", "weights must be a list, got '12'"),
    ],
)
def test_invalid_weights_are_rejected(weights: Any, message: str) -> None:
    queries = [Count(), Sum("x", bounds=BOUNDS)]
    with pytest.raises(InvalidParameter, match=re.escape(message)):
        protected(ln.UNRECORDED).ask(queries, privacy=ln.Privacy(1), weights=weights)


# -------------------------------------------------------------------- dry runs and command line


def test_a_dry_run_shows_the_amount_and_charges_nothing(
    people: ProtectedTable, ledger: ln.Ledger
) -> None:
    before = spent(ledger)
    shared = str(people.explain(Count(), share="1/50"))
    limit = "allocation" if ledger.accounting == "gaussian" else "limit"
    assert f"Share         0.02 of the {limit}" in shared
    wanted = str(people.explain(Count(), error=40, at_most="1/2"))
    assert f"Wanted error  ± 40 (95% confidence), for at most 0.5 of the {limit}" in wanted
    assert "± 40\n" in wanted
    dry = people.explain(Mean("x", bounds=BOUNDS), error=3)
    then: Any = dry.to_dict()["then"]
    assert then["error_95"] == "3"
    assert [*then["price_by_rows"]] == ["1000", "10000", "100000"]
    assert "then" not in people.explain(Count(), error=40).to_dict()
    mean = " ".join(str(dry).split())
    assert "mean of x: the rows are counted first." in mean
    assert "1,000 rows: " in mean
    assert "100,000 rows: " in mean
    assert spent(ledger) == before


@pytest.fixture(params=ACCOUNTING)
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    lines = ["unit,x", *(f"{place},{place % 101}" for place in range(2000))]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    open_ledger(tmp_path, request.param).close()
    return str(request.param)


def call(*words: str) -> Any:
    return CliRunner().invoke(main, list(words))


COUNT = ["count", "people.csv", "--unit", "unit", "--max-rows", "1", "--ledger", "people.ledger"]


def test_the_commands_take_shares_and_errors(folder: str) -> None:
    done = call(*COUNT, "--share", "1/50")
    assert done.exit_code == 0
    assert ("cost: 2% of the allocation" in " ".join(done.output.split())) is (folder == "gaussian")
    done = call(*COUNT, "--error", "40")
    assert done.exit_code == 0
    assert "± 40 (95% confidence)" in done.output
    done = call(*COUNT, "--error", "40", "--dry-run")
    assert "Wanted error  ± 40" in done.output
    done = call(*COUNT, "--error", "2", "--at-most", "1/50")
    assert done.exit_code == 3
    assert "write --error " in " ".join(done.output.split())
    done = call(*COUNT, "--error", "40", "--json")
    assert ('"share"' in done.output) is (folder == "gaussian")
    mean = ["mean", "people.csv", "x", "--bounds", "0", "100", *COUNT[2:]]
    done = call(*mean, "--error", "9")
    assert done.exit_code == 0
    assert "for everything released together" in " ".join(done.output.split())


def test_the_commands_reject_two_amounts_and_none(folder: str) -> None:
    done = call(*COUNT, "--error", "40", "--epsilon", "1")
    assert done.exit_code == 2
    assert "Exactly one of --epsilon and --delta, --share and --error" in " ".join(
        done.output.split()
    )
    done = call(*COUNT)
    assert done.exit_code == 2
    assert "or --share S, or --error A" in " ".join(done.output.split())
    words = [word for word in COUNT if word not in ("--ledger", "people.ledger")]
    done = call(*words, "--share", "1/50", "--dry-run")
    assert done.exit_code == 2
    assert "--share needs a ledger" in " ".join(done.output.split())
