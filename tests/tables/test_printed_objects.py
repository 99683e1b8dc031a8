"""What objects print: readable lines of at most 80 columns, and short in lists."""

import json
import os
import pty
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import leastnoise as ln
from leastnoise import Answer
from leastnoise.tables import GroupedAnswers, TableNumber, census
from leastnoise.tables.answers.subject import Statement, Subject
from tests.support.screens import WIDTH, unwrapped

LIMIT = ln.Privacy(1, "1e-6")


@pytest.fixture
def place(tmp_path: Path) -> str:
    """A ledger with an allocation, and a count with ε = 0.2, whose 95% error is 15."""
    path = str(tmp_path / "people.ledger")
    with ln.Ledger(path, limit=LIMIT, analyst="ann") as ledger:
        ledger.allocate("survey", ln.Privacy("0.5", "5e-7"))
        people = ln.protect(census(), unit="person_id", max_rows=1, ledger=ledger)
        people.count(privacy=ln.Privacy("0.2"), key="persons")
    return path


def test_answers_in_a_list_state_their_error_and_guarantee() -> None:
    people = ln.protect(census(), unit="person_id", max_rows=1, ledger=ln.UNRECORDED)
    answers = people.ask(
        [ln.Count(), ln.Count(by="region", groups=["north"], max_groups=1)], privacy=LIMIT
    )
    count, grouped = answers
    assert isinstance(count, Answer)
    value = count.value
    assert repr(count) == f"<count: {value} ± 6 (95%), ε = 0.5, δ = 5e-7>"
    assert repr(grouped) == "<count by region: 1 group, ε = 0.5, δ = 5e-7>"
    alone = ln.calibrate(ln.Privacy(delta="0.1"), sensitivity=1, integer=True).release(42)
    assert repr(alone) == f"<release: {alone.value} ± 5 (95%), δ = 0.1>"


def test_accounts_receipts_and_releases_print_labelled_lines(place: str) -> None:
    with ln.Ledger(place, analyst="ann") as ledger:
        account, release = ledger.accounts[0], ledger.releases[0]
        survey = ledger.allocation("survey")
        mechanism = ln.calibrate(ln.Privacy("0.05"), sensitivity=1, integer=True)
        receipt = mechanism.release(42, ledger=survey, key="k").receipt
        assert receipt is not None
        for printed in (account, ledger.analyst_account, release, receipt, mechanism):
            assert max(map(len, str(printed).splitlines())) <= WIDTH
        assert "Spent       ε = 0.7, δ = 5e-7\n" in str(account)
        assert "Remaining   ε = 0.3, δ = 5e-7\n" in str(account)
        assert "Analyst" not in str(account)
        assert "Analyst     ann\n" in str(ledger.analyst_account)
        assert "'survey': 100% of μ² and 100% of γ remain of ε = 0.5, δ = 5e-7" in str(account)
        assert repr(account) == "<data: ε = 0.3, δ = 5e-7 remain of ε = 1, δ = 1e-6>"
        assert str(release).startswith("Key        persons\nCharged    row ")
        assert "Guarantee  ε = 0.2, δ = 0" in str(release)
        assert repr(release) == f"<release 'persons': ε = 0.2, δ = 0, row {release.row}>"
        assert f"Head      {ledger.head}" in str(receipt)
        assert repr(receipt).startswith(f"<receipt 'k': row {receipt.charge}, ")


def test_a_mechanism_prints_its_error_first() -> None:
    """Laplace noise of scale 1: P(|X| > a) = e^-a is 0.05 at a = 2.9957…, rounded up."""
    mechanism = ln.calibrate(ln.Privacy(1), sensitivity=1, family="laplace")
    first, *rest = str(mechanism).splitlines()
    assert first == "Laplace(scale=1): 95% error ± 2.996"
    assert rest[0] == "Max error      none"
    assert "Expected cost  1 (E|error|)" in rest
    assert "Guarantee      ε = 1, δ = 0 at sensitivity 1" in rest
    words = mechanism.explain(people=8000)
    assert max(map(len, words.splitlines())) <= WIDTH
    assert "Answers about the same people add up: sum their ε and δ." in unwrapped(words)


def test_a_long_title_of_a_dry_run_is_wrapped() -> None:
    people = ln.protect(census(), unit="person_id", max_rows=1, ledger=ln.UNRECORDED)
    mean = ln.Mean("income", bounds=(0, 150_000), by=("region", "sex", "age"), max_groups=1)
    text = str(people.explain(mean, privacy=ln.Privacy("0.1", "1e-7")))
    assert max(map(len, text.splitlines())) <= WIDTH
    assert "…" not in text
    table = text.split("\n\n")[1].splitlines()
    titles = [line[:30].strip() for line in table[1:]]
    assert titles == ["mean of income by region, sex,", "age"]
    assert "\n    clipped to [0, 150000]\n" in text


def test_json_is_indented_on_a_terminal_and_one_line_elsewhere(place: str) -> None:
    command = [sys.executable, "-m", "leastnoise", "ledger", "show", place, "--json"]
    piped = subprocess.run(command, capture_output=True, check=True).stdout
    assert piped.count(b"\n") == 1
    reader, writer = pty.openpty()
    with subprocess.Popen(command, stdout=writer) as running:
        os.close(writer)
        parts = []
        while True:
            try:
                part = os.read(reader, 1 << 16)
            except OSError:  # the terminal is closed
                break
            if not part:
                break
            parts.append(part)
        assert running.wait() == 0
    os.close(reader)
    shown = b"".join(parts)
    assert shown.count(b"\n") > 10
    assert json.loads(shown) == json.loads(piped)


def test_the_answer_of_one_group_names_its_group() -> None:
    """Only in print: equal answers, ``to_dict`` and exports do not have it."""
    people = ln.protect(census(), unit="person_id", max_rows=1, ledger=ln.UNRECORDED)
    bounds = (0, 120)
    pairs: Any = {"by": ["region", "sex"], "groups": [("north", "f"), ("south", "m")]}
    answers: list[Any] = people.ask(
        [
            ln.Count(by="region", groups=["north", " "], max_groups=1),
            ln.Mean("age", bounds=bounds, max_groups=1, **pairs),
            ln.Quantile("age", "1/2", bounds=bounds, max_groups=1, **pairs),
            ln.Quantile("age", "1/2", bounds=bounds, interval="0.9", max_groups=1, **pairs),
        ],
        privacy=LIMIT,
    )
    counts, *others = answers
    begins = [(counts["north"], "count by region, group north"), (counts[" "], '" "')]
    titles = ["mean of age", "median of age", "median of age"]
    begins += [
        (table["north", "f"], f"{title} by region, sex, group (north, f)")
        for table, title in zip(others, titles, strict=True)
    ]
    for answer, beginning in begins:
        assert beginning in str(answer).splitlines()[0].partition(":")[0]
        assert beginning in repr(answer).partition(":")[0]
        assert max(map(len, str(answer).splitlines())) <= WIDTH
        assert "group" not in str(answer.subject.to_dict()["quantity"])
        assert "group" not in answer.subject.title
    assert counts["north"] == dict(iter(counts))["north"]
    assert others[0]["north", "f"] == others[0].answers[0]
    assert str(counts).startswith("count by region\n")


@pytest.mark.parametrize("value", [True, 3, date(2026, 11, 19)])
def test_a_group_of_any_type_is_named_as_its_table_prints_it(value: object) -> None:
    mechanism = ln.calibrate(ln.Privacy(1), sensitivity=1, integer=True)
    statement = Statement(
        subject=Subject(title="count by a"), privacy=LIMIT, total_privacy=LIMIT, receipt=None
    )
    table = GroupedAnswers(
        names=("a",),
        keys=((value,),),  # type: ignore[arg-type]
        answers=(TableNumber(1, mechanism, statement),),
        title="count by a",
        privacy=LIMIT,
    )
    assert str(table[value]).startswith(f"count by a, group {value}: 1 ± 3 (")
