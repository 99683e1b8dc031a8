"""The releases that a ledger holds, and the deployment declaration that it writes."""

import json
import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import leastnoise as ln
from leastnoise.errors import BudgetExceeded, InvalidParameter, LedgerDamaged
from leastnoise.ledger import Release
from leastnoise.ledger.declaration import ARITHMETIC, FORMAT, _float_not_below, declare
from leastnoise.mechanism import calibrate_pair

# The sections of the public registry's entries and the fields in them that people fill in or read.
REGISTRY = {
    "product": {"name", "data_curators", "intended_use", "data_product_type", "description"},
    "dp_flavor": {"name", "data_domain", "unprotected_quantities"},
    "privacy_loss": {"privacy_unit", "privacy_unit_description", "privacy_parameters"},
    "model": {"model_name", "release_type", "access_type", "data_source_type"},
    "accounting": {"composition", "post_processing"},
    "implementation": {
        "pre_processing_eda_hyperparameter_tuning",
        "mechanisms",
        "justification",
    },
}
CANARY = 31337.4242
COUNT = ln.calibrate(ln.Privacy("0.1"), sensitivity=1, integer=True)
SUM = ln.calibrate(ln.Privacy("0.2", "1e-7"), sensitivity=200, family="truncated_laplace")


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[ln.Ledger]:
    limit = ln.Privacy(1, "1e-6")
    with ln.Ledger(tmp_path / "people.ledger", limit=limit, dataset="people") as found:
        yield found


def exported(ledger: ln.Ledger, unit: str | None = None) -> Any:
    """Return a declaration as tests read it: they know its fields."""
    return ledger.export(unit=unit)


def strict(declaration: dict[str, Any]) -> str:
    """Return it as JSON, which must be strict and hold all of it."""
    text = json.dumps(declaration, allow_nan=False)
    assert json.loads(text) == declaration
    return text


# ------------------------------------------------------------------- releases


def test_releases_are_the_charges_in_order_with_their_answers(ledger: ln.Ledger) -> None:
    assert ledger.releases == []
    answers = [COUNT.release(5, ledger=ledger, key=key) for key in "ab"]
    SUM.release(np.array([1.0, 2.0]), ledger=ledger, key="c", contributions=2)
    COUNT.release(5, ledger=ledger, key="a")  # stored: no release
    first, second, third = ledger.releases
    assert (first.key, second.key, third.key) == ("a", "b", "c")
    for answer, release in zip(answers, (first, second), strict=True):
        assert answer.receipt is not None
        assert (release.row, release.answered) == (answer.receipt.charge, answer.receipt.at)
    assert (first.dataset, first.analyst, first.asked) == ("people", None, {"answer": "one"})
    assert first.privacy == second.privacy == ln.Privacy("0.1")
    assert third.privacy == ln.Privacy("0.4", Fraction(2, 10**7) - Fraction(1, 10**14))
    assert (third.asked["shape"], third.asked["touches"]) == ([2], 2)
    assert first.mechanisms == second.mechanisms != third.mechanisms


def test_a_release_that_failed_is_charged_and_never_answered(
    ledger: ln.Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(type(ledger), "store", fail)
    with pytest.raises(KeyboardInterrupt, match=r"^$"):
        COUNT.release(5, ledger=ledger, key="a")
    (release,) = ledger.releases
    assert release.answered is None
    assert ledger.spent == release.privacy
    (written,) = exported(ledger)["evidence"]["releases"]
    assert written["answered"] is None
    assert exported(ledger)["deployment"]["product"]["publication_date"] is None


def test_a_release_stays_as_it_is() -> None:
    release = Release(1, "", "", "", None, ln.Privacy(1), (), {}, None)
    with pytest.raises(AttributeError, match="cannot assign to field 'key'"):
        release.key = "b"  # type: ignore[misc]


# ------------------------------------------------------------------- the declaration


def test_it_has_the_sections_of_the_registry_and_says_what_the_ledger_knows(
    ledger: ln.Ledger,
) -> None:
    for key in "abc":
        COUNT.release(CANARY.__trunc__(), ledger=ledger, key=key)
    SUM.release(CANARY, ledger=ledger, key="d")
    declaration = exported(ledger, unit="person")
    text = strict(declaration)
    assert declaration["format"] == FORMAT
    deployment, evidence = declaration["deployment"], declaration["evidence"]
    assert set(deployment) == set(REGISTRY)
    for section, fields in REGISTRY.items():
        assert fields <= set(deployment[section])
    assert deployment["product"]["name"] == "people"
    assert deployment["dp_flavor"]["name"] == "Approximate DP"
    loss = deployment["privacy_loss"]
    assert loss["privacy_unit"] == "person"
    assert loss["privacy_parameters"] == {"epsilon": 1.0, "delta": 1e-6}
    assert "Δ = 1, 200" in loss["privacy_unit_description"]
    assert deployment["model"]["release_type"] == "Many releases"
    assert ARITHMETIC in deployment["implementation"]["mechanisms"]
    assert repr(SUM.noise) in deployment["implementation"]["mechanisms"]
    (account,) = evidence["accounts"]
    assert Fraction(account["spent"]["epsilon"]) == Fraction(1, 2)
    assert Fraction(account["left"]["delta"]) == Fraction(9, 10**7)
    assert account["spent"]["epsilon_float"] == 0.5
    assert [release["key"] for release in evidence["releases"]] == list("abcd")
    assert evidence["head"] == str(ledger.head)
    assert evidence["versions"]["leastnoise"] == ln.__version__
    assert str(CANARY) not in text


def test_every_certificate_in_it_proves_itself_again(ledger: ln.Ledger) -> None:
    """From the JSON alone, by the check that does not trust the finder."""
    used = (COUNT, SUM, ln.calibrate(ln.Privacy("0.1", "1e-8"), sensitivity=3))
    for mechanism in used:
        mechanism.release(5, ledger=ledger)
    evidence = json.loads(strict(exported(ledger)))["evidence"]
    for mechanism, release in zip(used, evidence["releases"], strict=True):
        written = evidence["mechanisms"][release["mechanisms"][0]]
        certificate = ln.Certificate.from_json(json.dumps(written["certificate"]))
        certificate.verify()
        assert certificate.noise == mechanism.noise
        assert certificate.privacy == mechanism.privacy
        assert Fraction(written["step"]) == mechanism.discretized.step
        assert written["radius"] == str(mechanism.discretized.radius)
        assert Fraction(written["exact_probability"]) == mechanism.exact_probability
        assert written["arithmetic"] == ARITHMETIC


def test_a_certificate_for_a_weaker_promise_is_not_passed_off_as_proof(ledger: ln.Ledger) -> None:
    """Whether or not the same distribution, held to two promises, is kept as one noise."""
    ledger.set_limit(ln.Privacy(100, "1e-3"))
    stairs = ln.calibrate(ln.Privacy("0.1"), sensitivity=1).noise
    assert isinstance(stairs, ln.noise.Staircase)
    for epsilon in ("0.2", "0.1"):
        ln.Mechanism.from_noise(stairs, ln.Privacy(epsilon), sensitivity=1).release(
            5, ledger=ledger
        )
    tight = ln.Mechanism.from_noise(stairs, ln.Privacy("0.1"), sensitivity=1)
    tight.release(np.arange(3.0), ledger=ledger, contributions=2)  # charged what the other promises
    for contributions in (1, 2, 7):
        SUM.release(np.arange(9.0), ledger=ledger, contributions=contributions)
    evidence = exported(ledger)["evidence"]
    for release in evidence["releases"]:
        written = evidence["mechanisms"][release["mechanisms"][0]]["certificate"]["privacy"]
        count = release["asked"].get("touches", 1)
        enough = Fraction(written["epsilon"]) * count <= Fraction(release["privacy"]["epsilon"])
        assert release["certified"] is enough
    assert [release["certified"] for release in evidence["releases"]][3:] == [True] * 3


def test_it_is_of_one_data_set(ledger: ln.Ledger) -> None:
    COUNT.release(5, ledger=ledger, key="a")
    with ln.Ledger(ledger.where, limit=ln.Privacy(1), dataset="visits", analyst="ann") as visits:
        SUM_AT_0 = ln.calibrate(ln.Privacy("0.3"), sensitivity=7)
        SUM_AT_0.release(5, ledger=visits, key="b")
        declaration = exported(visits)
    evidence, deployment = declaration["evidence"], declaration["deployment"]
    assert [release["key"] for release in evidence["releases"]] == ["b"]
    assert [account["analyst"] for account in evidence["accounts"]] == [None, "ann"]
    assert len(evidence["mechanisms"]) == 1
    assert "Δ = 7," in deployment["privacy_loss"]["privacy_unit_description"]
    assert deployment["dp_flavor"]["name"] == "Pure DP"
    assert deployment["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.0}
    assert deployment["privacy_loss"]["privacy_unit"] is None
    assert deployment["model"]["release_type"] == "One release"


def test_of_an_empty_ledger_it_says_that_nothing_was_released(ledger: ln.Ledger) -> None:
    declaration = exported(ledger)
    strict(declaration)
    assert declaration["evidence"]["releases"] == []
    assert declaration["evidence"]["mechanisms"] == {}
    loss = declaration["deployment"]["privacy_loss"]
    assert loss["privacy_unit_description"] == "Nothing was released yet."


def test_a_limit_that_was_lowered_is_not_declared_for_what_came_before(ledger: ln.Ledger) -> None:
    for key in "abc":
        COUNT.release(5, ledger=ledger, key=key)
    ledger.set_limit(ln.Privacy("0.2", "1e-6"))
    with pytest.raises(BudgetExceeded, match=r"needs .* remain of"):
        COUNT.release(5, ledger=ledger, key="d")
    loss = exported(ledger)["deployment"]["privacy_loss"]
    assert loss["privacy_parameters"] == {"epsilon": 0.3, "delta": 1e-6}
    assert "keeps ε = 0.3, δ = 1e-6" in loss["privacy_parameters_description"]


def test_pairs_and_arrays_are_in_it_without_their_numbers(ledger: ln.Ledger) -> None:
    pair = calibrate_pair(ln.Privacy("0.5"), sensitivity=1)
    pair.release((CANARY, 2), ledger=ledger, key="pair")
    many = SUM.release(np.full(1000, CANARY), ledger=ledger, key="array")
    declaration = exported(ledger)
    text = strict(declaration)
    two, thousand = declaration["evidence"]["releases"]
    assert two["asked"] == {"answer": "pair"}
    assert two["certified"] is None
    assert thousand["asked"] == {"answer": "many", "shape": [1000], "touches": 1}
    described = declaration["evidence"]["mechanisms"][two["mechanisms"][0]]
    assert described["source"] == pair.source
    assert "certificate" not in described
    assert len(text) < 40_000
    assert all(repr(value) not in text for value in many.values.tolist())


def test_rows_that_form_no_chain_are_not_declared(ledger: ln.Ledger) -> None:
    COUNT.release(5, ledger=ledger, key="a")
    rows = list(ledger.rows())
    assert declare(rows, "people")
    for place, row in enumerate(rows):
        changed = [*rows[:place], row._replace(at="2001-01-01"), *rows[place + 1 :]]
        with pytest.raises(LedgerDamaged, match="has the wrong hash"):
            declare(changed, "people")
    with pytest.raises(LedgerDamaged, match="row 2 is missing"):
        declare([rows[0], *rows[2:]], "people")


def test_a_unit_is_a_line_of_text(ledger: ln.Ledger) -> None:
    for unit in ("", "a\nb", 5):
        with pytest.raises(InvalidParameter, match="unit must be a string of 1 to"):
            ledger.export(unit=unit)  # type: ignore[arg-type]


@given(st.fractions(min_value=0, max_value=10**6) | st.floats(0, 1e300).map(Fraction))
def test_a_float_never_says_less_than_the_number(exact: Fraction) -> None:
    """Read as the shortest decimal that prints as it, which is how floats are read here."""
    near = _float_not_below(exact)
    assert near is not None
    assert Fraction(repr(near)) >= exact
    below = math.nextafter(near, 0)
    assert near == 0 or Fraction(repr(below)) < exact


def test_decimals_stay_as_they_were_written_and_the_infinite_is_none() -> None:
    assert [_float_not_below(Fraction(text)) for text in ("0.1", "0.3", "1e-6")] == [0.1, 0.3, 1e-6]
    assert _float_not_below(Fraction(10) ** 400) is None
