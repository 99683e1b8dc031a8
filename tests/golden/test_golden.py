"""Sampled noise, certificates, digests and ledger rows are those of 0.5.0, bit for bit."""

import json
import shutil
from contextlib import chdir
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

import leastnoise as ln
from leastnoise.core.sampling import entropy
from leastnoise.tables import census
from tests.golden.cases import CALIBRATIONS, HERE, SOLVED, P, digests, fixed_bits, rows, sampled

CERTIFICATES = sorted(HERE.glob("certificate-0.5.0-*.json"))


def recorded(name: str) -> Any:
    return json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))


def test_sampled_noise_is_unchanged() -> None:
    assert sampled() == recorded("draws")


def test_the_fixed_bits_decide_what_is_sampled() -> None:
    # The control: with one bit of every read flipped, the comparison above would fail.
    mechanism = ln.calibrate(P(delta="0.1"), sensitivity=1)
    with fixed_bits():
        plain = [mechanism.release(42).index for _ in range(20)]
        stream: Any = vars(entropy)["urandom"]
    with (
        fixed_bits(),
        patch.object(entropy, "urandom", lambda size: bytes(b ^ 128 for b in stream(size))),
    ):
        assert [mechanism.release(42).index for _ in range(20)] != plain


def test_certificates_and_mechanisms_have_the_same_digests() -> None:
    assert digests() == recorded("digests")


def test_ledger_rows_are_unchanged(tmp_path: Path) -> None:
    assert rows(tmp_path / "golden.ledger") == recorded("rows")


def test_all_certificates_are_there() -> None:
    assert len(CERTIFICATES) == len(CALIBRATIONS) + len(SOLVED)


@pytest.mark.parametrize("path", CERTIFICATES, ids=lambda path: path.stem)
def test_certificates_of_0_5_0_are_read_verified_and_written_the_same(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    certificate = ln.Certificate.from_json(text)
    certificate.verify()
    assert certificate.to_json() == text


def test_a_ledger_of_0_5_0_is_read_and_continued(tmp_path: Path) -> None:
    shutil.copy(HERE / "0.5.0.ledger", tmp_path / "people.ledger")
    ledger = ln.Ledger(tmp_path / "people.ledger", dataset="people", analyst="ada")
    ledger.verify()
    spent = P("2.5", "0.0003002")
    assert ledger.spent == spent

    uniform = ln.calibrate(P(delta="1e-4"), sensitivity=1)
    stored = uniform.release(42, ledger=ledger, key="number")
    assert stored.receipt is not None
    assert stored.receipt.reused
    again = uniform.release(np.linspace(0, 1, 9), ledger=ledger, key="array")
    assert again.receipt is not None
    assert again.receipt.reused
    with chdir(census().parent):
        people = ln.protect("people.csv", unit="person_id", max_rows=1, ledger=ledger)
        counted = people.count(privacy=P("0.1"), key="count")
    assert counted.receipt is not None
    assert counted.receipt.reused
    assert ledger.spent == spent

    uniform.release(1, ledger=ledger, key="new")
    assert ledger.spent == P("2.5", "0.0004002")
    ledger.verify()


def test_a_ledger_of_0_5_0_with_quantiles_is_read_and_its_answers_are_not_taken_for_new_ones(
    tmp_path: Path,
) -> None:
    """0.5.0 searched by noisy comparisons, whose rank errors differ from those of a selection."""
    shutil.copy(HERE / "0.5.0-quantiles.ledger", tmp_path / "people.ledger")
    with ln.Ledger(tmp_path / "people.ledger") as ledger:
        ledger.verify()
        assert ledger.spent == P(2)
        assert [one.key.split(" #")[0] for one in ledger.releases] == [
            "the median",
            "0.9-quantile of x by g",
        ]
        rows = {"unit": range(40), "x": [i / 4 for i in range(40)], "g": ["a", "b"] * 20}
        frame = pa.table({name: list(column) for name, column in rows.items()})
        people = ln.protect(frame, unit="unit", max_rows=1, ledger=ledger, name="people")
        asked: dict[str, Any] = {"bounds": (0, 10), "bins": 16, "privacy": P(1)}
        with pytest.raises(ln.errors.InvalidParameter, match="a different query"):
            people.median("x", **asked, key="the median")
        assert ledger.spent == P(2)
        assert not people.median("x", **asked).receipt.reused
        assert ledger.spent == P(3)
        ledger.verify()
