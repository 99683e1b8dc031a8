"""``leastnoise verify`` prints what it verified apart from what only the file says."""

import json
import math
import pickle
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import leastnoise as ln
from leastnoise.certificate import Certificate
from leastnoise.cli import main
from tests.certificate.test_tabulated import signed
from tests.cli.test_cli import run

BOAST = "proved optimal among all noise by Euler (1748), Theorem 1"


def uniform() -> Certificate:
    return ln.calibrate(ln.Privacy(delta="0.1"), sensitivity=1).certificate


def saved(certificate: Certificate, path: Path, **changes: object) -> str:
    path.write_text(signed(json.loads(certificate.to_json()) | changes), encoding="utf-8")
    return str(path)


def test_a_source_of_ones_own_is_not_printed_as_verified(tmp_path: Path) -> None:
    done = run("verify", saved(uniform(), tmp_path / "certificate.json", source=BOAST))
    assert done.returncode == 0
    verified, says = done.stdout.split("Claimed by the file, not verified:")
    assert "Euler" not in verified
    assert str(uniform()) in " ".join(verified.split())
    assert f"Source {BOAST!r}" in " ".join(says.split())


def test_json_holds_claims_apart(tmp_path: Path) -> None:
    path = saved(uniform(), tmp_path / "certificate.json", source=BOAST)
    found = json.loads(run("verify", path, "--json").stdout)
    assert found["claimed"] == {"source": BOAST}
    assert found["verified"]["exact"]
    assert found["verified"]["privacy"] == {"epsilon": "0", "delta": "1/10"}
    assert "Euler" not in json.dumps(found["verified"])


def test_the_name_of_a_function_is_a_claim(tmp_path: Path) -> None:
    privacy, cost = ln.Privacy(delta="0.1"), ln.Cost(math.log1p)
    certificate = ln.calibrate(privacy, sensitivity=1, cost=cost).certificate
    path = saved(certificate, tmp_path / "certificate.json")
    verified, says = run("verify", path).stdout.split("Claimed by the file")
    assert "log1p" not in verified
    assert "for the tabulated cost" in " ".join(verified.split())
    assert "  Cost    'Cost(log1p)'" in says
    data = json.loads(run("verify", path, "--json").stdout)
    assert data["claimed"]["cost"] == "Cost(log1p)"
    assert "log1p" not in json.dumps(data["verified"])


@pytest.mark.parametrize("how", ["file", "pickle", "replace"])
def test_what_was_not_verified_is_not_printed_as_proved(how: str) -> None:
    """In Python too: a certificate that was read says so until its check has passed."""
    certificate = uniform()
    assert str(certificate).startswith("optimal among symmetric unimodal noise")
    makers: dict[str, Callable[[], Certificate]] = {
        "file": lambda: Certificate.from_json(certificate.to_json()),
        "pickle": lambda: pickle.loads(pickle.dumps(certificate)),
        "replace": lambda: replace(certificate, source=BOAST),
    }
    other = makers[how]()
    assert str(other) == f"not verified: {certificate}"
    assert repr(other) == f"Certificate({certificate.noise!r}: not verified: {certificate})"
    other.verify()
    assert str(other) == str(certificate)


def test_a_check_that_fails_verifies_nothing() -> None:
    false = replace(uniform(), lower_bound=uniform().lower_bound + 1)
    with pytest.raises(
        ln.errors.InvalidParameter, match="the evidence proves a different lower bound"
    ):
        false.verify()
    assert str(false).startswith("not verified: ")


def test_words_of_the_cache_are_not_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kept solution is verified again, and described by the words of this version."""
    monkeypatch.setenv("LEASTNOISE_CACHE", str(tmp_path))
    asked: dict[str, Any] = {
        "privacy": ln.Privacy(1, "0.07"),
        "sensitivity": 1,
        "cost": ln.l2,
        "gap": "1/100",
    }
    first = ln.calibrate(**asked).certificate
    (kept,) = tmp_path.glob("*.json")
    kept.write_text(signed(json.loads(kept.read_text(encoding="utf-8")) | {"source": BOAST}))
    again = ln.calibrate(**asked).certificate
    assert again == first
    assert again.verified
    assert "Euler" not in f"{again} {again.source}"


def test_the_guarantee_is_printed_from_the_weaker_side(tmp_path: Path) -> None:
    """0.1 + 3·10⁻¹⁶ is not printed as 0.1, nor a sensitivity just below 1 as 1."""
    tiny = Fraction(1, 3 * 10**15)
    for delta, sensitivity in (
        (Fraction(1, 10) + tiny, 1 - tiny),
        (Fraction(1, 10) + Fraction(12, 7 * 10**13), 1 - Fraction(1, 7 * 10**12)),
        (Fraction(1, 10), Fraction(1)),
    ):
        made = ln.calibrate(ln.Privacy(0, delta), sensitivity=sensitivity)
        file = tmp_path / "certificate.json"
        file.write_text(made.certificate.to_json(), encoding="utf-8")
        done = CliRunner().invoke(main, ["verify", str(file)])
        found = re.search(r"ε = 0, δ = ≈?([0-9./e-]+) at sensitivity ≈?([0-9./e-]+)", done.stdout)
        assert found is not None
        assert Fraction(found[1]) >= delta
        assert Fraction(found[2]) <= sensitivity


def test_a_name_twice_in_an_object_is_rejected(tmp_path: Path) -> None:
    """Readers of JSON differ in which of the two they take."""
    made = ln.calibrate(ln.Privacy(0, "0.1"), sensitivity=1)
    text = made.certificate.to_json()
    for twice in ('"cost": "1",', '"among": "any",', '"kind": "Uniform",'):
        name = twice.split(":")[0]
        assert text.count(name) >= 1
        file = tmp_path / "certificate.json"
        file.write_text(text.replace(name, f"{twice} {name}", 1), encoding="utf-8")
        done = CliRunner().invoke(main, ["verify", str(file)])
        assert done.exit_code == 4
        assert "the JSON is malformed" in " ".join(done.stderr.split())


@pytest.mark.parametrize("content", [b"person_id,region\nP1,north\n", b"", b"[1]", b"PAR1\xff\xfe"])
def test_a_file_that_is_no_certificate_is_called_that(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    file.write_bytes(content)
    done = CliRunner().invoke(main, ["verify", str(file)])
    assert (done.exit_code, done.stdout) == (4, "")
    assert "people.csv' is not a certificate. Pass a file that leastnoise calibrate" in " ".join(
        done.stderr.split()
    )
    assert "JSON" not in done.stderr
    assert "P1" not in done.stderr


def test_a_certificate_that_cannot_be_read_is_reported_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> str:
        raise PermissionError(13, "Permission denied")

    file = tmp_path / "certificate.json"
    file.touch()
    monkeypatch.setattr(Path, "read_text", fail)
    done = CliRunner().invoke(main, ["verify", str(file)])
    assert done.exit_code == 4
    assert "cannot be read: Permission denied. Check the permissions" in " ".join(
        done.stderr.split()
    )


@pytest.mark.parametrize(
    ("name", "advice"),
    [("certifcate.json", r"Did you mean 'certificate\.json'\?"), ("x.json", "Check the spelling.")],
)
def test_a_missing_file_is_named_with_the_nearest_one(
    name: str, advice: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("certificate.json").touch()
    Path("certificate.csv").touch()
    done = CliRunner().invoke(main, ["verify", name])
    assert (done.exit_code, done.stdout) == (2, "")
    assert re.fullmatch(rf"Error: No file at '{name}'\.\n  {advice}\n", done.stderr)
    assert "No file at" in CliRunner().invoke(main, ["verify", str(tmp_path)]).stderr
