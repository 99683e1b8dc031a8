"""What leaves: true integers and the noise that was promised, in the groups that may be shown."""

import math
import os
from collections import Counter
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pytest
from scipy import stats

import leastnoise as ln
from leastnoise.core.joint_release import JointRows
from leastnoise.core.release import Releaser
from leastnoise.tables import Count, GroupedAnswers, Mean, ProtectedTable, Quantile, Sum
from tests.support.confidence_intervals import FALSE_ALARM
from tests.support.postgres_servers import Server
from tests.support.processes import apart, forked, waited

ENDED = ln.Privacy(1, "1e-3")  # its noise has a largest size


def table(*, max_rows: int | None = 1, **columns: Any) -> ProtectedTable:
    """Protect a table of these columns; if there is one called unit, it names units."""
    unit = "unit" if "unit" in columns else None
    rows = max_rows if unit else None
    return ln.protect(pa.table(columns), unit=unit, max_rows=rows, ledger=ln.UNRECORDED)


def grouped(
    people: ProtectedTable, question: Any, privacy: ln.Privacy = ENDED
) -> GroupedAnswers[Any]:
    (answer,) = people.ask([question], privacy=privacy)
    assert isinstance(answer, GroupedAnswers)
    return answer


def errors(answer: GroupedAnswers[Any], true: int) -> list[int]:
    """Return how far integers are from the one that all of them should be."""
    return [int(one.value) - true for one in answer.answers]


# --------------------------------------------------------------------------------- how large it is


def test_counts_have_the_geometric_noise_that_is_least_for_them() -> None:
    """P(X = k) = (1 − a)/(1 + a)·aᵏ, a = e⁻ᵋ (Ghosh, Roughgarden and Sundararajan 2012)."""
    groups = 4000
    people = table(unit=list(range(3 * groups)), g=[i % groups for i in range(3 * groups)])
    drawn = errors(
        grouped(people, Count(by="g", max_groups=1, groups=range(groups)), ln.Privacy(1)), 3
    )
    a, most = math.exp(-1), 4
    distribution = {k: (1 - a) / (1 + a) * a ** abs(k) for k in range(-most, most + 1)}
    distribution |= dict.fromkeys((-most - 1, most + 1), a ** (most + 1) / (1 + a))
    seen = Counter(min(max(k, -most - 1), most + 1) for k in drawn)
    observed, wanted = [seen[k] for k in distribution], [groups * p for p in distribution.values()]
    assert min(wanted) > 5
    assert stats.chisquare(observed, wanted).pvalue > FALSE_ALARM
    # The control: of noise for ε = 1.25 the same test tells the difference.
    b = math.exp(-1.25)
    other = grouped(people, Count(by="g", max_groups=1, groups=range(groups)), ln.Privacy("1.25"))
    seen = Counter(min(max(k, -most - 1), most + 1) for k in errors(other, 3))
    assert b < a
    assert stats.chisquare([seen[k] for k in distribution], wanted).pvalue < FALSE_ALARM


@pytest.mark.parametrize(
    "question",
    [
        Count(by="g", max_groups=1, groups=range(300)),
        Sum("x", bounds=(-1, 3), by="g", max_groups=1, groups=range(300)),
        Sum("i", bounds=(-1, 3), by="g", max_groups=1, groups=range(300)),
    ],
    ids=lambda question: str(question.title),
)
def test_intervals_hold_the_truth_as_often_as_they_say_and_bounds_always(question: Any) -> None:
    groups = 300
    people = table(
        unit=list(range(2 * groups)),
        g=[i % groups for i in range(2 * groups)],
        x=[0.75] * (2 * groups),
        i=[1] * (2 * groups),
    )
    truth = 1.5 if getattr(question, "column", "") == "x" else 2
    answer = grouped(people, question)
    assert all(abs(one.value - truth) <= one.max_error < math.inf for one in answer.answers)
    for confidence in (0.5, 0.95):
        ends = [one.interval(confidence) for one in answer.answers]
        held = sum(low <= truth <= high for low, high in ends)
        assert stats.binom.cdf(held, groups, confidence) > FALSE_ALARM
    assert len({one.value for one in answer.answers}) > 1


def test_means_and_quantiles_are_as_near_as_they_say() -> None:
    size = 2000
    people = table(unit=list(range(size)), x=[i * 10 / size for i in range(size)])
    mean = people.mean("x", bounds=(0, 10), privacy=ENDED)
    truth = sum(i * 10 / size for i in range(size)) / size
    step = 10 / (1 << 20)  # to which every value was rounded
    assert abs(float(mean.value) - truth) <= float(mean.max_error) + step
    assert float(mean.max_error) < 1
    low, high = mean.interval(1 - FALSE_ALARM)
    assert float(low) - step <= truth <= float(high) + step
    quarter = people.quantile("x", "0.25", bounds=(0, 10), bins=16, privacy=ENDED)
    below = [sum(i * 10 / size < float(edge) for i in range(size)) for edge in quarter.bin_bounds]
    off = quarter.rank_error(1 - FALSE_ALARM)
    assert below[0] <= size / 4 + off
    assert below[1] >= size / 4 - off
    assert off < size / 4


# -------------------------------------------------------------------------- which groups are shown


def crowd(max_rows: int) -> dict[str, Any]:
    """Return a table of a crowd in "many", and of one unit with all its rows in "alone"."""
    crowded = [("many", unit) for unit in range(400) for _ in range(max_rows + 1)]
    rows = [*crowded, *[("alone", 999)] * (3 * max_rows + 5)]
    return {
        "g": [group for group, _ in rows],
        "unit": [unit for _, unit in rows],
        "x": [9.0] * len(rows),
    }


DISCOVERING = [
    Count(by="g", max_groups=1),
    Sum("x", bounds=(0, 10), by="g", max_groups=1),
    Mean("x", bounds=(0, 10), by="g", max_groups=1),
    Quantile("x", "0.5", bounds=(0, 10), bins=4, by="g", max_groups=1),
]


@pytest.mark.parametrize(
    ("question", "max_rows"),
    [(DISCOVERING[0], 3), *((question, 1) for question in DISCOVERING)],
    ids=lambda given: str(getattr(given, "title", given)),
)
def test_a_group_of_one_unit_is_never_shown_not_even_by_the_largest_noise(
    question: Any, max_rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = table(max_rows=max_rows, **crowd(max_rows))
    assert list(grouped(people, question).keys) == [("many",)]
    beyond = 0

    def largest(self: Releaser, numbers: Any, step: Any, tape: Any) -> Any:
        """Add the largest noise there is to integers, as luck could have it."""
        radius = self.noise.radius if self.noise.step == 1 else 0
        more = beyond + (int(radius) if radius != math.inf else 0)
        return [self.grid.index(*(one * step).as_integer_ratio()) + more for one in numbers]

    def largest_of_joint(self: JointRows, place: int, numbers: Any, step: Any) -> Any:
        noise = self._releaser.noise
        radius = noise.marginal(place).radius if noise.steps[place] == 1 else 0
        grid = self._releaser.grids[place]
        more = beyond + int(radius)
        return [grid.index(*(one * step).as_integer_ratio()) + more for one in numbers]

    monkeypatch.setattr(Releaser, "add_noise_to_steps", largest)
    monkeypatch.setattr(JointRows, "add_noise_to_steps", largest_of_joint)
    assert list(grouped(people, question).keys) == [("many",)]
    # The control: by noise that is larger by one, the group of one unit would be shown.
    beyond = 1
    assert list(grouped(people, question).keys) == [("alone",), ("many",)]


def test_discovery_needs_noise_that_ends_and_says_so_before_anything_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    people = table(unit=[1], g=["a"])
    monkeypatch.setattr("leastnoise.tables.execute.fetch", None)
    with pytest.raises(ln.errors.InvalidParameter, match="requires δ > 0"):
        people.count(by="g", max_groups=1, privacy=ln.Privacy(1))


def test_given_groups_are_answered_all_and_no_others_in_order() -> None:
    people = table(unit=list(range(60)), g=["b", "a", "unasked"] * 20)
    keys = ["z", "b", "ä", "a", "B"]
    answer = grouped(people, Count(by="g", max_groups=1, groups=keys))
    assert [key for key, _ in answer] == sorted(keys)
    truth = {"a": 20, "b": 20}
    for key, one in answer:
        assert abs(one.value - truth.get(str(key), 0)) <= one.max_error


def test_missing_groups_have_noise_like_any_other() -> None:
    groups = 500
    people = table(unit=[1], g=[-1])
    drawn = errors(
        grouped(people, Count(by="g", max_groups=1, groups=range(groups)), ln.Privacy("0.5")), 0
    )
    a = math.exp(-0.5)
    zeros, share = sum(k == 0 for k in drawn), (1 - a) / (1 + a)
    # Two-sided, each side at half the rate.
    assert FALSE_ALARM / 2 < stats.binom.cdf(zeros, groups, share) < 1 - FALSE_ALARM / 2
    assert stats.binomtest(sum(k > 0 for k in drawn), groups - zeros).pvalue > FALSE_ALARM


def test_a_group_that_an_engine_returns_twice_is_refused_if_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two names of an engine's may be one to Python: one of their counts would be lost."""
    people = table(unit=[1], g=["a"])
    rows = [("a", 5), ("b", 7), ("b", 8)]
    monkeypatch.setattr("leastnoise.tables.execute.fetch", lambda *_: rows)
    answer = grouped(people, Count(by="g", max_groups=1, groups=["a", "c"]))
    assert list(answer.keys) == [("a",), ("c",)]
    for question in (Count(by="g", max_groups=1, groups=["a", "b"]), Count(by="g", max_groups=1)):
        with pytest.raises(ln.errors.QueryFailed, match="The engine returned a group twice"):
            people.ask([question], privacy=ENDED)


def test_discovered_groups_are_in_order_whatever_that_of_the_rows() -> None:
    names = ["c", "a", "ö", "B", "b"]
    people = table(unit=list(range(2000)), g=[names[i % 5] for i in range(2000)])
    assert [key for key, _ in grouped(people, Count(by="g", max_groups=1))] == sorted(names)


# -------------------------------------------------------------------------------------- workers


def _said(people: ProtectedTable, pipe: int) -> None:
    """Write 40 numbers of wide noise to a pipe."""
    answer = grouped(people, Count(by="g", max_groups=1, groups=range(40)), ln.Privacy("0.0001"))
    os.write(pipe, (" ".join(str(one.value) for one in answer.answers) + "\n").encode())


def _people() -> ProtectedTable:
    return table(unit=[1], g=[-1])


def _fork_four(answered_before: bool) -> tuple[list[int], list[list[str]]]:
    """Return the exit codes of four forked workers, and the numbers of each process."""
    people = _people()
    reading, writing = os.pipe()
    if answered_before:
        _said(people, writing)
    codes = waited([forked(lambda: _said(_people(), writing)) for _ in range(4)])
    _said(people, writing)
    os.close(writing)
    with os.fdopen(reading) as lines:
        return codes, [line.split() for line in lines]


@pytest.mark.parametrize("answered_before", [False, True])
def test_forked_workers_never_repeat_noise(answered_before: bool) -> None:
    """Each of 40 numbers has noise of about 10⁴: that two workers agree has a rate below 1e-100.

    In an interpreter of its own: libraries that other tests have loaded can make a forked process
    crash.
    """
    codes, said = apart(_fork_four, answered_before)
    assert codes == [0] * 4
    assert len(said) == 5 + answered_before
    for place, line in enumerate(said):
        # Fewer than 10 of 40 numbers are the same, by chance.
        assert all(
            sum(a == b for a, b in zip(line, other, strict=True)) < 10 for other in said[:place]
        )


def _fork_two(source: str, table: str | None, path: str) -> tuple[list[int], ln.Privacy]:
    """Return the exit codes of two workers that query the table of another process."""
    ledger = ln.Ledger(path, limit=ENDED)
    people = ln.protect(source, table=table, unit="unit", max_rows=1, ledger=ledger)

    def work() -> None:
        with pytest.raises(ln.errors.InvalidParameter, match="after a fork"):
            people.count(privacy=ENDED)

    codes = waited([forked(work) for _ in range(2)])
    assert isinstance(people.ledger, ln.Ledger)
    spent = people.ledger.spent
    assert abs(people.count(privacy=ENDED).value - 1) < 100
    return codes, spent


def test_a_connection_is_not_shared_with_forked_workers(postgres: Server, tmp_path: Path) -> None:
    """Two processes on one socket could be given the figures of one another's questions."""
    address = postgres.database()
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CREATE TABLE people AS SELECT 1 AS unit")
    codes, spent = apart(_fork_two, address, "people", str(tmp_path / "people.ledger"))
    assert codes == [0, 0]
    assert spent == ln.Privacy(0, 0)


def test_a_file_is_not_queried_by_forked_workers(tmp_path: Path) -> None:
    """The threads of an embedded engine are not in a forked process: a query could wait forever."""
    (tmp_path / "people.csv").write_text("unit\n1\n")
    codes, spent = apart(
        _fork_two, str(tmp_path / "people.csv"), None, str(tmp_path / "people.ledger")
    )
    assert codes == [0, 0]
    assert spent == ln.Privacy(0, 0)
