"""Seeded noise: the same in every process, marked everywhere, and reached by nothing else."""

import copy
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
import pandas as pd
import pytest

import leastnoise
from leastnoise.core.seeded import SeededTape
from leastnoise.errors import BudgetExceeded, InvalidParameter
from leastnoise.ledger import Allocation
from leastnoise.mechanism import calibrate_pair, calibrate_vector
from leastnoise.tables import QUERIES, census
from leastnoise.testing import NotPrivateLedger

ln: Any = leastnoise
MARK = "NOT PRIVATE (seeded noise): "
LIMIT = ln.Privacy(100, "1e-3")
ONE = ln.calibrate(ln.Privacy("1e-3"), sensitivity=1, integer=True)
# Two releases with this noise are equal with a probability below 1e-12.
WIDE = ln.calibrate(ln.Privacy("1e-12"), sensitivity=1, integer=True, solve=False)
TABLES: dict[str, dict[str, Any]] = {
    "count": {"by": "region", "max_groups": 1},
    "sum": {"column": "income", "bounds": (0, 150_000)},
    "mean": {"column": "income", "bounds": (0, 150_000)},
    "clipped_share": {"column": "income", "bounds": (0, 50_000)},
    "histogram": {"column": "age", "edges": [0, 18, 65, 120], "max_groups": 1},
    "quantile": {"column": "income", "q": "0.9", "bounds": (0, 150_000), "interval": "0.9"},
    "median": {"column": "income", "bounds": (0, 150_000)},
    "variance": {"column": "income", "bounds": (0, 150_000)},
    "std": {"column": "income", "bounds": (0, 150_000)},
    "min": {"column": "income", "bounds": (0, 150_000)},
    "max": {"column": "income", "bounds": (0, 150_000)},
    "estimate_bounds": {"column": "income"},
}


def all_answers(ledger: Any) -> dict[str, Any]:
    """Return an answer of each kind."""
    real = ln.calibrate(ln.Privacy(1), sensitivity=1)
    gaussian = ln.calibrate(ln.Privacy(1, "1e-6"), sensitivity=1, family="gaussian")
    vector = calibrate_vector(ln.Privacy(1, "1e-6"), sensitivity=1, dimension=3)
    wanted = [ln.NumericQuery(name, sensitivity=1, integer=True) for name in ("a", "b")]
    answers = {
        "a number": ONE.release(42, ledger=ledger),
        "a float": real.release(1.5, ledger=ledger),
        "gaussian": gaussian.release(1.5, ledger=ledger),
        "an array": real.release(np.zeros(300), ledger=ledger),
        "a column": ONE.release(pd.Series([1, 2, 3]), ledger=ledger),
        "a vector": vector.release(np.zeros(3), ledger=ledger),
        "a pair": calibrate_pair(ln.Privacy(1), sensitivity=1).release((1, 2), ledger=ledger),
        "a plan": ln.plan(ln.Privacy(1), wanted).release({"a": 1, "b": 2}, ledger=ledger)["a"],
    }
    people = ln.protect(census(), unit="person_id", max_rows=1, ledger=ledger)
    for name, options in TABLES.items():
        answers[name] = getattr(people, name)(privacy=ln.Privacy(1, "1e-5"), **options)
    return answers


def all_tables(ledger: Any) -> dict[str, Any]:
    """Return tables with the answers of several queries."""
    people = ln.protect(census(), unit="person_id", max_rows=1, name="people", ledger=ledger)
    one = ln.Privacy(1, "1e-5")
    mean = ln.Mean("age", bounds=(0, 120))
    text = "SELECT region, COUNT(*) AS n, AVG(age) AS a FROM people GROUP BY region"
    return {
        "an ask by groups": people.ask([ln.Count(), mean], by="sex", max_groups=1, privacy=one),
        "SQL": people.sql(text, max_groups=1, bounds={"age": (0, 120)}, privacy=one),
        "SQL without groups": people.sql("SELECT COUNT(*) FROM people", privacy=one),
    }


def test_every_registered_query_is_tried() -> None:
    assert set(TABLES) == set(QUERIES)


@pytest.fixture(scope="module")
def answers() -> dict[str, Any]:
    with NotPrivateLedger(seed=7, limit=LIMIT) as ledger:
        return all_answers(ledger)


def numbers(answers: dict[str, Any]) -> str:
    """Return all released numbers as text."""
    found = {}
    for name, answer in answers.items():
        parts = answer.answers if hasattr(answer, "answers") else [answer]
        values = [part.values if hasattr(part, "values") else part.value for part in parts]
        found[name] = [value.tolist() if hasattr(value, "tolist") else value for value in values]
    return repr(found)


def test_the_parts_of_seeded_answers_are_marked(answers: dict[str, Any]) -> None:
    mean = answers["mean"]
    for part in (mean.count, mean.sum):
        assert MARK in repr(part)
        assert str(part).startswith(MARK)
    for answer in answers.values():
        assert "NOT PRIVATE" in repr(answer)
        assert "NOT PRIVATE" in str(answer).splitlines()[0]
        assert str(answer.receipt).splitlines()[0].endswith("NOT PRIVATE (seeded noise)")
        assert MARK in repr(answer.receipt)


def test_tables_of_several_seeded_answers_are_marked() -> None:
    with NotPrivateLedger(seed=7, limit=LIMIT) as ledger:
        tables = all_tables(ledger)
    for table in tables.values():
        assert "NOT PRIVATE (seeded noise)" in repr(table)
        assert "NOT PRIVATE (seeded noise)" in str(table).splitlines()[0]
        assert "NOT PRIVATE (seeded noise)" in table._repr_html_().partition("</caption>")[0]
        assert "NOT PRIVATE" in table.to_json()
        assert b"NOT PRIVATE" in table.to_arrow().schema.metadata[b"leastnoise"]
        # A frame and a CSV file have no metadata, so each row is marked.
        assert all("NOT PRIVATE" in row["quantity"] for row in table.rows())
        assert table.to_polars()["quantity"].str.contains("NOT PRIVATE").all()
        assert table.to_pandas()["quantity"].str.contains("NOT PRIVATE").all()


def test_releases_and_allocations_of_a_seeded_ledger_are_marked() -> None:
    part = ln.Privacy(1, "1e-4")
    with NotPrivateLedger(seed=1, limit=LIMIT) as ledger:
        made = [
            ledger.allocate("x", part),
            ledger.allocation("x"),
            ln.Ledger.allocation(ledger, "x"),
        ]
        made += [Allocation(ledger, "x"), Allocation(made[0], "x"), copy.copy(made[0])]
        for place, allocation in enumerate(made):
            assert repr(allocation) == "NotPrivateLedger(seed=1, dataset='data').allocation('x')"
            assert allocation.not_private
            for key in ("shared", f"{place}"):  # stored, and new
                answer = ONE.release(42, ledger=allocation, key=key)
                assert repr(answer).startswith(MARK)
        for release in (*ledger.releases, *made[-1].releases):
            assert release.not_private
            assert repr(release).startswith("<" + MARK)
            assert "NOT PRIVATE (seeded noise)" in str(release)
    with NotPrivateLedger(seed=1, limit=LIMIT, accounting="gaussian") as ledger:
        assert repr(ONE.release(42, ledger=Allocation(ledger, "default"))).startswith(MARK)


def test_nothing_of_a_real_ledger_is_marked(tmp_path: Path) -> None:
    with ln.Ledger(tmp_path / "a.ledger", limit=LIMIT) as ledger:
        part = ledger.allocate("x", ln.Privacy(1, "1e-4"))
        for payer in (ledger, part, copy.copy(part), Allocation(part, "x")):
            answer = ONE.release(42, ledger=payer)
            told = [repr(payer), repr(answer), str(answer.receipt), repr(answer.receipt)]
            told += [text for one in payer.releases for text in (str(one), repr(one))]
            assert not any("NOT PRIVATE" in text or "NotPrivate" in text for text in told)


# --------------------------------------------------------------------------------------- the seed

_SCRIPT = """
from tests.services.test_not_private import *
with NotPrivateLedger(seed=7, limit=LIMIT) as ledger:
    print(numbers(all_answers(ledger)))
"""


@pytest.mark.long
@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_another_process_releases_the_same(hash_seed: str, answers: dict[str, Any]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout.strip() == numbers(answers)


def test_every_kind_of_answer_is_the_same_again(answers: dict[str, Any]) -> None:
    with NotPrivateLedger(seed=7, limit=LIMIT) as ledger:
        assert numbers(all_answers(ledger)) == numbers(answers)


_SHORT = """
import leastnoise as ln
one = ln.calibrate(ln.Privacy("1e-12"), sensitivity=1, integer=True, solve=False)
with ln.testing.NotPrivateLedger(seed=3) as ledger:
    print([one.release(0, ledger=ledger).index for _ in range(5)])
"""


def test_a_number_is_the_same_in_another_process() -> None:
    command = [sys.executable, "-c", _SHORT]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    assert json.loads(done.stdout) == seeded_numbers(3, 5)


def seeded_numbers(seed: int, count: int) -> list[int]:
    with NotPrivateLedger(seed=seed) as ledger:
        return [WIDE.release(0, ledger=ledger).index for _ in range(count)]


def test_another_seed_or_release_has_other_noise() -> None:
    several = [*seeded_numbers(1, 20), *seeded_numbers(2, 20)]
    assert len(set(several)) == 40
    assert seeded_numbers(1, 20) == several[:20]
    with NotPrivateLedger(seed=1) as ledger:
        first = WIDE.release(0, ledger=ledger, key="a")
        again = WIDE.release(0, ledger=ledger, key="a")
        fresh = WIDE.release(0, ledger=ledger, key="a", fresh=True)
    assert first.index == again.index == several[0]
    assert again.receipt.reused
    assert fresh.index == several[1]


def test_the_number_of_cores_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = ln.calibrate(ln.Privacy(1), sensitivity=1)
    released = []
    for cores in (1, 4):
        monkeypatch.setattr(os, "cpu_count", lambda cores=cores: cores)
        with NotPrivateLedger(seed=1) as ledger:
            released.append(mechanism.release(np.zeros(1 << 21), ledger=ledger).values)
    assert np.array_equal(*released)


def test_the_noise_has_its_distribution() -> None:
    """The seed is fixed, so there is no false alarm: 5 standard deviations of 2,000 releases."""
    mechanism = ln.calibrate(ln.Privacy(1), sensitivity=1, integer=True)
    with NotPrivateLedger(seed=1, limit=ln.Privacy(10_000)) as ledger:
        released = [int(mechanism.release(0, ledger=ledger).value) for _ in range(2000)]
    weights = mechanism.discretized.noise
    for value in (-1, 0, 1, 2):
        chance = weights.weight(value) / weights.total
        found = released.count(value)
        assert abs(found - 2000 * chance) < 5 * (2000 * chance * (1 - chance)) ** 0.5


def test_the_path_of_a_table_does_not_matter(tmp_path: Path) -> None:
    counts = []
    for name in ("one", "two"):
        path = tmp_path / f"{name}.csv"
        path.write_text("age\n" + "30\n" * 50, encoding="utf-8")
        with NotPrivateLedger(seed=1) as ledger:
            people = ln.protect(path, unit=None, ledger=ledger)
            counts.append(people.count(privacy=ln.Privacy("1e-3")).value)
    assert counts[0] == counts[1]


# -------------------------------------------------------------------------------------- the marks


KINDS = ["a number", "a float", "gaussian", "an array", "a column", "a vector", "a pair", "a plan"]


@pytest.mark.parametrize("name", [*KINDS, *TABLES])
def test_every_answer_says_that_it_is_not_private(name: str, answers: dict[str, Any]) -> None:
    answer = answers[name]
    for text in (str(answer), repr(answer), answer._repr_html_()):
        assert MARK in text
    assert answer.receipt.not_private
    for part in getattr(answer, "answers", ())[:1]:
        for text in (str(part), repr(part), part._repr_html_()):
            assert MARK in text


@pytest.mark.parametrize("name", [*TABLES])
def test_subjects_say_so(name: str, answers: dict[str, Any]) -> None:
    subject = answers[name].subject
    assert subject.heading.startswith(MARK)
    assert any("The noise is seeded" in note for note in subject.notes)
    assert subject.to_dict()["quantity"].startswith(MARK)


def test_exports_say_so(answers: dict[str, Any], tmp_path: Path) -> None:
    table = answers["count"]
    assert all(row["quantity"].startswith(MARK) for row in table.rows())
    for frame in (table.to_pandas(), table.to_polars().to_pandas(), table.to_arrow().to_pandas()):
        assert frame["quantity"].str.startswith(MARK).all()
    assert MARK.encode() in table.to_arrow().schema.metadata[b"leastnoise"]
    written = table.to_json(tmp_path / "t.json"), table.to_csv(tmp_path / "t.csv")
    for path in written:
        assert MARK in path.read_text(encoding="utf-8")
    assert MARK in json.loads(written[0].read_text(encoding="utf-8"))["title"]


def test_other_answers_have_no_mark(tmp_path: Path) -> None:
    """The control, and the other direction."""
    with ln.Ledger(tmp_path / "people.ledger", limit=LIMIT) as ledger:
        for answer in all_answers(ledger).values():
            assert "NOT PRIVATE" not in f"{answer}{answer!r}{answer._repr_html_()}"
            assert answer.receipt.not_private is False
        assert "not_private" not in ledger.export()
        assert not ledger.not_private


# ------------------------------------------------------------------------------------- the ledger


def test_it_behaves_as_a_ledger() -> None:
    with NotPrivateLedger(seed=1, analyst="ann", analyst_limit=ln.Privacy("0.1")) as ledger:
        WIDE.release(1, ledger=ledger)
        with pytest.raises(BudgetExceeded, match="Not enough budget"):
            ln.calibrate(ln.Privacy("0.2"), sensitivity=1).release(1, ledger=ledger)
        assert ledger.spent == ln.Privacy("1e-12")
        assert len(ledger.releases) == 1
        assert ledger.verify() == ledger.head
        assert ledger.export()["not_private"] is True
        assert repr(ledger) == "NotPrivateLedger(seed=1, dataset='data', analyst='ann')"
    with pytest.raises(InvalidParameter, match="seed must be an integer of at least 0"):
        NotPrivateLedger(seed=-1)


@pytest.mark.parametrize("opened", [False, True])
def test_an_allocation_is_not_private_either(opened: bool) -> None:
    with NotPrivateLedger(seed=1) as ledger:
        allocation = ledger.allocate("all", ln.Privacy("0.9", "1e-7"))
        if opened:
            allocation = ledger.allocation("all")
        answer = WIDE.release(0, ledger=allocation)
    assert str(answer).startswith(MARK)
    assert answer.index == seeded_numbers(1, 1)[0]
    with NotPrivateLedger(seed=1, accounting="gaussian") as gaussian:
        assert str(WIDE.release(0, ledger=gaussian)).startswith(MARK)


def test_nothing_is_written_and_no_ledger_opens_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with NotPrivateLedger(seed=1) as ledger:
        WIDE.release(0, ledger=ledger)
        assert not list(tmp_path.iterdir())
        with pytest.raises(InvalidParameter, match="No ledger at"):
            ln.Ledger(ledger.where)
    with pytest.raises(TypeError, match="takes 2 positional arguments"):
        NotPrivateLedger(1, tmp_path / "people.ledger")  # type: ignore[call-arg, arg-type]


# -------------------------------------------------------------------------------- nothing else

Mode = Callable[[], AbstractContextManager[object]]


@contextmanager
def mode_by_ledger() -> Iterator[None]:
    with NotPrivateLedger(seed=5) as ledger:
        WIDE.release(0, ledger=ledger)
        yield
        WIDE.release(0, ledger=ledger)


@contextmanager
def global_flag() -> Iterator[None]:
    """A naive test mode: while it is on, whoever releases gets seeded noise."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("leastnoise.core.release.SYSTEM", SeededTape("testing/5/1"))
        yield


def release_elsewhere(mode: Mode, ledger: Any) -> list[int]:
    """Return what another thread and this one release while a test mode is on."""
    indices: list[int] = []
    on, done = Event(), Event()

    def release() -> None:
        on.wait()
        indices.extend(WIDE.release(0, ledger=ledger).index for _ in range(3))
        done.set()

    thread = Thread(target=release)
    thread.start()
    with mode():
        on.set()
        done.wait()
        indices.extend(WIDE.release(0, ledger=ledger).index for _ in range(3))
    thread.join()
    return indices


@pytest.mark.parametrize("recorded", [False, True])
def test_other_releases_never_get_seeded_noise(recorded: bool, tmp_path: Path) -> None:
    with ln.Ledger(tmp_path / "people.ledger", limit=LIMIT) as real:
        ledger = real if recorded else ln.UNRECORDED
        first = release_elsewhere(mode_by_ledger, ledger)
        second = release_elsewhere(mode_by_ledger, ledger)
        assert not set(first) & {*second, *seeded_numbers(5, 50)}
        # The control: of a flag for the whole process, other threads get noise of the seed.
        flagged = release_elsewhere(global_flag, ledger), release_elsewhere(global_flag, ledger)
    assert flagged[0] == flagged[1]


def test_no_environment_switches_it_on() -> None:
    script = f"{_SHORT}\nprint([one.release(0).index for _ in range(5)])"
    names = ["SEED", "TEST", "TESTING", "NOT_PRIVATE", "DEBUG"]
    found = {f"LEASTNOISE_{name}": "3" for name in names}
    outputs = [
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, **found},
            capture_output=True,
            encoding="utf-8",
            check=True,
        ).stdout.splitlines()
        for _ in range(2)
    ]
    assert outputs[0][0] == outputs[1][0]
    assert outputs[0][1] != outputs[1][1]


def test_a_program_does_not_load_it() -> None:
    script = (
        "import leastnoise as ln, sys; "
        "m = ln.calibrate(ln.Privacy(1), sensitivity=1); m.release(1); ln.protect; "
        "ln.Ledger; print('leastnoise.testing' in sys.modules, 'leastnoise.core.seeded' in "
        "sys.modules); ln.testing; print('leastnoise.testing' in sys.modules)"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.split() == ["False", "False", "True"]
    assert "testing" not in ln.__all__
