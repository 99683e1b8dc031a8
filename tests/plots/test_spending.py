"""The picture of a budget."""

import itertools
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import leastnoise as ln
from leastnoise import plots
from leastnoise.errors import InvalidParameter
from leastnoise.ledger import rows as ledger_rows
from leastnoise.ledger.entries import Spending
from leastnoise.plots.spending import read_histories, thin_out
from tests.support.ledger_files import described

DAY = 86_400
Clock = Callable[[float], None]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock of which the test turns the hands, in seconds."""
    now = [1_800_000_000.0]

    class Clocked(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> "Clocked":
            return cls.fromtimestamp(now[0], tz)

    monkeypatch.setattr(ledger_rows, "datetime", Clocked)

    def turn(seconds: float) -> None:
        now[0] += seconds

    return turn


@pytest.fixture
def ledger(tmp_path: Path, clock: Clock) -> Iterator[ln.Ledger]:
    with ln.Ledger(tmp_path / "a.ledger", limit=ln.Privacy(1, "1e-6")) as found:
        yield found


def charge(ledger: ln.Ledger, epsilon: str, delta: str = "0") -> None:
    """Charge without drawing: a picture needs no answers."""
    ledger.charge(Spending(ln.Privacy(epsilon, delta), described(), {}))


def curves(chart: Any) -> list[dict[str, list[tuple[float, float]]]]:
    """Return the points of each curve of each panel."""
    drawn = chart.to_dict()
    found = []
    for panel in drawn.get("vconcat", [drawn]):
        values = panel["data"]["values"]
        assert [row["place"] for row in values if row["curve"] == "spent"] == sorted(
            row["place"] for row in values if row["curve"] == "spent"
        )
        found.append(
            {
                curve: [(row["time"], row["value"]) for row in values if row["curve"] == curve]
                for curve in ("limit", "spent")
            }
        )
    return found


def test_the_steps_are_the_sums_at_their_times(ledger: ln.Ledger, clock: Clock) -> None:
    for epsilon, delta in (("0.1", "1e-7"), ("0.2", "0"), ("0.1", "4e-7")):
        clock(DAY)
        charge(ledger, epsilon, delta)
    clock(DAY)
    ledger.set_limit(ln.Privacy("0.5", "1e-6"))
    epsilons, deltas = curves(plots.budget(ledger))
    begun = epsilons["spent"][0][0]
    days = [((time - begun) / 1000 / DAY, value) for time, value in epsilons["spent"][:-1]]
    assert days == [(0, 0), (1, 0.1), (2, 0.3), (3, 0.4)]
    assert [value for _, value in deltas["spent"]] == [0, 1e-7, 5e-7, 5e-7]
    moved = [((time - begun) / 1000 / DAY, value) for time, value in epsilons["limit"][:-1]]
    assert moved == [(0, 1), (4, 0.5)]
    ends = {curve[-1][0] for panel in (epsilons, deltas) for curve in panel.values()}
    assert len(ends) == 1
    assert ends.pop() > begun + 4 * DAY * 1000
    title = plots.budget(ledger).to_dict()["vconcat"][0]["title"]
    assert title["text"] == "ε spent of 'data'"
    assert title["subtitle"] == ["0.4 of 0.5 in 3 releases"]


def test_an_empty_ledger_shows_its_limit(ledger: ln.Ledger) -> None:
    chart = plots.budget(ledger)
    for panel, limit in zip(curves(chart), (1, 1e-6), strict=True):
        assert [value for _, value in panel["limit"]] == [limit, limit]
        assert [value for _, value in panel["spent"]] == [0, 0]
    assert chart.to_dict()["vconcat"][0]["title"]["subtitle"] == ["0 of 1: no releases yet"]


def test_only_what_may_be_spent_is_drawn_and_every_data_set(
    ledger: ln.Ledger, clock: Clock
) -> None:
    for name, limit in (("pure", ln.Privacy(2)), ("flat", ln.Privacy(delta="0.1"))):
        with ln.Ledger(ledger.where, limit=limit, dataset=name, analyst="ann") as other:
            other.set_limit(ln.Privacy("0.01"), analyst="ann")  # no line of the picture
    titles = [panel["title"]["text"] for panel in plots.budget(ledger).to_dict()["vconcat"]]
    assert titles == [
        "ε spent of 'data'",
        "δ spent of 'data'",
        "δ spent of 'flat'",
        "ε spent of 'pure'",
    ]
    (pure,) = curves(plots.budget(ledger, dataset="pure"))
    assert {value for _, value in pure["limit"]} == {2}
    with pytest.raises(
        InvalidParameter, match=r"dataset must be one of 'data', 'flat', 'pure', got 'x'"
    ):
        plots.budget(ledger, dataset="x")


def test_a_clock_that_is_set_back_does_not_turn_the_steps_back(
    ledger: ln.Ledger, clock: Clock
) -> None:
    for seconds in (DAY, -3 * DAY, DAY, 3 * DAY):
        clock(seconds)
        charge(ledger, "0.1")
    times = [moment.time for moment in read_histories(ledger.rows())["data"]]
    assert times == sorted(times)
    # The first three are at one time, where only the first, the lowest and the highest are seen.
    spent = [value for _, value in curves(plots.budget(ledger))[0]["spent"]]
    assert spent == [0, 0.1, 0.3, 0.4, 0.4]


def test_a_long_ledger_is_drawn_with_points_that_can_be_seen(
    ledger: ln.Ledger, clock: Clock
) -> None:
    rows = list(ledger.rows())
    head, total = rows[-1].head, 10_000
    body: dict[str, Any] = {"dataset": "data", "analyst": None, "epsilon": "1/20000", "delta": "0"}
    body |= {"mechanisms": ["digest"], "asked": {"answer": "one"}}
    for place in range(total):
        clock(60 + 7 * (place % 13))
        rows.append(ledger_rows.Row.after(head, ledger_rows.CHARGE, f"{place}", body))
        head = rows[-1].head

    class Long:
        @staticmethod
        def rows() -> Iterator[ledger_rows.Row]:
            return iter(rows)

    chart = plots.budget(Long)  # type: ignore[arg-type]
    epsilons, _ = curves(chart)
    assert len(epsilons["spent"]) < 2100
    assert len(epsilons["limit"]) == 2
    truth = {
        round(datetime.fromisoformat(row.at).timestamp() * 1000): place / 20000
        for place, row in enumerate(rows[1:])
    }
    for time, value in epsilons["spent"][:-1]:
        assert value == pytest.approx(truth[int(time)], abs=1e-12)
    assert epsilons["spent"][-1][1] == 0.5
    widest = max(b[0] - a[0] for a, b in itertools.pairwise(epsilons["spent"][:-1]))
    whole = epsilons["spent"][-2][0] - epsilons["spent"][0][0]
    assert widest <= whole / 1000 + 2 * 151_000


@given(
    st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 50)), min_size=1, max_size=200),
    st.integers(1, 40),
)
def test_thinning_keeps_true_steps_and_all_that_can_be_seen(
    steps: list[tuple[int, int]], columns: int
) -> None:
    steps = sorted(steps, key=lambda step: step[0])
    exact = [(time, Fraction(height)) for time, height in steps]
    kept = list(thin_out(exact, columns))
    rest = iter(exact)
    assert all(step in rest for step in kept)  # some of them, in their order
    begun, width = steps[0][0], max(1, steps[-1][0] - steps[0][0])

    def parted(some: list[tuple[int, Fraction]]) -> dict[int, list[Fraction]]:
        found: dict[int, list[Fraction]] = {}
        for time, height in some:
            found.setdefault((time - begun) * columns // width, []).append(height)
        return found

    true, drawn = parted(exact), parted(kept)
    assert list(true) == list(drawn)
    for column, heights in true.items():
        shown = drawn[column]
        assert len(shown) <= 4
        assert (shown[0], shown[-1]) == (heights[0], heights[-1])
        assert (min(shown), max(shown)) == (min(heights), max(heights))


def test_the_time_is_read_in_utc(ledger: ln.Ledger, clock: Clock) -> None:
    clock(DAY)
    charge(ledger, "0.1")
    (axis,) = {
        panel["layer"][0]["encoding"]["x"]["title"]
        for panel in plots.budget(ledger).to_dict()["vconcat"]
    }
    day = datetime.fromtimestamp(1_800_000_000, UTC).date()
    assert axis == f"time (UTC), from {day}"


def test_the_limit_is_drawn_over_what_was_spent(ledger: ln.Ledger) -> None:
    """Where all is spent the two lines are one, and the dashes of the limit are to be seen."""
    charge(ledger, "1")
    for panel in plots.budget(ledger).to_dict()["vconcat"]:
        *_, spent, limit = panel["layer"]
        assert (spent["mark"]["type"], limit["mark"]["type"]) == ("line", "line")
        (of_spent,), (of_limit,) = spent["transform"], limit["transform"]
        assert "'spent'" in of_spent["filter"]
        assert "'limit'" in of_limit["filter"]


def test_what_may_never_be_spent_and_never_was_has_no_picture(
    ledger: ln.Ledger, clock: Clock
) -> None:
    """Not at δ = 0 all along; but where a limit was, or something spent, it stays."""
    with ln.Ledger(ledger.where, limit=ln.Privacy(1), dataset="pure") as pure:
        charge(pure, "0.5")
        assert len(curves(plots.budget(pure, dataset="pure"))) == 1
        pure.set_limit(ln.Privacy(1, "1e-6"))
        assert len(curves(plots.budget(pure, dataset="pure"))) == 2
        pure.set_limit(ln.Privacy(1))
        assert len(curves(plots.budget(pure, dataset="pure"))) == 2
