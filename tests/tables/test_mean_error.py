"""``mean(error=…)``: counts, then the mean: what they cost, whom they cover, how they resume."""

import math
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import leastnoise as ln
from leastnoise.core.gaussian_cost import GaussianCost
from leastnoise.errors import BudgetExceeded, InvalidParameter
from leastnoise.ledger import AllocatedPrivacy, SpendingLimit
from leastnoise.mechanism import Mechanism, half_width
from leastnoise.tables import Mean, ProtectedTable
from leastnoise.tables.answers import Statement
from leastnoise.tables.mean_release import estimate_cost
from leastnoise.tables.mean_target import MeanTarget, RowCount
from leastnoise.tables.release import PreparedRelease
from leastnoise.tables.target_error import find_size, size_of
from tests.support.confidence_intervals import FALSE_ALARM, clopper_pearson

LIMIT = ln.Privacy(1, "1e-6")
ROWS = 5000
COLUMNS = {
    "unit": list(range(ROWS)),
    "g": [("a", "b")[place % 2] for place in range(ROWS)],
    "x": [float(place % 101) for place in range(ROWS)],
}
BOUNDS = (0, 100)
ACCOUNTING = ["basic", "gaussian"]
ONE_SIGMA = Fraction(68, 100)


@pytest.fixture(params=ACCOUNTING)
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ln.Ledger]:
    with open_ledger(tmp_path, request.param) as opened:
        yield opened


@pytest.fixture
def people(ledger: ln.Ledger) -> ProtectedTable:
    return protected(ledger)


def open_ledger(folder: Path, accounting: str, limit: ln.Privacy = LIMIT) -> ln.Ledger:
    return ln.Ledger(folder / "people.ledger", limit=limit, accounting=accounting)


def protected(ledger: Any) -> ProtectedTable:
    return ln.protect(pa.table(COLUMNS), unit="unit", max_rows=1, name="people", ledger=ledger)


def spent(ledger: ln.Ledger) -> GaussianCost | ln.Privacy:
    """Return the sum of the charges: (μ², γ) in an allocation, else (ε, δ)."""
    return ledger.allocations[0].spent if ledger.accounting == "gaussian" else ledger.spent


def target(people: ProtectedTable, ledger: ln.Ledger, error: Any, **more: Any) -> MeanTarget:
    query = Mean("x", bounds=BOUNDS, **more)
    limit = SpendingLimit.of(ledger)
    return MeanTarget(people.source, people.unit, query, Fraction(error), limit, Fraction(1))


def count_with(aimed: MeanTarget, rows_of: Callable[[Mechanism], int]) -> tuple[RowCount, Fraction]:
    """Count rows as ``rows_of`` says for each noise; return the last count and the total size."""
    exponent, place, total = aimed.first_exponent, 1, Fraction(0)
    while True:
        mechanism, cost = aimed.plan_count(exponent)
        total += size_of(cost)
        count = RowCount(rows_of(mechanism), mechanism, exponent, place)
        following = aimed.find_next(count)
        if following is None:
            return count, total
        assert following > exponent
        exponent, place = following, place + 1


# ---------------------------------------------------------------------------------- what it costs


@pytest.mark.parametrize("accounting", ACCOUNTING)
@pytest.mark.parametrize(
    ("drift", "error", "most", "part"),
    [
        (0, 5, 2.6, 0.39),
        *(
            pytest.param(drift, *case, marks=pytest.mark.long)
            for drift in (-1, 0, 1)
            for case in ((5, 2.6, 0.39), (1, 1.6, 0.2))
        ),
    ],
)
def test_a_mean_costs_little_more_than_if_its_rows_were_known(
    tmp_path: Path, accounting: str, drift: int, error: int, most: float, part: float
) -> None:
    """Each count is off by ``drift`` times its 68% error. The former rule is the control."""
    with open_ledger(tmp_path, accounting, ln.Privacy(30, "1e-3")) as ledger:
        aimed = target(protected(ledger), ledger, error)
        wasted = []
        for rows in (50, 500, 5000, 500_000):
            known = find_size(aimed.aim(rows), Fraction(1, 1000))
            if known is None:
                assert rows == 50
                continue

            def shifted(mechanism: Mechanism, rows: int = rows) -> int:
                return rows + drift * int(half_width(mechanism, ONE_SIGMA))

            count, counted = count_with(aimed, shifted)
            size = aimed.find_mean(count)
            if rows == 50 and size is None:
                continue  # all of it would be needed
            assert size is not None
            assert counted + size <= Fraction(most) * known
            assert counted <= Fraction(part) * (counted + size)
            former = former_count_share(error, accounting) * aimed.scale.cap(Fraction(1))
            wasted.append(float((former + known) / known))
        assert wasted[-1] > wasted[-2] > 3 * most


def former_count_share(error: int, accounting: str) -> Fraction:
    """Return the share of a single count that is precise enough for the fewest possible rows."""
    ratio = Fraction(error, 50)
    part, wanted, power = Fraction(1, 10), 6 * ratio, 1
    if accounting == "gaussian":
        part, wanted, power = Fraction(1, 20), (8 * ratio) ** 2, 2
    while part / 2**power >= wanted:
        part /= 2**power
    return part


def test_a_dry_run_estimates_what_the_release_then_costs(
    people: ProtectedTable, ledger: ln.Ledger
) -> None:
    expected = estimate_cost(target(people, ledger, 1), ROWS)
    assert expected.mean is not None
    answer = people.mean("x", bounds=BOUNDS, error=1)
    # The noise of the counts would have to be off by many times its scale.
    ratio = size_of(answer.total_privacy) / (size_of(expected.counts) + size_of(expected.mean))
    assert Fraction(1, 4) < ratio < 4


# --------------------------------------------------------------------------------------- charges


def test_a_mean_is_charged_step_by_step_and_repeated_for_nothing(
    people: ProtectedTable, ledger: ln.Ledger
) -> None:
    answer = people.mean("x", bounds=BOUNDS, error=3, key="mean of x")
    keys = [one.key for one in ledger.releases]
    counts = ["mean of x: count", *(f"mean of x: count {place}" for place in range(2, len(keys)))]
    assert keys == [*counts, "mean of x"]
    assert 3 < len(keys) < 10
    now = spent(ledger)
    if isinstance(answer.total_privacy, AllocatedPrivacy):
        assert now == answer.total_privacy.cost
    else:
        assert now == answer.total_privacy
    again = people.mean("x", bounds=BOUNDS, error=3, key="mean of x")
    assert again.interval() == answer.interval()
    assert again.receipt is not None
    assert again.receipt.reused
    assert spent(ledger) == now
    fresh = people.mean("x", bounds=BOUNDS, error=3, key="mean of x", fresh=True)
    assert fresh.receipt is not None
    assert not fresh.receipt.reused
    assert [one.key for one in ledger.releases] == [*keys, "mean of x"]


@pytest.mark.parametrize("key", [None, "m"])
def test_a_mean_is_repeated_for_nothing_with_any_cap(
    people: ProtectedTable, ledger: ln.Ledger, key: str | None
) -> None:
    first = people.mean("x", bounds=BOUNDS, error=3, at_most="1/2", key=key)
    charged, rows = spent(ledger), len(ledger.releases)
    for at_most in ("1/3", "1/100000", 1, None):
        again = people.mean("x", bounds=BOUNDS, error=3, at_most=at_most, key=key)
        assert again.value == first.value
    people.count(share=1 - SpendingLimit.of(ledger).remaining_share + Fraction(1, 2))
    assert people.mean("x", bounds=BOUNDS, error=3, key=key).value == first.value
    assert len(ledger.releases) == rows + 1
    assert spent(ledger) != charged


@pytest.mark.parametrize("key", [None, "m"])
def test_a_mean_is_repeated_for_nothing_with_another_limit(tmp_path: Path, key: str | None) -> None:
    with open_ledger(tmp_path, "basic", ln.Privacy(3, "1e-6")) as ledger:
        people = protected(ledger)
        first = people.mean("x", bounds=BOUNDS, error=3, key=key)
        charged = ledger.spent
        ledger.set_limit(ln.Privacy(4, "1e-6"))
        assert people.mean("x", bounds=BOUNDS, error=3, key=key).value == first.value
        ledger.set_limit(ln.Privacy("0.001", "1e-6"))
        assert people.mean("x", bounds=BOUNDS, error=3, key=key).value == first.value
        assert ledger.spent == charged


def test_a_mean_that_was_stopped_by_its_cap_continues_with_a_larger_one(
    people: ProtectedTable, ledger: ln.Ledger
) -> None:
    """The cap is enough for some counts; what they are is chance."""
    with pytest.raises(BudgetExceeded, match=r"The charges? of its .*counts? stands?"):
        people.mean("x", bounds=BOUNDS, error=3, at_most="1/5000", key="m")
    begun = [(one.row, one.key) for one in ledger.releases]
    assert begun
    answer = people.mean("x", bounds=BOUNDS, error=3, at_most="1/2", key="m")
    made = [(one.row, one.key) for one in ledger.releases]
    assert made[: len(begun)] == begun
    assert len({key for _, key in made}) == len(made) > len(begun)
    total = answer.total_privacy
    now = spent(ledger)
    assert now == (total.cost if isinstance(total, AllocatedPrivacy) else total)


_RUN = """
import sys
import leastnoise as ln
from tests.tables.test_mean_error import BOUNDS, protected
ledger = ln.Ledger(sys.argv[1])
print(protected(ledger).mean("x", bounds=BOUNDS, error=3, key="m").value)
"""


@pytest.mark.long
@pytest.mark.parametrize("accounting", ACCOUNTING)
@pytest.mark.parametrize("after", [1, 2, 4])
def test_a_mean_that_was_killed_continues_and_is_charged_once(
    tmp_path: Path, accounting: str, after: int
) -> None:
    with open_ledger(tmp_path, accounting) as ledger:
        where = str(tmp_path / "people.ledger")
        process = subprocess.Popen([sys.executable, "-c", _RUN, where])
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            if len(ledger.releases) >= after:
                process.send_signal(signal.SIGKILL)
                break
        process.wait(60)
        begun = [(one.row, one.key) for one in ledger.releases]
        assert len(begun) >= after
        answer = protected(ledger).mean("x", bounds=BOUNDS, error=3, key="m")
        made = [(one.row, one.key) for one in ledger.releases]
        assert made[: len(begun)] == begun
        assert len({key for _, key in made}) == len(made)
        total = answer.total_privacy
        assert spent(ledger) == (total.cost if isinstance(total, AllocatedPrivacy) else total)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"key": 5}, "key.* must be a string"),
        ({"key": ""}, "key.* must be a string"),
        ({"key": True}, "key.* must be a string"),
        ({"key": "x" * 991}, "key= with ': count 12' must be a string of 1 to 1000"),
        ({"key": "k", "fresh": "yes"}, "fresh.* must be True or False"),
        ({"key": "taken"}, "key 'taken' was used with a different query"),
        ({"key": "taken", "fresh": True}, "key 'taken' was used with a different query"),
        ({"key": "m"}, "key 'm: count 3' was used with a different query"),
    ],
)
def test_a_mean_with_invalid_words_is_rejected_before_its_first_count(
    people: ProtectedTable, ledger: ln.Ledger, given: dict[str, Any], problem: str
) -> None:
    for key in ("taken", "m: count 3"):
        people.count(share="1/1000", key=key)
    before = ledger.head
    with pytest.raises(InvalidParameter, match=problem):
        people.mean("x", bounds=BOUNDS, error=3, **given)
    assert ledger.head == before


def test_a_mean_with_another_error_is_rejected_before_another_count(
    people: ProtectedTable, ledger: ln.Ledger
) -> None:
    people.mean("x", bounds=BOUNDS, error=10, key="m")
    before = ledger.head
    with pytest.raises(InvalidParameter, match="was used with a different"):
        people.mean("x", bounds=BOUNDS, error=1, key="m")
    assert ledger.head == before


def test_counts_are_shared_by_means_with_similar_errors(
    people: ProtectedTable, ledger: ln.Ledger
) -> None:
    people.mean("x", bounds=BOUNDS, error=3)
    rows = len(ledger.releases)
    people.mean("x", bounds=BOUNDS, error="2.9")
    assert len(ledger.releases) < rows + 3


# ---------------------------------------------------------------------------- what is not possible


def test_a_mean_that_cannot_be_so_accurate_says_that_its_counts_were_charged(
    people: ProtectedTable, ledger: ln.Ledger
) -> None:
    """It would need more than ten times the budget; the counts cost a small part of it."""
    before = SpendingLimit.of(ledger).remaining_share
    needs = r"mean of x with an error of ± 0\.02.*The charges? of its .* stands?"
    with pytest.raises(BudgetExceeded, match=needs):
        people.mean("x", bounds=BOUNDS, error="0.02", at_most="1/10")
    assert all(one.key.startswith("count of rows with x #") for one in ledger.releases)
    assert before - SpendingLimit.of(ledger).remaining_share < Fraction(1, 20)
    with pytest.raises(BudgetExceeded, match=r"first count .* Nothing was charged or released"):
        people.mean("x", bounds=BOUNDS, error="0.3", at_most="1e-10")


@pytest.mark.parametrize("at_most", ["1/4", "1/10"])
def test_the_error_that_is_named_for_a_mean_is_possible(
    people: ProtectedTable, ledger: ln.Ledger, at_most: str
) -> None:
    with pytest.raises(BudgetExceeded, match=r"an error of ± .* is possible: write error=") as told:
        people.mean("x", bounds=BOUNDS, error="0.02", at_most=at_most)
    possible = told.value.fix.rsplit("error=", 1)[1].rstrip(".")
    answer = people.mean("x", bounds=BOUNDS, error=possible, at_most=at_most)
    low, high = answer.interval()
    assert high - low < 20


def test_an_empty_group_stops_early(people: ProtectedTable, ledger: ln.Ledger) -> None:
    with pytest.raises(BudgetExceeded, match="rows are too few for the mean of x by g with an"):
        people.mean("x", bounds=BOUNDS, by="g", groups=["a", "zz"], max_groups=1, error=5)
    assert SpendingLimit.of(ledger).remaining_share > Fraction(1, 2)


def test_an_error_below_the_rounding_of_a_mean_is_rejected(people: ProtectedTable) -> None:
    with pytest.raises(InvalidParameter, match="smaller than the step to which values are rounded"):
        people.mean("x", bounds=BOUNDS, error="1e-5")


# -------------------------------------------------------------------------------------- intervals


def test_a_mean_by_group_reaches_its_error_in_every_group(
    people: ProtectedTable, ledger: ln.Ledger
) -> None:
    means = people.mean("x", bounds=BOUNDS, by="g", groups=["a", "b"], max_groups=1, error=5)
    aimed = target(people, ledger, 5, by="g", groups=["a", "b"], max_groups=1)
    rows = min(int(answer.count.value) for _, answer in means)
    error = aimed.find_error(means.privacy, rows)
    assert error is not None
    assert error <= 6  # the own counts are not far below the earlier ones: by 600 of 2500
    with pytest.raises(InvalidParameter, match="error= needs public groups for a mean"):
        people.mean("x", bounds=BOUNDS, by="g", max_groups=1, error=5)


def sample(second: PreparedRelease, aimed: MeanTarget, trials: int) -> tuple[Fraction, list[Any]]:
    """Return the true mean, and so many answers of a prepared mean."""
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
    mechanisms = [mechanism for _, mechanism in numbers]
    return truth, [*planned.query.answers([*zip(*columns, strict=True)], mechanisms, statement)]


@pytest.mark.parametrize("accounting", ACCOUNTING)
@pytest.mark.parametrize("drift", [-2, 0, 2])
def test_a_mean_covers_the_truth_and_is_narrow_for_every_earlier_count(
    tmp_path: Path, accounting: str, drift: int
) -> None:
    """Counts are off by ``drift`` times their 68% error; then 1000 means are sampled."""
    trials, error = 1000, Fraction(3)
    with open_ledger(tmp_path, accounting) as ledger:
        aimed = target(protected(ledger), ledger, error)
        count, _ = count_with(aimed, lambda one: ROWS + drift * int(half_width(one, ONE_SIGMA)))
        size = aimed.find_mean(count)
        assert size is not None
        second = aimed.prepare_mean(size, aimed.scale.amount(size))
        truth, answers = sample(second, aimed, trials)
    intervals = [answer.interval() for answer in answers]
    covered = sum(low <= truth <= high for low, high in intervals)
    assert clopper_pearson(covered, trials, FALSE_ALARM)[1] >= 0.95
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
        aimed = target(protected(ledger), ledger, 3)
        count, _ = count_with(aimed, lambda _: ROWS)
        size = aimed.find_mean(count)
        assert size is not None
        second = aimed.prepare_mean(size, aimed.scale.amount(size))
        ((planned, numbers),) = second.queries
        mechanisms = [mechanism for _, mechanism in numbers]
        own, adding = mechanisms
        assert isinstance(own, Mechanism)
        assert isinstance(adding, Mechanism)
        assert half_width(count.mechanism, Fraction(1249, 1250)) > Fraction(ROWS, 20)
        fewest = ROWS - half_width(own, Fraction(99, 100)) - count.error
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
        assert math.isfinite(widest)
