"""Events say what was asked, charged and refused: no value, no answer and no error object."""

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import fields, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import leastnoise
from leastnoise.errors import BudgetExceeded, EntropyFailed, QueryFailed
from leastnoise.events import Asked, Charged, Event, Failed, Rejected, Released, Reused, subscribe

ln: Any = leastnoise
LIMIT = ln.Privacy(1, "1e-6")
ONE = ln.calibrate(ln.Privacy("1e-3"), sensitivity=1, integer=True)
# Planted in the data, and nowhere else: numbers of this size are in no title, price or duration.
MARKED = 730_291_000_000
ROWS = 40


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Any]:
    with ln.Ledger(tmp_path / "people.ledger", limit=LIMIT, analyst="ann") as made:
        yield made


@cache
def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "value": [MARKED + 7 * row for row in range(ROWS)],
            "name": [f"Zyxw{row}vut" for row in range(ROWS)],
            "side": ["left", "right"] * (ROWS // 2),
        }
    )


def people(ledger: Any) -> Any:
    named = {} if ledger is ln.UNRECORDED else {"name": "marked"}
    return ln.protect(frame(), unit=None, ledger=ledger, **named)


def heard(work: Callable[[], object]) -> list[Event]:
    """Return the events of some work, whether it succeeds or not."""
    events: list[Event] = []
    with subscribe(events.append), suppress(ln.errors.LeastnoiseError):
        work()
    return events


def kinds(events: list[Event]) -> list[type[Event]]:
    return [type(event) for event in events]


# ----------------------------------------------------------------------------------- what is said


def test_a_query_is_asked_charged_and_released_then_reused(ledger: Any) -> None:
    table = people(ledger)

    def ask() -> None:
        table.count(by="side", groups=["left"], max_groups=1, share="1/10")

    first, again = heard(ask), heard(ask)
    assert kinds(first) == [Asked, Charged, Released]
    assert kinds(again) == [Asked, Reused]
    charged, reused = first[1], again[1]
    assert isinstance(charged, Charged)
    assert isinstance(reused, Reused)
    assert charged.privacy == ln.Privacy("1/10", "1e-7")
    assert (charged.allocation, charged.cost) == (None, None)
    assert reused.stored
    assert {(event.title, event.dataset, event.analyst) for event in first + again} == {
        ("count by side", "data", "ann")
    }
    (release,) = ledger.releases
    assert charged.key == reused.key == release.key
    assert not any(event.not_private for event in first)


def test_the_cost_in_an_allocation_is_that_on_record(tmp_path: Path) -> None:
    with ln.Ledger(tmp_path / "people.ledger", limit=LIMIT, accounting="gaussian") as ledger:
        events = heard(lambda: people(ledger).count(share="1/100"))
        (charged,) = (event for event in events if isinstance(event, Charged))
        (release,) = ledger.releases
    assert charged.cost == release.cost
    assert charged.cost is not None
    assert charged.cost.square > 0
    assert charged.allocation == release.allocation


@pytest.mark.parametrize("accounting", ["basic", "gaussian"])
@pytest.mark.parametrize("key", [None, "m"])
def test_the_price_of_a_mean_with_a_target_error_is_in_no_event(
    tmp_path: Path, accounting: str, key: str | None
) -> None:
    """It follows from the noisy counts, and so does the default key."""
    limit = ln.Privacy(40, "1e-3")
    with ln.Ledger(tmp_path / "a.ledger", limit=limit, accounting=accounting) as ledger:
        table = ln.protect(frame(), unit=None, ledger=ledger, name="marked")

        def ask() -> None:
            table.mean("value", bounds=(MARKED, MARKED + 1000), error=300, key=key)

        events, again = heard(ask), heard(ask)
        price = ledger.releases[-1]
    charged = [event for event in events if isinstance(event, Charged)]
    released = [event for event in events if isinstance(event, Released)]
    assert len(charged) == len(released) > 1
    for event in charged + released:
        assert event.privacy is None
        assert event.key is None
        assert "guarantee follows from an answer" in str(event)
    assert all(event.cost is None for event in charged)
    assert Reused in kinds(again)
    assert not any(event.key for event in events[1:] + again[1:])
    assert repr(price.privacy.epsilon) not in repr(events)


def test_a_mean_that_the_ledger_refuses_does_not_state_its_price(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when others spend the budget between a check and the charge."""
    from leastnoise.tables import mean_release

    monkeypatch.setattr(mean_release._Steps, "find_available", lambda *_: Fraction(10**6))
    with ln.Ledger(tmp_path / "a.ledger", limit=ln.Privacy("0.1")) as ledger:
        table = ln.protect(frame(), unit=None, ledger=ledger, name="marked")
        events = heard(lambda: table.mean("value", bounds=(MARKED, MARKED + 1000), error=300))
    rejected = events[-1]
    assert isinstance(rejected, Rejected)
    assert rejected.problem.endswith("What its counts cost stays charged")


def test_a_mechanism_with_a_ledger_has_events_and_one_without_has_none(ledger: Any) -> None:
    assert kinds(heard(lambda: ONE.release(5, ledger=ledger))) == [Asked, Charged, Released]
    assert not heard(lambda: ONE.release(5))
    assert kinds(heard(lambda: people(ln.UNRECORDED).count(privacy=ln.Privacy(1)))) == [
        Asked,
        Released,
    ]


@pytest.mark.parametrize(
    ("work", "error", "problem"),
    [
        (
            lambda ledger: people(ledger).count(privacy=ln.Privacy(2)),
            "BudgetExceeded",
            "Not enough budget in dataset 'data'",
        ),
        (
            lambda ledger: people(ledger).sum("side", bounds=(0, 1), share="1/9"),
            "InvalidParameter",
            "A column of numbers",
        ),
        (lambda ledger: people(ledger).ask("x"), "InvalidParameter", "queries must be a list"),
        (lambda ledger: people(ledger).count(), "InvalidParameter", "Exactly one of"),
        (
            lambda ledger: ln.calibrate(ln.Privacy(3), sensitivity=1).release(1, ledger=ledger),
            "BudgetExceeded",
            "Not enough budget",
        ),
    ],
)
def test_a_refusal_is_named_with_its_problem(
    work: Callable[[Any], object], error: str, problem: str, ledger: Any
) -> None:
    events = heard(lambda: work(ledger))
    assert kinds(events) == [Asked, Rejected]
    assert isinstance(events[1], Rejected)
    assert error in events[1].error
    assert problem in events[1].problem
    assert not ledger.releases


def test_a_failure_after_the_charge_is_no_refusal(
    ledger: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leastnoise.core.sampling.entropy.urandom", _fail)
    events = heard(lambda: people(ledger).count(key="a", share="1/9"))
    assert kinds(events) == [Asked, Charged, Failed]
    assert isinstance(events[2], Failed)
    assert events[2].error == EntropyFailed.__name__
    monkeypatch.undo()
    # The charge stands, so the same key costs nothing, but has no answer yet.
    again = heard(lambda: people(ledger).count(key="a", share="1/9"))
    assert kinds(again) == [Asked, Reused, Released]
    assert isinstance(again[1], Reused)
    assert not again[1].stored


def test_what_a_first_answer_shows_is_in_no_refusal(ledger: Any) -> None:
    """A mean with a wanted error says how many rows there are, roughly: that is an answer."""
    table = people(ledger)
    events: list[Event] = []
    with (
        subscribe(events.append),
        pytest.raises(BudgetExceeded, match=r"The charge of its count stands"),
    ):
        table.mean("value", bounds=(0, 10**12), error=10**9)
    (rejected,) = (event for event in events if isinstance(event, Rejected))
    assert rejected.problem == (
        "Not enough budget for the mean of value with an error of ± 1000000000. What its counts "
        "cost stays charged"
    )


def test_names_cannot_break_the_line_of_a_log(ledger: Any) -> None:
    class Odd(ln.Count):  # type: ignore[misc]
        title = "count\n2026-01-01 ERROR forged"

    events = heard(lambda: people(ledger).ask([Odd()], share="1/9"))
    assert events
    assert all(str(event).isprintable() for event in events)


# -------------------------------------------------------------------------------------- receivers


def test_a_subscription_ends(ledger: Any) -> None:
    events: list[Event] = []
    subscription = subscribe(events.append)
    ONE.release(5, ledger=ledger)
    subscription.cancel()
    subscription.cancel()
    ONE.release(5, ledger=ledger)
    assert kinds(events) == [Asked, Charged, Released]
    with pytest.raises(ln.errors.InvalidParameter, match="callback must be a function"):
        subscribe("print")  # type: ignore[arg-type]


class Breaking(logging.Handler):
    """A handler that is broken itself, and does not handle that."""

    def emit(self, record: logging.LogRecord) -> None:
        raise OSError(record.name)


@pytest.mark.parametrize("logged", [False, True])
def test_a_failing_receiver_changes_nothing(
    ledger: Any, logged: bool, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(event: Event) -> None:
        raise ValueError(event)

    events: list[Event] = []
    logger, handler = logging.getLogger("leastnoise"), Breaking()
    table = people(ledger)
    with caplog.at_level(logging.DEBUG, "leastnoise"), subscribe(fail), subscribe(events.append):
        if logged:
            logger.addHandler(handler)
        try:
            answer = table.count(share="1/9", key="a")
            assert table.count(share="1/9", key="a").value == answer.value
            with pytest.raises(BudgetExceeded, match="Not enough budget"):
                table.count(share=1, key="b")
        finally:
            logger.removeHandler(handler)
    assert kinds(events) == [Asked, Charged, Released, Asked, Reused, Asked, Rejected]
    assert ledger.spent == ln.Privacy("1/9", Fraction(1, 9_000_000))
    if not logged:
        assert "A receiver of events failed with ValueError" in caplog.messages


@pytest.mark.parametrize(
    ("kind", "charged", "answered"), [(Asked, 0, 0), (Charged, 1, 0), (Released, 1, 1)]
)
def test_an_interrupt_in_a_subscriber_ends_the_release(
    kind: type[Event], charged: int, answered: int, ledger: Any
) -> None:
    def interrupt(event: Event) -> None:
        if isinstance(event, kind):
            raise KeyboardInterrupt

    with subscribe(interrupt), pytest.raises(KeyboardInterrupt, match=r"^$"):
        people(ledger).count(share="1/9", key="a")
    assert len(ledger.releases) == charged
    assert sum(release.answered is not None for release in ledger.releases) == answered
    people(ledger).count(share="1/9", key="a")
    assert len(ledger.releases) == 1  # an interrupt charges nothing twice


def test_no_event_is_made_if_nobody_listens(ledger: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("an event was made")

    table = people(ledger)
    for kind in (Asked, Charged, Released, Reused):
        monkeypatch.setattr(kind, "__init__", fail)
    for key in ("a", "a", "b"):
        table.count(share="1/9", key=key)
        ONE.release(5, ledger=ledger, key=f"one {key}")
    with subscribe(print), pytest.raises(AssertionError, match="an event was made"):
        table.count(share="1/9", key="a")  # the control


def test_nothing_is_printed_by_default(ledger: Any, capsys: pytest.CaptureFixture[str]) -> None:
    with suppress(BudgetExceeded):
        people(ledger).count(privacy=ln.Privacy(9))
    assert capsys.readouterr() == ("", "")


# ------------------------------------------------------------------------------------- no secrets


class Everything(logging.Handler):
    """Notes all that a receiver can get: events, records, and errors that are being handled."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.texts: list[str] = []
        self.handled: list[object] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.handled.append(sys.exc_info()[1])
        self.texts.append(f"{record.getMessage()} {vars(record)!r}")

    def hear(self, event: Event) -> None:
        self.handled.append(sys.exc_info()[1])
        self.texts.append(f"{event} {event!r}")
        for field in fields(event):
            self.texts.append(f"{getattr(event, field.name)!r}")

    def finds(self, secrets: set[str]) -> set[str]:
        everything = "\n".join(self.texts)
        return {secret for secret in secrets if secret in everything}


QUERIES: dict[str, dict[str, Any]] = {
    "sum": {"column": "value", "bounds": (0, 10**12)},
    "mean": {"column": "value", "bounds": (0, 10**12)},
    "clipped_share": {"column": "value", "bounds": (0, 10**11)},
    "variance": {"column": "value", "bounds": (0, 10**12)},
    "std": {"column": "value", "bounds": (0, 10**12)},
    "min": {"column": "value", "bounds": (0, 10**12)},
    "max": {"column": "value", "bounds": (0, 10**12)},
    "estimate_bounds": {"column": "value"},
    "quantile": {"column": "value", "q": "0.5", "bounds": (0, 10**12), "bins": 1000},
    "histogram": {"column": "value", "edges": [0, 10**11, 10**12]},
}


def release_many(table: Any, rounds: int) -> set[str]:
    """Ask many queries and return all secrets: markers, names, and released numbers."""
    secrets = {f"{value}" for column in ("value", "name") for value in frame()[column]}
    privacy = ln.Privacy("1e-5")
    for _ in range(rounds):
        for name, options in QUERIES.items():
            answer = getattr(table, name)(privacy=privacy, fresh=True, **options)
            secrets |= released(answer)
        secrets |= released(ONE.release(MARKED, ledger=table.ledger))
        secrets |= released(
            table.sum(
                "value", bounds=(0, 10**12), by="side", groups=["left"], max_groups=1,
                privacy=privacy, fresh=True,
            )
        )  # fmt: skip
    return {secret for secret in secrets if len(secret) >= 7}


def released(answer: Any) -> set[str]:
    answers = answer.answers if hasattr(answer, "answers") else (answer,)
    found: set[str] = set()
    for each in answers:
        parts = [each, *(getattr(each, name) for name in ("count", "sum") if hasattr(each, name))]
        for part in parts:
            values = [part.value, getattr(part, "index", 0)]
            found |= {f"{abs(value)}" for value in values}
            found |= {f"{abs(float(value)):.6f}".rstrip("0").rstrip(".") for value in values}
            found |= {f"{abs(value):x}" for value in values if isinstance(value, int)}
    return found


@pytest.fixture
def receiver() -> Iterator[Everything]:
    logger, everything = logging.getLogger("leastnoise"), Everything()
    before = logger.level
    logger.setLevel(logging.DEBUG)
    logger.addHandler(everything)
    try:
        with subscribe(everything.hear):
            yield everything
    finally:
        logger.removeHandler(everything)
        logger.setLevel(before)


@pytest.mark.parametrize("rounds", [8, pytest.param(80, marks=pytest.mark.long)])
def test_no_value_and_no_answer_is_in_an_event_or_a_log(
    rounds: int, ledger: Any, receiver: Everything
) -> None:
    table = people(ledger)
    secrets = release_many(table, rounds)
    assert len(secrets) > 10 * rounds
    assert len(receiver.texts) > 6 * 3 * rounds
    assert not receiver.finds(secrets)
    # The control: a logger that logs one answer is caught.
    answer = table.sum("value", bounds=(0, 10**12), privacy=ln.Privacy("1e-5"), fresh=True)
    logging.getLogger("leastnoise").info("released %s", answer.value)
    assert receiver.finds(released(answer))


class Quoting(Exception):
    """An error as an engine's, which quotes a row."""


def _fail(*_: object) -> Any:
    marker = MARKED  # held by the frame of the error, as by an engine's
    raise Quoting(f"row {marker}: Zyxw0vut")


@pytest.mark.parametrize(
    "place",
    [
        "leastnoise.tables.execute.fetch",
        "leastnoise.tables.release.add_all_noise",
        "leastnoise.core.sampling.entropy.urandom",
        "leastnoise.ledger.ledger.Ledger.store",
        "leastnoise.ledger.ledger.Ledger.charge_or_recall",
    ],
)
def test_no_error_that_quotes_a_row_reaches_a_receiver(
    place: str, ledger: Any, receiver: Everything, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, _fail)
    table = people(ledger)
    works: list[Callable[[], object]] = [
        lambda: table.sum("value", bounds=(0, 10**12), share="1/9"),
        lambda: ONE.release(MARKED, ledger=ledger),
    ]
    for work in works:
        with suppress(ln.errors.LeastnoiseError):
            work()
    assert any("failed" in text for text in receiver.texts)
    assert not receiver.finds({f"{MARKED}", "Zyxw0vut", "Quoting"})
    assert set(receiver.handled) == {None}  # a handler that logs the current error finds none


def test_an_engine_that_fails_is_a_failure(ledger: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    table = people(ledger)
    monkeypatch.setattr("leastnoise.tables.sources.engine._run_query", _fail)
    (*_, failed) = heard(lambda: table.count(share="1/9"))
    assert isinstance(failed, Failed)
    assert failed.error == QueryFailed.__name__


def test_the_address_of_a_ledger_is_in_no_event(quick_postgres: Any, receiver: Everything) -> None:
    address = f"{quick_postgres.database()}&password=hunter2"
    with ln.Ledger(address, limit=LIMIT) as ledger:
        people(ledger).count(share="1/9")
        with suppress(BudgetExceeded):
            people(ledger).count(share=1)
    assert receiver.texts
    assert not receiver.finds({"hunter2", "postgresql://", "host="})


def test_an_unrecorded_table_tells_no_ledger() -> None:
    (asked, done) = heard(lambda: people(ln.UNRECORDED).count(privacy=ln.Privacy(1)))
    assert (asked.dataset, asked.analyst, asked.key) == (None, None, None)
    assert replace(asked, title="x").title == "x"
    assert done.title == "count"
