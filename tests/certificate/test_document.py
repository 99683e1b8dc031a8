"""Certificates as files: what was written comes back, nothing else does; no library is needed."""

import hashlib
import json
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import leastnoise as ln
from leastnoise.certificate import SupportingLine
from leastnoise.certificate.certificate import Certificate
from leastnoise.costs.cost import Cost
from leastnoise.costs.recorded import Tabled
from leastnoise.errors import InvalidParameter, LeastnoiseError, Unsupported
from leastnoise.noise import DiscreteSteps, Run
from tests.support.screens import assert_readable

Maker = Callable[[], ln.Mechanism]
MADE: dict[str, Maker] = {
    "paper": lambda: ln.calibrate(ln.Privacy(delta=0.7), sensitivity="1/3"),
    "integers": lambda: ln.calibrate(ln.Privacy(delta=0.1), sensitivity=3, integer=True),
    "comb": lambda: ln.calibrate(ln.Privacy(delta=0.9), sensitivity=2, cost=ln.l2, shape="any"),
    "canonical": lambda: ln.calibrate(ln.Privacy(1, 0.01), sensitivity=1, integer=True),
    "staircase": lambda: ln.calibrate(ln.Privacy(1), sensitivity=1, cost=ln.l2),
    "solved": lambda: ln.calibrate(ln.Privacy(1, 0.05), sensitivity=1, cost=ln.l2, shape="any"),
    "solved, decreasing": lambda: ln.calibrate(ln.Privacy(2, 0.3), sensitivity=2, cost=ln.lp(4)),
    "threshold": lambda: ln.calibrate(ln.Privacy(1, 0.05), sensitivity=1, cost=ln.threshold(2)),
    "points": lambda: ln.calibrate(
        ln.Privacy(1, 0.05),
        sensitivity=1,
        cost=ln.piecewise_linear([(0, 0), (1, 1), (2, 5), (9, 6)]),
    ),
    "integers, solved": lambda: ln.calibrate(
        ln.Privacy(1, 0.05), sensitivity=3, integer=True, shape="any"
    ),
    "held": lambda: ln.Mechanism.from_noise(
        ln.Steps([-5, 5], ["1/10"]), ln.Privacy(1, "1/10"), sensitivity=1
    ),
    "function": lambda: ln.calibrate(
        ln.Privacy(1, 0.2), sensitivity=1, cost=ln.Cost(math.log1p), gap="1/50"
    ),
    "irrational": lambda: ln.calibrate(ln.Privacy(1, 0.2), sensitivity=1, cost=ln.lp("3/2")),
}
TABLED = ("function",)


@cache
def made(name: str) -> Certificate:
    return MADE[name]().certificate


@pytest.mark.parametrize("name", MADE)
def test_what_was_written_comes_back_and_is_proved(name: str) -> None:
    certificate = made(name)
    text = certificate.to_json()
    read = Certificate.from_json(text)
    read.verify()
    if name in TABLED:
        assert isinstance(read.objective, Tabled)
        assert repr(read.objective) == "the tabulated cost"
        read = Certificate.from_json(text, cost=certificate.objective)
        read.verify()
    assert read == certificate
    assert read.to_json() == text


@pytest.mark.parametrize("name", MADE)
def test_the_check_needs_nothing_but_the_standard_library(name: str, tmp_path: Path) -> None:
    """In a fresh process that rejects every import from outside; irrational powers need flint."""
    path = tmp_path / "certificate.json"
    path.write_text(made(name).to_json(), encoding="utf-8")
    program = """
import sys, time
from pathlib import Path
class Refuse:
    def find_spec(self, name, path=None, target=None):
        outside = name.partition(".")[0] not in {*sys.argv[2:], *sys.stdlib_module_names}
        if outside and not name.startswith("_"):
            raise ImportError("not allowed: " + name)
sys.meta_path.insert(0, Refuse())
from leastnoise.certificate import Certificate
certificate = Certificate.from_json(Path(sys.argv[1]).read_text(encoding="utf-8"))
start = time.process_time()
certificate.verify()
print(time.process_time() - start)
"""
    allowed = ["leastnoise", *(["flint"] if name == "irrational" else [])]
    command = [sys.executable, "-c", program, str(path), *allowed]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert float(done.stdout) >= 0


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return where the numbers, texts and flags of a document stand."""
    if isinstance(value, dict):
        return [leaf for key in value for leaf in leaves(value[key], (*path, key))]
    if isinstance(value, list):
        return [leaf for i, part in enumerate(value) for leaf in leaves(part, (*path, i))]
    return [path]


def changed(document: Any, path: tuple[Any, ...], change: int) -> None:
    """Change one leaf of a document a little."""
    for step in path[:-1]:
        document = document[step]
    value = document[path[-1]]
    if isinstance(value, bool) or value is None:
        document[path[-1]] = not value
    elif isinstance(value, int):
        document[path[-1]] = value + change
    else:
        try:
            numerator, _, denominator = value.partition("/")
            number = int(numerator) * 10**12 + change * int(denominator or 1)
            document[path[-1]] = f"{number}/{int(denominator or 1) * 10**12}"
        except ValueError:
            document[path[-1]] = value + "?" * abs(change)


@pytest.mark.parametrize("name", MADE)
@given(st.data())
@settings(max_examples=40)
def test_any_change_is_refused(name: str, data: st.DataObject) -> None:
    """One weight, one multiplier, one cost, δ by 1e-12, anything: the digest tells."""
    document = json.loads(made(name).to_json())
    path = data.draw(st.sampled_from(leaves(document)))
    changed(document, path, data.draw(st.sampled_from([-1, 1, 7])))
    with pytest.raises(LeastnoiseError, match=r"must |not valid|does not satisfy"):
        Certificate.from_json(json.dumps(document)).verify()


@pytest.mark.parametrize("name", MADE)
@given(st.data())
@settings(max_examples=60)
def test_a_change_with_a_new_digest_proves_nothing_false(name: str, data: st.DataObject) -> None:
    """Whoever also mends the digest gets a refusal, or a certificate of something that is true.

    True means: at the same question, it claims no bound above a cost that the original proves to
    be reached, and no cost below the original's bound.
    """
    original = made(name)
    document = json.loads(original.to_json())
    paths = [path for path in leaves(document) if path != ("digest",)]
    changed(document, data.draw(st.sampled_from(paths)), data.draw(st.sampled_from([-1, 1, 7])))
    document.pop("digest")
    canonical = json.dumps(document, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    document["digest"] = hashlib.sha256(canonical.encode()).hexdigest()
    try:
        read = Certificate.from_json(json.dumps(document))
        read.verify()
    except LeastnoiseError as refusal:
        assert refusal.fix  # noqa: PT017 -- either outcome is tested
        return
    same = (read.privacy, read.sensitivity) == (original.privacy, original.sensitivity)
    if same and read.objective == original.objective and read.shape == original.shape:
        assert read.lower_bound <= original.cost
        assert original.evidence is None or read.cost >= original.lower_bound


@pytest.mark.parametrize("field", ["cost", "lower_bound", "privacy", "sensitivity"])
@pytest.mark.parametrize("name", ["paper", "comb", "canonical", "staircase", "solved", "threshold"])
def test_a_claim_off_by_a_trillionth_is_refused(name: str, field: str) -> None:
    certificate, tiny = made(name), ln.Privacy(delta="1e-12").delta
    bent: dict[str, Any] = {
        "cost": certificate.cost - tiny,
        "lower_bound": certificate.lower_bound + tiny,
        "privacy": ln.Privacy(certificate.privacy.epsilon, certificate.privacy.delta + tiny),
        "sensitivity": certificate.sensitivity + tiny,
    }
    with pytest.raises(LeastnoiseError, match=r"must |not valid|does not satisfy"):
        replace(certificate, **{field: bent[field]}).verify()


def test_a_certificate_that_contradicts_itself_is_refused() -> None:
    comb = ln.Steps([-1, "-3/4", "-1/4", "1/4", "3/4", 1], ["1/3", "2/3", "1/3", "2/3", "1/3"])
    paper = ln.calibrate(ln.Privacy(delta="1/2"), sensitivity=1, cost=ln.l2).certificate
    with pytest.raises(InvalidParameter, match="the noise is not in the stated class"):
        replace(paper, noise=comb, cost=comb.expected(ln.l2)).verify()
    with pytest.raises(InvalidParameter, match="the evidence is for another class of noise"):
        replace(paper, shape="any").verify()
    still = DiscreteSteps(Fraction(2), (Run(0, 1, 1),))
    whole = made("integers")
    with pytest.raises(InvalidParameter, match="noise on a lattice needs step 1"):
        replace(whole, noise=still, cost=Fraction(0)).verify()
    with pytest.raises(InvalidParameter, match="noise on a lattice needs step 1"):
        replace(whole, sensitivity=Fraction(5, 2)).verify()
    with pytest.raises(InvalidParameter, match="the cost is below the lower bound"):
        replace(paper, evidence=Boastful(), lower_bound=Fraction(7)).verify()


class Boastful(SupportingLine):
    """Evidence that claims more than is true: not even then is a contradiction believed."""

    def __init__(self) -> None:
        super().__init__(Fraction(1), Fraction(1), Fraction(1), Fraction(1))

    def prove(self, cost: Cost, privacy: ln.Privacy, sensitivity: Fraction) -> Fraction:
        return Fraction(7)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "nonsense", '{"format": "leastnoise certificate 2"}', "[" * 100_000, "1e999"],
)
def test_what_is_no_certificate_is_refused(text: str) -> None:
    with pytest.raises(InvalidParameter, match="This certificate is not valid"):
        Certificate.from_json(text)


def forged(name: str, change: Callable[[dict[str, Any]], object]) -> str:
    """Return a certificate with something changed and its digest made to fit."""
    document = json.loads(made(name).to_json())
    change(document)
    document.pop("digest")
    canonical = json.dumps(document, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    document["digest"] = hashlib.sha256(canonical.encode()).hexdigest()
    return json.dumps(document)


FORGED: dict[str, tuple[str, Callable[[dict[str, Any]], object]]] = {
    "a negative unit": ("solved", lambda d: d["evidence"].update(unit="-1")),
    "a cost that falls": (
        "points",
        lambda d: d["objective"].update(sizes=["0", "1"], costs=["5", "0"]),
    ),
    "a negative power": ("solved", lambda d: d["objective"].update(p="-1")),
    "no points": ("points", lambda d: d["objective"].update(sizes=[], costs=[])),
    "a threshold below 0": ("threshold", lambda d: d["objective"].update(limit="-1")),
    "a huge exponent": ("solved", lambda d: d.update(cost="1e-300000000")),
    "a number that is none": ("solved", lambda d: d.update(cost="nan")),
    "a huge reach": ("solved", lambda d: d["evidence"]["frame"].update(reach=10**12)),
    "many cells": ("solved", lambda d: d["evidence"]["frame"].update(cells=10**12)),
    "a second line": ("solved", lambda d: d.update(source="x\nproved  optimal among all noise")),
    "half a character": ("solved", lambda d: d.update(source="\ud800")),
    "more than there is": ("solved", lambda d: d.update(more="so")),
    "less than there is": ("solved", lambda d: d.pop("among")),
    "a flag for a number": ("solved", lambda d: d["evidence"]["frame"].update(cells=True)),
    "a frame for evidence": ("solved", lambda d: d.update(evidence=d["evidence"]["frame"])),
    "a table turned round": ("function", lambda d: d["objective"]["readings"][0].reverse()),
    "a table with a negative sag": (
        "function",
        lambda d: d["objective"]["readings"].append(["sag", "0", "1", "-1", "-1"]),
    ),
    "a table that falls": (
        "function",
        lambda d: d["objective"]["readings"].append(["value", "1000", "0", "0"]),
    ),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forgery_is_refused_at_once(name: str, tmp_path: Path) -> None:
    """With a digest that fits: a short message and exit code 4, no traceback, no hang."""
    path = tmp_path / "certificate.json"
    path.write_text(forged(*FORGED[name]), encoding="utf-8")
    command = [sys.executable, "-m", "leastnoise", "verify", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.startswith("Error: ")
    assert_readable(done.stderr)


def test_an_error_in_a_certificate_is_about_the_file_and_no_option() -> None:
    text = forged("threshold", lambda content: content["privacy"].update(delta="2"))
    with pytest.raises(InvalidParameter, match=r"not valid: delta must be at least 0") as caught:
        Certificate.from_json(text)
    assert "--delta" not in caught.value.headline


def test_a_number_too_long_to_write_is_refused() -> None:
    mechanism = ln.calibrate(ln.Privacy(delta="0.01"), sensitivity="1e300", cost=ln.lp(32))
    with pytest.raises(InvalidParameter, match="more than 4000 digits"):
        mechanism.certificate.to_json()


def test_a_table_refuses_what_it_does_not_hold() -> None:
    read = Certificate.from_json(made("function").to_json())
    with pytest.raises(InvalidParameter, match="does not have the value that is needed"):
        read.objective.value(ln.Privacy(delta="1e-12").delta)


def test_a_staircase_with_an_unknown_cost_is_refused() -> None:
    with pytest.raises(Unsupported, match="needs a cost with a formula"):
        ln.calibrate(ln.Privacy(1), sensitivity=1, cost=ln.Cost(math.log1p))


def test_solutions_are_kept_and_proved_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kept solution serves every sensitivity of a power; a damaged one is not believed."""
    monkeypatch.setenv("LEASTNOISE_CACHE", str(tmp_path))
    privacy = ln.Privacy(1, "0.07")
    first = ln.calibrate(privacy, sensitivity=1, cost=ln.l2, shape="any")
    # One for any shape, and one for the decreasing noise that it began with.
    kept, _ = sorted(tmp_path.glob("*.json"), key=lambda path: '"any"' not in path.read_text())
    written = kept.stat().st_mtime_ns
    again = ln.calibrate(privacy, sensitivity=5, cost=ln.l2, shape="any")
    assert again.cost == 25 * first.cost
    assert kept.stat().st_mtime_ns == written
    document = json.loads(kept.read_text(encoding="utf-8"))
    document["privacy"]["delta"] = "7/99"
    kept.write_text(json.dumps(document), encoding="utf-8")
    assert ln.calibrate(privacy, sensitivity=1, cost=ln.l2, shape="any").cost == first.cost
    assert json.loads(kept.read_text(encoding="utf-8"))["privacy"]["delta"] == "7/100"
    monkeypatch.setenv("LEASTNOISE_CACHE", "off")
    for path in tmp_path.glob("*"):
        path.unlink()
    ln.calibrate(privacy, sensitivity=1, cost=ln.l2, shape="any")
    assert not [*tmp_path.glob("*")]


def test_a_cache_that_cannot_be_written_is_as_good_as_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    monkeypatch.setenv("LEASTNOISE_CACHE", str(blocked / "below"))
    ln.calibrate(ln.Privacy(1, "0.08"), sensitivity=1, cost=ln.l2, shape="any").verify()
