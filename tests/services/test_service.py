"""The web service of the examples, with real servers on a real PostgreSQL ledger."""

import asyncio
import hashlib
import http.client
import importlib.util
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import leastnoise
from leastnoise.cli import main
from leastnoise.tables import census
from tests.support.postgres_servers import Server

ln: Any = leastnoise
SCRIPT = Path(__file__).parents[2] / "examples" / "service.py"
ANALYSTS = ("ann", "bob", "cyd")
LIMIT = ln.Privacy(1, "1e-6")
CARD = """\
source = {source}
unit = "person_id"
max_rows = 1
max_groups = 1

[largest]
epsilon = "4/5"

[ledger]
path = {{env = "LEASTNOISE_LEDGER"}}
epsilon = 1
delta = 1e-6

[columns.age]

[columns.income]
bounds = [0, 150_000]

[columns.sex]
groups = ["f", "m"]

{limits}
"""


def token(analyst: str) -> str:
    return f"token-of-{analyst}"


@pytest.fixture(scope="module")
def module() -> Any:
    """The script as a module: examples are no package."""
    spec = importlib.util.spec_from_file_location("service", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules["service"] = made  # its dataclasses look for it
    spec.loader.exec_module(made)
    return made


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    tokens = "\n".join(
        f'{name} = "{hashlib.sha256(token(name).encode()).hexdigest()}"' for name in ANALYSTS
    )
    path = tmp_path / "service.toml"
    path.write_text(f'card = "people.toml"\n[tokens]\n{tokens}\n', encoding="utf-8")
    limits = "\n".join(f'[analysts.{name}]\nepsilon = "1/2"\ndelta = 1e-7' for name in ANALYSTS)
    card = CARD.format(source=json.dumps(str(census())), limits=limits)
    (tmp_path / "people.toml").write_text(card, encoding="utf-8")
    return path


def make_ledger(settings: Path, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Create the ledger as its owner does, by the card."""
    monkeypatch.setenv("LEASTNOISE_LEDGER", address)
    applied = CliRunner().invoke(main, ["card", "apply", str(settings.parent / "people.toml")])
    assert applied.exit_code == 0, applied.output


# ----------------------------------------------------------------------------- without a server


@pytest.fixture
def service(
    module: Any, settings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Any]:
    make_ledger(settings, str(tmp_path / "people.ledger"), monkeypatch)
    with closing(module.Service(module.Settings.read(settings))) as made:
        yield made


def call(module: Any, service: Any, path: str, body: bytes = b"", who: str = "ann") -> Any:
    """Send one request to the application, as a server does."""
    app = module.make_app(None)
    app.state.service = service
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST" if body else "GET",
        "path": path,
        "query_string": b"",
        "headers": [(b"authorization", f"Bearer {token(who)}".encode())],
    }
    asyncio.run(app(scope, receive, send))
    return sent[0]["status"], json.loads(sent[1]["body"])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("x", "A query must be JSON"),
        ("[" * 30_000, "A query must be JSON"),
        ("9" * 70_000, "at most 65536 bytes"),
        ("[]", "query as one of count, sum"),
        ('{"query": ["count"]}', "query as one of count, sum"),
        ('{"query": "close"}', "query as one of count, sum"),
        ('{"query": "count", "key": "a", "share": 1}', "got 'key'"),
        ('{"query": "count", "fresh": true, "share": 1}', "got 'fresh'"),
        ('{"query": "sum", "share": "1/9"}', "lacks a field"),
        ('{"query": "count"}', "Exactly one of privacy="),
        ('{"query": "count", "privacy": 1}', "privacy must be an object"),
        ('{"query": "count", "share": "1/9", "where": "x x"}', "where must be a valid condition"),
        ('{"query": "count", "share": "1/9", "by": 5}', "by"),
        (
            '{"query": "mean", "column": "income", "bounds": [0, 200000], "share": "1/9"}',
            "people.toml, line 17 allows bounds of 'income' within [0, 150000]",
        ),
        (
            '{"query": "count", "where": "hours > 40", "share": "1/9"}',
            "must not use the column 'hours': people.toml lists other columns only",
        ),
        (
            '{"query": "count", "by": "sex", "groups": ["f", "x"], "share": "1/9"}',
            "people.toml, line 20",
        ),
        (
            '{"query": "count", "by": "sex", "max_groups": 2, "share": "1/9"}',
            "people.toml, line 4",
        ),
        ('{"query": "count", "privacy": {"epsilon": "0.9"}}', "people.toml, line 7"),
        (
            '{"query": "sum", "column": "income", "bounds": [1, 0], "share": "1/9"}',
            "The lower bound",
        ),
    ],
)
def test_a_bad_query_is_a_400_with_a_sentence(
    body: str, message: str, module: Any, service: Any
) -> None:
    status, found = call(module, service, "/query", body.encode())
    assert status == 400
    assert message in found["message"]
    assert service.budget("ann")["spent"] == {"epsilon": "0", "delta": "0"}


def test_numbers_are_read_exactly(module: Any, service: Any) -> None:
    body = b'{"query": "count", "privacy": {"epsilon": 0.1}}'
    status, found = call(module, service, "/query", body)
    assert status == 200
    assert found["privacy"] == {"epsilon": "1/10", "delta": "0"}
    assert found["low"] < found["value"] < found["high"]
    assert module.parse_query(json.loads(body, parse_float=Decimal))[1]["privacy"] == ln.Privacy(
        "1/10"
    )


def test_a_budget_that_is_spent_is_a_403(module: Any, service: Any) -> None:
    body = b'{"query": "count", "privacy": {"epsilon": "0.6"}}'
    status, found = call(module, service, "/query", body)
    assert (status, found["error"]) == (403, "BudgetExceeded")
    assert "Nothing was charged" in found["message"]


def test_tokens_are_of_one_analyst(module: Any, service: Any) -> None:
    for analyst in ANALYSTS:
        assert call(module, service, "/budget", who=analyst)[1]["analyst"] == analyst
    for wrong in ("dan", "ann ", ""):
        status, found = call(module, service, "/budget", who=wrong)
        assert (status, found["error"]) == (401, "Unauthorized")


def test_a_query_is_charged_to_the_analyst_who_asks(module: Any, service: Any) -> None:
    body = b'{"query": "count", "privacy": {"epsilon": "0.3"}}'
    assert call(module, service, "/query", body, who="bob")[0] == 200
    spent = [call(module, service, "/budget", who=who)[1]["spent"] for who in ANALYSTS]
    assert [each["epsilon"] for each in spent] == ["0", "3/10", "0"]
    # The answer is stored for all of them.
    status, found = call(module, service, "/query", body, who="cyd")
    assert (status, found["reused"]) == (200, True)
    assert call(module, service, "/budget", who="cyd")[1]["spent"]["epsilon"] == "0"


@pytest.mark.parametrize("limit", ["[analysts.ann]\n", ""])
def test_an_analyst_without_a_limit_is_not_served(limit: str, module: Any, settings: Path) -> None:
    card = settings.parent / "people.toml"
    text = card.read_text(encoding="utf-8")
    own = '[analysts.ann]\nepsilon = "1/2"\ndelta = 1e-7\n'
    assert own in text
    card.write_text(text.replace(own, limit), encoding="utf-8")
    with pytest.raises(ln.errors.InvalidParameter, match="states no limit of the analyst 'ann'"):
        module.Service(module.Settings.read(settings))


def test_a_query_needs_only_what_the_card_leaves_open(module: Any, service: Any) -> None:
    body = b'{"query": "mean", "column": "income", "by": "sex", "share": "1/2"}'
    status, found = call(module, service, "/query", body)
    assert status == 200
    assert [row["group"]["sex"] for row in found["groups"]] == ["f", "m"]
    for row in found["groups"]:
        assert 0 < row["low"] < row["value"] < row["high"] < 150_000


# ------------------------------------------------------------------------------- with real servers


@contextmanager
def serving(settings: Path, address: str) -> Iterator[int]:
    """Run a server; yield its port."""
    process = subprocess.Popen(
        [sys.executable, SCRIPT, settings, "--port", "0"],
        env={**os.environ, "LEASTNOISE_LEDGER": address},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        lines = []
        for line in process.stderr:
            lines.append(line)
            found = re.search(r"running on http://127\.0\.0\.1:(\d+)", line)
            if found:
                break
        else:
            raise AssertionError("".join(lines))
        with ThreadPoolExecutor(1) as reader:
            rest = reader.submit(process.stderr.read)
            try:
                yield int(found[1])
            finally:
                process.terminate()
                log = rest.result(timeout=30)
        assert "charged: " in log or "reused: " in log
        assert "Traceback" not in log
        assert address not in log
    finally:
        process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()


def ask(port: int, analyst: str, query: Any = None, path: str = "/query") -> Any:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        headers = {"Authorization": f"Bearer {token(analyst)}"}
        if query is None:
            connection.request("GET", path, headers=headers)
        else:
            connection.request("POST", path, json.dumps(query), headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())


def count_above(age: int, share: str = "1/20") -> dict[str, str]:
    return {"query": "count", "where": f"age >= {age}", "share": share}


@pytest.mark.long
def test_three_analysts_ask_two_servers_and_overspend_nothing(
    settings: Path, quick_postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = quick_postgres.database()
    make_ledger(settings, address, monkeypatch)
    with serving(settings, address) as one, serving(settings, address) as two:
        assert ask(one, "ann", path="/healthz") == (200, {"status": "ok"})
        # 25 different queries of each analyst for 1/20 of their limit: 20 fit into it, and together
        # into the limit of the dataset, which is twice that of an analyst, only 40.
        jobs = [
            ((one, two)[age % 2], analyst, count_above(age + 30 * place))
            for age in range(25)
            for place, analyst in enumerate(ANALYSTS)
        ]
        with ThreadPoolExecutor(12) as pool:
            results = [*pool.map(lambda job: ask(*job), jobs)]
        statuses = Counter(status for status, _ in results)
        assert statuses == {200: 40, 403: 35}
        by_analyst = Counter(
            job[1] for job, (status, _) in zip(jobs, results, strict=True) if status == 200
        )
        assert max(by_analyst.values()) <= 20
        assert ask(one, "dan", count_above(1))[0] == 401
        # What was answered costs nothing again, from either server.
        place = next(i for i, (status, _) in enumerate(results) if status == 200)
        _, analyst, query = jobs[place]
        for port in (one, two):
            status, again = ask(port, analyst, query)
            assert (status, again["reused"]) == (200, True)
            assert again["value"] == results[place][1]["value"]
    with ln.Ledger(address) as ledger:
        assert ledger.spent.epsilon == LIMIT.epsilon
        accounts = {each.analyst: each for each in ledger.accounts}
        for analyst in ANALYSTS:
            assert accounts[analyst].spent.epsilon == Fraction(by_analyst[analyst], 40)
        assert len(ledger.releases) == 40
        ledger.verify()


@pytest.mark.long
def test_a_restart_keeps_budgets_and_answers(
    settings: Path, quick_postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = quick_postgres.database()
    make_ledger(settings, address, monkeypatch)
    kept = []
    mean = {
        "query": "mean",
        "column": "income",
        "by": "sex",
        "share": "1/2",
    }
    for _ in range(2):
        with serving(settings, address) as port:
            status, first = ask(port, "ann", mean)
            assert status == 200
            assert [row["group"] for row in first["groups"]] == [{"sex": "f"}, {"sex": "m"}]
            refused, _ = ask(port, "ann", count_above(5, share="3/4"))
            others = [ask(port, name, path="/budget")[1]["spent"] for name in ("bob", "cyd")]
            own = ask(port, "ann", path="/budget")[1]
            kept.append((first["groups"], own, others, refused))
    assert kept[0] == kept[1]
    _, own, others, refused = kept[0]
    assert own["spent"] == {"epsilon": "1/4", "delta": "1/20000000"}
    assert others == [{"epsilon": "0", "delta": "0"}] * 2
    assert refused == 403
