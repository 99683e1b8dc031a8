"""The figures of answers: every group where its figures are, with what the answer says."""

from datetime import date, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import leastnoise as ln
from leastnoise import plots
from leastnoise.errors import InvalidParameter
from leastnoise.mechanism import Answer
from leastnoise.tables import TableNumber, census
from leastnoise.tables.answers import Statement, Subject
from tests.tables.test_answers import COUNT, ENDLESS, grouped, mean, quantile

DAY = 86_400_000


def drawn(result: Any) -> dict[str, Any]:
    """Return the one panel of a figure as Vega-Lite has it."""
    found: dict[str, Any] = plots.answer(result).to_dict()
    (panel,) = found["vconcat"]
    return {"data": found.get("data"), **panel, "heading": " ".join(found["title"]["text"])}


def rows(panel: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = panel["data"]["values"]
    return found


def marks(panel: dict[str, Any]) -> list[str]:
    return [layer["mark"]["type"] for layer in panel["layer"]]


def caption(panel: dict[str, Any]) -> list[str]:
    lines: list[str] = panel["title"]["text"]
    return lines


def test_counts_of_categories_are_bars_from_zero_with_their_intervals() -> None:
    panel = drawn(grouped([Answer(9, COUNT), Answer(-4, COUNT)], ["n", "s"]))
    assert [(row["group"], row["value"], row["low"], row["high"]) for row in rows(panel)] == [
        ("n", 9, 7, 11),
        ("s", -4, -6, -2),
    ]
    assert marks(panel) == ["bar", "rule", "tick", "tick"]
    bars, rule, low, high = (layer["encoding"] for layer in panel["layer"])
    assert bars["x"]["scale"] == {"zero": True}
    assert (rule["x"]["field"], rule["x2"]["field"]) == ("low", "high")
    assert (low["x"]["field"], high["x"]["field"]) == ("low", "high")
    assert panel["heading"] == "count by region"
    assert caption(panel)[:2] == [
        "Error bars: 95% interval of each group, taken alone",
        "Max error: 2 in every group",
    ]


def test_means_are_dots_and_state_what_they_are_of() -> None:
    subject = Subject(
        title="mean of income by sex", statistic="mean", bounds=(Fraction(-3), Fraction(7))
    )
    panel = drawn(grouped([mean(30, 12), mean(5, 3)], ["f", "m"], about=subject))
    assert marks(panel) == ["point", "rule", "tick", "tick"]
    assert panel["layer"][0]["encoding"]["x"]["scale"] == {"zero": False}
    assert panel["layer"][0]["encoding"]["x"]["title"] == "mean"
    assert panel["heading"] == "mean of income by sex, clipped to [-3, 7]"
    worst = max(mean(30, 12).max_error, mean(5, 3).max_error)
    (line,) = [line for line in caption(panel) if line.startswith("Max error: at most ")]
    assert Fraction(line.split()[4]) >= worst


def test_a_quantile_shows_its_bin_and_no_interval_that_it_does_not_have() -> None:
    panel = drawn(grouped([quantile(3)], ["n"]))
    assert [(row["value"], row["low"], row["high"]) for row in rows(panel)] == [(4.375, 3.75, 5.0)]
    assert caption(panel)[:2] == [
        "Bars: the selected bin, not an error",
        "Rank error: at most 4 rows in every group (95% confidence)",
    ]
    wide = drawn(grouped([quantile(3, ends=(2, 7), confidence=Fraction(9, 10))], ["n"]))
    assert caption(wide)[0] == "Error bars: 90% interval of each group, taken alone"
    assert [(row["low"], row["high"]) for row in rows(wide)] == [(2.5, 10.0)]


def test_bounds_are_a_line_and_advice_about_stored_answers_is_not_drawn() -> None:
    ledger = ln.testing.NotPrivateLedger(seed=1)
    people = ln.protect(census(), unit="person_id", max_rows=1, ledger=ledger)
    for _ in range(2):
        found = people.estimate_bounds("age", privacy=ln.Privacy(1))
    assert found.receipt is not None
    assert found.receipt.reused
    panel = drawn(found)
    assert marks(panel) == ["rule", "tick", "tick"]
    ends = [layer["encoding"]["x"]["field"] for layer in panel["layer"]]
    assert ends == ["low", "low", "high"]
    assert panel["layer"][0]["encoding"]["x2"]["field"] == "high"
    ((low, high),) = [(row["low"], row["high"]) for row in rows(panel)]
    assert (Fraction(low), Fraction(high)) == found.bounds
    assert caption(panel)[0] == "Bars: from the lower to the upper bound"
    assert "pass fresh=True" in str(found)
    assert not any("fresh=True" in line for line in caption(panel))


@pytest.mark.parametrize(
    ("keys", "places"),
    [
        ([3, 4, 7, 8], [3, 4, 7, 8]),
        ([date(1970, 1, day) for day in (2, 3, 6, 7)], [DAY, 2 * DAY, 5 * DAY, 6 * DAY]),
        (
            [datetime.fromisoformat(f"1970-01-01T0{hour}:00") for hour in (1, 2, 5, 6)],
            [hour * 3_600_000 for hour in (1, 2, 5, 6)],
        ),
    ],
    ids=["integers", "dates", "timestamps"],
)
def test_ordered_groups_are_a_line_that_stops_where_groups_are_missing(
    keys: list[Any], places: list[float]
) -> None:
    panel = drawn(grouped([Answer(place, COUNT) for place in range(4)], keys))
    assert marks(panel) == ["line", "point", "rule", "tick", "tick"]
    assert [row["place"] for row in rows(panel)] == places
    assert [row["part"] for row in rows(panel)] == [1, 1, 2, 2]
    assert not any(row["alone"] for row in rows(panel))
    kind = panel["layer"][0]["encoding"]["x"]
    assert kind["type"] == ("quantitative" if keys[0] == 3 else "temporal")
    assert (kind["scale"].get("type") == "utc") is (keys[0] != 3)  # no time zone moves a day


def test_months_are_one_line() -> None:
    months = [date(2023 + month // 12, 1 + month % 12, 1) for month in range(18)]
    panel = drawn(grouped([Answer(5, COUNT)] * 18, months))
    assert {row["part"] for row in rows(panel)} == {1}


def test_a_long_line_has_a_band_and_points_that_are_alone() -> None:
    keys = [*range(70), 80]
    panel = drawn(grouped([Answer(5, COUNT)] * 71, keys))
    assert marks(panel)[:3] == ["line", "area", "point"]
    assert caption(panel)[0].startswith("Band: 95% interval")
    assert [row["place"] for row in rows(panel) if row["alone"]] == [80]
    assert all("alone" in str(layer["transform"]) for layer in panel["layer"][2:])


@pytest.mark.parametrize("keys", [[False, True], [2**60, 2**61], [("a", 1), ("a", 2)]])
def test_other_groups_are_categories(keys: list[Any]) -> None:
    panel = drawn(grouped([Answer(5, COUNT)] * 2, keys))
    assert marks(panel)[0] == "bar"
    names = [", ".join(map(str, key)) if isinstance(key, tuple) else str(key) for key in keys]
    assert [row["group"] for row in rows(panel)] == names


def test_a_histogram_has_upright_bars_in_the_order_of_its_ranges() -> None:
    ranges = ["[0, 5)", "[5, 10)", "[10, 20]"]
    panel = drawn(grouped([Answer(5, COUNT)] * 3, ranges, in_order=False, title="histogram of x"))
    assert [row["group"] for row in rows(panel)] == ranges
    assert panel["layer"][0]["encoding"]["y"]["field"] == "value"
    assert panel["layer"][0]["encoding"]["x"]["sort"] is None


def test_long_groups_stay_different_and_nothing_unprintable_is_drawn() -> None:
    keys = ["x" * 100 + end + "y" * 100 for end in "ab"] + ["red\x1b[31m", "z" * 60 + "1"]
    panel = drawn(grouped([Answer(5, COUNT)] * 4, sorted(keys)))
    names = [row["group"] for row in rows(panel)]
    assert len(set(names)) == 4
    assert "red\\x1b[31m" in names
    assert "z" * 22 + "…" + "z" * 21 + "1" in names
    assert max(map(len, names)) <= 46


def test_more_groups_than_a_figure_has_are_announced() -> None:
    many = grouped([Answer(5, COUNT)] * 101, [f"{place:03d}" for place in range(101)])
    panel = drawn(many)
    assert len(rows(panel)) == 100
    assert caption(panel)[1] == "Groups: the first 100 of 101 are drawn"
    line = drawn(grouped([Answer(5, COUNT)] * 2001))
    assert len(rows(line)) == 2000
    assert caption(line)[1] == "Groups: the first 2000 of 2,001 are drawn"


def test_one_answer_and_no_group_are_drawn_too(tmp_path: Path) -> None:
    subject = Subject(title="count", statistic="count", table="people.csv")
    number = TableNumber(
        9, COUNT, Statement(subject=subject, privacy=ln.Privacy(1), total_privacy=ln.Privacy(1))
    )
    panel = drawn(number)
    assert panel["heading"] == "count: 9 ± 2 (95% confidence)"
    assert caption(panel) == [
        "Error bars: 95% interval",
        "Max error: 2",
        "Guarantee: ε = 1, δ = 0 per row",
        "Table: people.csv",
    ]
    release = drawn(Answer(9, COUNT))
    assert release["heading"] == "release: 9 ± 2 (95% confidence)"
    assert rows(drawn(mean(30, 12)))[0]["value"] == 2.4
    empty = drawn(grouped([]))
    assert rows(empty) == []
    assert caption(empty)[0] == "Groups: none"
    for result in (grouped([]), number, grouped([Answer(1, ENDLESS)])):
        picture = plots.save(plots.answer(result), tmp_path / "a.PNG").read_bytes()
        assert picture.startswith(b"\x89PNG")


def test_the_note_on_hidden_groups_and_the_mark_of_seeded_noise_are_drawn() -> None:
    ledger = ln.testing.NotPrivateLedger(seed=1)
    with ln.protect(census(), unit="person_id", max_rows=1, ledger=ledger) as people:
        regions = people.count(by="region", max_groups=1, privacy=ln.Privacy("0.2", "1e-7"))
        total = people.count(privacy=ln.Privacy("0.2"))
    panel, text = drawn(regions), " ".join(caption(drawn(regions)))
    assert panel["heading"] == "NOT PRIVATE (seeded noise): count by region"
    assert panel["layer"][0]["encoding"]["x"]["title"] == "count"
    assert "Note: Groups were discovered from the data. Groups with a noisy count of 71" in text
    assert "Counted: at most 1 row per person_id per group" in text
    assert "the max error still holds" in text
    assert "Key:" not in text
    assert drawn(total)["heading"].startswith("NOT PRIVATE (seeded noise): count: ")
    assert drawn(COUNT.release(5, ledger=ln.testing.NotPrivateLedger(1, limit=ln.Privacy(1, 0.5))))[
        "heading"
    ].startswith("NOT PRIVATE (seeded noise): release: ")


def test_other_objects_and_numbers_beyond_floats_are_rejected() -> None:
    with pytest.raises(InvalidParameter, match=r"got an object of type int\. Pass what a query"):
        plots.answer(5)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="values within the range of floats"):
        plots.answer(grouped([Answer(10**400, COUNT)]))
