"""No error of a release holds a true value, nor noise that was not stored, wherever it fails."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib import import_module
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd
import pytest

import leastnoise
from leastnoise.core.sampling import entropy
from leastnoise.errors import EntropyFailed, LedgerUnavailable
from leastnoise.ledger import Ledger
from leastnoise.mechanism import calibrate_pair, calibrate_vector
from leastnoise.tables import QUERIES
from tests.support.held_values import held
from tests.support.postgres_servers import Server

ln: Any = leastnoise
TRUE = 987654321
OTHER = 123456789
ROWS = 15013
PACKAGE = str(Path(leastnoise.__file__).parent)

# So wide that noise is 0, or leads to another true number, with a probability below 10⁻⁹.
ONE = ln.calibrate(ln.Privacy("1e-12"), sensitivity=1, integer=True, solve=False)
REAL = ln.calibrate(ln.Privacy("1e-12"), sensitivity=1, solve=False)
PAIR = calibrate_pair(ln.Privacy("1e-12"), sensitivity=1)
# Wider than the noise for which arrays build polynomials under a lock. An error that is raised just
# before a lock is released would leave it locked.
VECTOR = calibrate_vector(ln.Privacy("1e-20", "1e-20"), sensitivity=1, dimension=3, integer=True)
PLAN = ln.plan(
    ln.Privacy("1e-12"),
    [
        ln.NumericQuery("a", sensitivity=1, integer=True),
        ln.NumericQuery("b", sensitivity=1, integer=True),
    ],
    solve=False,
)
PRICE = ln.Privacy("1e-12")


def secret(number: int = TRUE) -> int:
    """Return a new object, which no frame of a test keeps."""
    return int(str(number))


Release = Callable[[Any], object]
MECHANISMS: dict[str, Release] = {
    "a number": lambda ledger: ONE.release(secret(), ledger=ledger),
    "a float": lambda ledger: REAL.release(float(secret()), ledger=ledger),
    "a numpy number": lambda ledger: ONE.release(np.int64(secret()), ledger=ledger),
    "an array": lambda ledger: ONE.release(np.full(3, secret()), ledger=ledger),
    "a long array": lambda ledger: ONE.release(np.full(3000, secret()), ledger=ledger),
    "an array of floats": lambda ledger: REAL.release(np.full(3, float(secret())), ledger=ledger),
    "a column": lambda ledger: ONE.release(pd.Series([secret()] * 3), ledger=ledger),
    "a vector": lambda ledger: VECTOR.release(np.full(3, secret()), ledger=ledger),
    "a pair": lambda ledger: PAIR.release((secret(), secret(OTHER)), ledger=ledger),
    "a plan": lambda ledger: PLAN.release({"a": secret(), "b": secret(OTHER)}, ledger=ledger),
}


@cache
def table() -> Any:
    values = np.concatenate([np.full(ROWS, 500), np.arange(1000)])
    frame = pd.DataFrame({"v": values, "g": np.where(values == 500, "north", "south")})
    return ln.protect(frame, unit=None, ledger=ln.UNRECORDED)


def asked(name: str, **options: Any) -> Release:
    # The condition makes true numbers that are nowhere in the frame, which is the caller's.
    def ask(ledger: Any) -> object:
        recorded = {} if ledger is ln.UNRECORDED else {"fresh": True}
        asking = replace(table(), ledger=ledger)
        return getattr(asking, name)(privacy=PRICE, where="v < 990", **options, **recorded)

    return ask


TABLES: dict[str, dict[str, Any]] = {
    "count": {},
    "sum": {"column": "v", "bounds": (0, 1000)},
    "mean": {"column": "v", "bounds": (0, 1000)},
    "clipped_share": {"column": "v", "bounds": (0, 500)},
    "histogram": {"column": "v", "edges": [0, 100, 1000]},
    "quantile": {"column": "v", "q": "0.3", "bounds": (0, 1000)},
    "median": {"column": "v", "bounds": (0, 1000)},
    "variance": {"column": "v", "bounds": (0, 1000)},
    "std": {"column": "v", "bounds": (0, 1000)},
    "min": {"column": "v", "bounds": (0, 1000)},
    "max": {"column": "v", "bounds": (0, 1000)},
    "estimate_bounds": {"column": "v"},
}
QUESTIONS = {
    name if by is None else f"{name} by group": asked(
        name, **options, **({} if by is None else {"by": "g", "groups": ["north", "south"]})
    )
    for name, options in TABLES.items()
    for by in (None, "g")
    if not (name == "histogram" and by)
}
RELEASES = MECHANISMS | QUESTIONS


@pytest.fixture(params=["unrecorded", "recorded"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    if request.param == "unrecorded":
        yield ln.UNRECORDED
        return
    with ln.Ledger(tmp_path / "people.ledger", limit=ln.Privacy(1, "1e-6")) as found:
        yield found


@pytest.fixture
def true(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """The true numbers of a release: those given, and those that an engine returns."""
    numbers = {TRUE, OTHER}
    execute: Any = import_module("leastnoise.tables.execute")
    fetch = execute.fetch

    def noted(*arguments: Any) -> Any:
        rows = fetch(*arguments)
        numbers.update(one for row in rows for one in row if type(one) is int and one >= ROWS)
        return rows

    monkeypatch.setattr(execute, "fetch", noted)
    return numbers


def test_every_registered_query_is_tried() -> None:
    assert set(TABLES) == set(QUERIES)


class At:
    """Something that happens at the k-th call."""

    def __init__(self, k: int, happen: Callable[[int], Any], usual: Callable[[int], Any]) -> None:
        self._k, self._happen, self._usual, self._calls = k, happen, usual, count()

    def __call__(self, size: int) -> Any:
        return (self._happen if next(self._calls) == self._k else self._usual)(size)


def raising(error: BaseException) -> Callable[[int], Any]:
    def fail(_: int) -> Any:
        raise error

    return fail


FAULTS: dict[str, tuple[Callable[[int], Any], type[BaseException], str]] = {
    "short": (lambda n: os.urandom(n - 1), EntropyFailed, "random generator failed"),
    "an error of the system": (raising(OSError("x")), EntropyFailed, "random generator failed"),
    "no memory": (raising(MemoryError("x")), EntropyFailed, "random generator failed"),
    "an interruption": (raising(KeyboardInterrupt()), KeyboardInterrupt, r"\A\Z"),
    "a surprise": (raising(AssertionError("x")), EntropyFailed, "random generator failed"),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES)
def test_a_generator_that_fails_shows_nothing(
    fault: str, release: Release, ledger: Any, true: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    happen, kind, message = FAULTS[fault]
    release(ledger)  # the control: it works
    monkeypatch.setattr(entropy, "urandom", At(0, happen, os.urandom))
    with pytest.raises(kind, match=message) as failed:
        release(ledger)
    assert held(failed.value, true) == []


@pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES)
def test_a_ledger_that_is_lost_after_the_draw_shows_nothing(
    release: Release, true: set[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noisy: set[int] = set()
    store = Ledger.store

    def lost(self: Any, receipt: Any, content: Any, payload: bytes = b"") -> Any:
        for end in ("", "-wal", "-shm"):
            os.rename(f"{self.where}{end}", f"{self.where}.away{end}")
        noisy.update(numbers_in(content, payload))
        return store(self, receipt, content, payload)

    monkeypatch.setattr(Ledger, "store", lost)
    with ln.Ledger(tmp_path / "people.ledger", limit=ln.Privacy(1, "1e-6")) as ledger:
        with pytest.raises(LedgerUnavailable, match="The charge stands") as failed:
            release(ledger)
        assert noisy
        assert held(failed.value, true | noisy) == []


def numbers_in(content: Any, payload: bytes) -> set[int]:
    """Return the noisy numbers of an answer that is to be stored, if they are not small."""
    texts = [content.get("index", ""), *content.get("indices", [])]
    if "dtype" in content and content["dtype"] != "object":
        numbers = np.frombuffer(payload, content["dtype"]).astype(int).tolist()
    else:
        texts += payload.decode().replace('"', "\n").split("\n")
        numbers = [int(text, 16) for text in texts if text.strip("-0123456789abcdef") == ""
                   and text.strip("-")]  # fmt: skip
    return {number for number in numbers if abs(number) > ROWS} or {max(numbers) + (1 << 70)}


def test_a_server_that_is_killed_after_the_draw_shows_nothing(
    postgres_of_its_own: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = postgres_of_its_own.database()
    store = Ledger.store

    def killed(self: Any, *arguments: Any) -> Any:
        postgres_of_its_own.kill()
        return store(self, *arguments)

    with ln.Ledger(place, limit=ln.Privacy(1), timeout=2) as ledger:
        monkeypatch.setattr(Ledger, "store", killed)
        with pytest.raises(LedgerUnavailable, match="The charge stands") as failed:
            MECHANISMS["a number"](ledger)
        assert held(failed.value, {TRUE}) == []


# ------------------------------------------------------------------ anywhere


class Tripped:
    """Raises an error at the k-th line of ours that is reached; a ValueError quotes all variables.

    An interruption quotes nothing: it does not come from what it interrupts.
    """

    def __init__(self, k: int, kind: type[BaseException]) -> None:
        self._k, self._kind, self.lines = k, kind, 0

    def __enter__(self) -> "Tripped":
        sys.settrace(self._trace)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def _trace(self, frame: FrameType, event: str, _: object) -> Any:
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        # Before its first line a function has done nothing: the value is still its caller's.
        entering = self.lines == 0
        if event == "line":
            self.lines += 1
            if self.lines == self._k and not entering:
                sys.settrace(None)
                raise self._kind(*(_quoted(frame) if self._kind is ValueError else ()))
        return self._trace


def _quoted(frame: FrameType) -> Iterator[str]:
    for each in frame.f_locals.values():
        with suppress(Exception):  # what is not built yet cannot be quoted
            yield repr(each)


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES)
def test_an_error_at_any_line_shows_nothing(
    kind: type[BaseException], release: Release, ledger: Any, true: set[int]
) -> None:
    release(ledger)
    with Tripped(0, kind) as run:
        release(ledger)
    several = 60 if release in MECHANISMS.values() else 12
    step = max(1, run.lines // several)
    failures: list[list[str]] = []
    for k in range(2, run.lines, step):
        try:
            with Tripped(k, kind):
                release(ledger)
        except BaseException as error:  # noqa: BLE001 -- interruptions, too
            failures.append(held(error, true))
    assert failures
    assert not any(failures)


# ------------------------------------------------------------------ controls


def test_a_naive_release_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same search finds the value in a frame, an argument, a context, a note and a closure."""
    monkeypatch.setattr(entropy, "urandom", raising(OSError("x")))
    releaser = ONE.releaser
    with pytest.raises(EntropyFailed, match="random generator failed") as failed:
        releaser.add_noise(secret())
    assert "printed" in held(failed.value, {TRUE})
    draw = releaser.prepare(secret())
    with pytest.raises(EntropyFailed, match="random generator failed") as failed:
        draw()
    assert "printed" in held(failed.value, {TRUE})
    with pytest.raises(EntropyFailed, match="random generator failed") as failed:
        releaser.prepare_array(np.full(3, secret()))()
    assert held(failed.value, {TRUE}) != []
    for naive in (ValueError(secret()), ValueError(f"got {TRUE}"), ValueError(f"{TRUE:x}")):
        assert held(naive, {TRUE}) != []
    for part in ("__context__", "__cause__"):
        naive = ValueError("x")
        setattr(naive, part, KeyError(secret()))
        assert held(naive, {TRUE}) != []
    naive = ValueError("x")
    naive.add_note(f"got {TRUE}")
    assert held(naive, {TRUE}) != []
