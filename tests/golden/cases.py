"""The calls whose sampled noise, certificates, digests and ledger rows may never change.

They are those of 0.5.0, except for means and for ``ask`` without groups, which have joint noise
since 0.6.0: their draws, and the rows of a ledger from the first mean on.

Nothing here depends on a solver: solved noise is read from the certificates of 0.5.0 that lie
beside this file, so the recorded numbers are the same on every machine.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import UUID

import numpy as np

import leastnoise as ln
from leastnoise.core.sampling import entropy
from leastnoise.mechanism import Discretized, calibrate_pair
from leastnoise.mechanism.storage import describe
from leastnoise.planning import Option, Plan
from leastnoise.tables import census
from tests.support.tapes import with_checks

HERE = Path(__file__).resolve().parent
SOLVED = sorted(HERE.glob("certificate-0.5.0-solved-*.json"))
P = ln.Privacy
SMALL = P(1, "1e-6")

# Name → arguments of calibrate. Closed forms only.
CALIBRATIONS: dict[str, dict[str, Any]] = {
    "uniform, theorem 3": {"privacy": P(delta=0.1), "sensitivity": 1},
    "uniform, l2, any shape": {
        "privacy": P(delta="0.5"), "sensitivity": 1, "cost": ln.l2, "shape": "any",
    },
    "comb": {"privacy": P(delta="0.1"), "sensitivity": 1, "shape": "any"},
    "uniform with an atom": {"privacy": P(delta="0.9"), "sensitivity": 1},
    "uniform, threshold": {"privacy": P(delta=0.1), "sensitivity": 2, "cost": ln.threshold(10)},
    "uniform, integers": {"privacy": P(delta="0.01"), "sensitivity": 3, "integer": True},
    "staircase": {"privacy": P(1), "sensitivity": 3},
    "staircase, l2": {"privacy": P("0.3"), "sensitivity": 1, "cost": ln.l2},
    "staircase, points": {
        "privacy": P(1), "sensitivity": 1, "cost": ln.piecewise_linear([(0, 0), (1, 2), (5, 3)]),
    },
    "staircase, integers": {"privacy": P("0.7"), "sensitivity": 2, "integer": True},
    "staircase, odd power": {"privacy": P(1), "sensitivity": 1, "cost": ln.lp("1.5")},
    "laplace": {"privacy": P(1), "sensitivity": 2, "family": "laplace"},
    "laplace, integers": {
        "privacy": P(1), "sensitivity": 2, "integer": True, "family": "laplace",
    },
    "truncated laplace": {"privacy": SMALL, "sensitivity": 1, "family": "truncated_laplace"},
    "truncated laplace, integers": {
        "privacy": P("0.5", "1e-5"),
        "sensitivity": 2,
        "family": "truncated_laplace",
        "integer": True,
    },
    "gaussian": {"privacy": SMALL, "sensitivity": 1, "family": "gaussian"},
    "gaussian, integers": {
        "privacy": P("0.1", "1e-9"), "sensitivity": 5, "family": "gaussian", "integer": True,
    },
    "closed form for both": {"privacy": SMALL, "sensitivity": 1, "solve": False},
    "small sensitivity": {"privacy": P("0.2", "1e-7"), "sensitivity": "1e-9", "solve": False},
    "large sensitivity": {"privacy": P("0.2", "1e-7"), "sensitivity": 10**12, "solve": False},
}  # fmt: skip


def mechanisms() -> Iterator[tuple[str, ln.Mechanism]]:
    """Calibrate every case, and read the solved noise of 0.5.0."""
    for name, asked in CALIBRATIONS.items():
        yield name, ln.calibrate(**asked)
    for path in SOLVED:
        yield path.stem, certified(ln.Certificate.from_json(path.read_text(encoding="utf-8")))


def certified(certificate: ln.Certificate) -> ln.Mechanism:
    """Build the mechanism that calibrate built from this certificate's noise."""
    privacy, moved, cost = certificate.privacy, certificate.sensitivity, certificate.objective
    drawn = Discretized(certificate.noise.discretize(moved), cost)
    return ln.Mechanism(privacy, moved, certificate.noise, certificate, drawn, certificate.integer)


@contextmanager
def fixed_bits() -> Iterator[None]:
    """Replace the system's generator by one fixed stream: SHA-256 of 0, 1, 2, …"""
    state = {"block": 0}

    def stream(size: int) -> bytes:
        blocks = range(state["block"], state["block"] - (-size // 32))
        state["block"] = blocks.stop
        return b"".join(hashlib.sha256(str(i).encode()).digest() for i in blocks)[:size]

    with patch.object(entropy, "urandom", with_checks(stream)):
        yield


def digest(value: object) -> str:
    """Digest what ``value`` prints as."""
    return hashlib.sha256(repr(value).encode()).hexdigest()


def sampled() -> dict[str, Any]:
    """Return what every mechanism, pair and table releases under the fixed bits."""
    out: dict[str, Any] = {}
    for name, mechanism in mechanisms():
        with fixed_bits():
            one = [mechanism.release(42, allow_exact=True).index for _ in range(300)]
            values = np.arange(5000) if mechanism.integer else np.linspace(-50, 50, 5000)
            many = mechanism.release(values, allow_exact=True).values.tolist()
            few = mechanism.release(values[:7], allow_exact=True).values.tolist()
        out[name] = {
            "indices": [str(index) for index in one[:6]],
            "scalar": digest(one),
            "array": digest(many),
            "short array": digest(few),
        }
    pair = calibrate_pair(P(1), sensitivity=2)
    with fixed_bits():
        out["pair"] = digest([pair.release((1, 2)).value for _ in range(100)])
    out["tables"] = {name: digest(answer) for name, answer in table_answers(ln.UNRECORDED)}
    return out


def table_answers(ledger: Any) -> Iterator[tuple[str, object]]:
    """Ask the sample census every kind of question."""
    people = ln.protect(census(), unit="person_id", max_rows=1, ledger=ledger)
    money: dict[str, Any] = {"bounds": (0, 150_000)}
    some = P("0.2", "1e-7")
    with fixed_bits():
        yield "count", people.count(privacy=P("0.1")).index
        yield "count, where", people.count(privacy=P("0.1"), where="age >= 18").index
        regions = people.count(privacy=some, by="region", max_groups=1)
        yield "count by", list(zip(regions.keys, [a.index for a in regions.answers], strict=True))
        yield "sum", people.sum("income", **money, privacy=P("0.1")).index
        given = people.sum(
            "income", **money, privacy=P("0.1"), by="sex", max_groups=1, groups=["f", "m"]
        )
        yield "sum by", [a.index for a in given.answers]
        yield "mean", str(people.mean("income", **money, privacy=some).value)
        by_sex = people.mean(
            "hours", bounds=(0, 80), privacy=some, by="sex", max_groups=1, groups=["f", "m"]
        )
        yield "mean by", [str(a.value) for a in by_sex.answers]
        edges = [0, 18, 65, 120]
        yield (
            "histogram",
            [
                a.index
                for a in people.histogram(
                    "age", edges=edges, max_groups=1, privacy=P("0.1")
                ).answers
            ],
        )
        several: Any = people.ask([ln.Count(), ln.Sum("income", **money)], privacy=some)
        yield "ask", [a.index for a in several]


def digests() -> dict[str, Any]:
    """Return the digest of every certificate and of every mechanism, as a ledger records it."""
    out = {}
    for name, mechanism in mechanisms():
        described, mechanism_digest = describe(mechanism)
        out[name] = {
            "certificate": digest(mechanism.certificate.to_json()),
            "mechanism": mechanism_digest,
            "description": digest(json.dumps(described, sort_keys=True)),
        }
    return out


class Clock(datetime):
    """A clock that stands still."""

    @classmethod
    def now(cls, tz: Any = None) -> "Clock":
        """Return the same moment always."""
        return cls(2026, 11, 18, tzinfo=tz or UTC)


def rows(path: Path) -> list[list[Any]]:
    """Write one release of every kind into a new ledger and return its rows, hashes included."""
    with (
        patch("leastnoise.ledger.rows.datetime", Clock),
        patch("leastnoise.ledger.ledger.uuid4", lambda: UUID(int=7)),
    ):
        ledger = ln.Ledger(path, limit=P(20, "1e-3"), dataset="people", analyst="ada")
        release_everything(ledger)
        return [
            [row.seq, row.kind, row.key, digest(row.body), digest(row.payload), row.hash]
            for row in ledger.rows()
        ]


def release_everything(ledger: Any) -> None:
    """Release a number, an array, a pair, a plan and table answers, recorded in ``ledger``."""
    uniform = ln.calibrate(P(delta="1e-4"), sensitivity=1)
    whole = ln.calibrate(P("0.5"), sensitivity=1, integer=True)
    pair = calibrate_pair(P("0.5"), sensitivity=2)
    wanted = [
        ln.NumericQuery("a", sensitivity=1, integer=True),
        ln.NumericQuery("b", sensitivity=4),
    ]
    # The parts that 0.5.0 chose: which parts plan() chooses may change, its records may not.
    parted = [(P("0.1666685"), 1, True), (P("0.3333315"), 4, False)]
    noises = tuple(
        ln.calibrate(part, sensitivity=size, integer=integer, family="staircase", solve=False)
        for part, size, integer in parted
    )
    rows = (Option("staircase", "split"),)
    plan = Plan(P("0.5", "1e-6"), tuple(wanted), noises, rows, P("0.5"))
    with fixed_bits():
        uniform.release(42, ledger=ledger, key="number")
        whole.release(7, ledger=ledger, key="whole number")
        uniform.release(np.linspace(0, 1, 9), ledger=ledger, key="array")
        whole.release(np.arange(5), ledger=ledger, key="whole array")
        pair.release((1, 2), ledger=ledger, key="pair")
        plan.release({"a": 3, "b": 2.5}, ledger=ledger, key="plan")
        uniform.release(42, ledger=ledger, key="number")
        uniform.release(42, ledger=ledger, key="number", fresh=True)
    money: dict[str, Any] = {"bounds": (0, 150_000)}
    # A row has the absolute path of a file without a name, which is another on every machine.
    with fixed_bits():
        people = ln.protect(census(), unit="person_id", max_rows=1, ledger=ledger, name="people")
        people.count(privacy=P("0.1"), key="count")
        people.count(privacy=P("0.1", "1e-7"), by="region", max_groups=1, key="count by region")
        people.sum(
            "income",
            **money,
            privacy=P("0.1"),
            by="sex",
            max_groups=1,
            groups=["f", "m"],
            key="sum",
        )
        people.mean("income", **money, privacy=P("0.1", "1e-7"), key="mean")
        people.ask([ln.Count(), ln.Sum("income", **money)], privacy=P("0.1"), key="ask")
