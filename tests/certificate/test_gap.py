"""What a certificate says of the distance to the least is true, wherever the cost begins.

The least noise for |x| plus a constant is the least noise for |x|: adding a constant to a cost
changes neither which noise is least nor by how much another one is worse. The oracle is a cheaper
private noise, stated explicitly, whose cost follows from its radius alone.
"""

import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import leastnoise as ln
from leastnoise.certificate import CanonicalBound, Certificate, Frame, LatticeBound, SupportingLine
from leastnoise.core.exact import Interval
from leastnoise.core.noise import Uniform
from leastnoise.costs import Tabled
from leastnoise.errors import InvalidParameter
from tests.certificate.test_tabulated import signed
from tests.cli.test_cli import run

F = Fraction
TENTH = ln.Privacy(delta="0.1")
HUGE = 10**22


def stated(
    noise: Uniform, cost: ln.Cost, evidence: Any, privacy: ln.Privacy = TENTH, moved: int = 1
) -> Certificate:
    """State what follows for a noise from its evidence, and verify it."""
    bound = evidence.prove(cost, privacy, F(moved))
    certificate = Certificate.of(
        noise, privacy, F(moved), cost, source="x", lower_bound=bound, evidence=evidence
    )
    certificate.verify()
    return certificate


def trivial(zero: Fraction, one: Fraction, rule: str = "chords") -> LatticeBound:
    """Return evidence that proves L(0), with all multipliers 0."""
    return LatticeBound(Frame(rule, 1, 0), F(1), (0,), (), (), (zero, one))


def shifted(by: int | str) -> ln.Cost:
    """|x| up to 100, plus a constant."""
    return ln.piecewise_linear([(0, F(by)), (100, F(by) + 100)])


@pytest.mark.parametrize("by", [HUGE, 10**40, -(10**40)])
def test_a_large_cost_of_no_error_hides_no_excess(by: int) -> None:
    """Uniform(90) costs 45 above L(0); Uniform(5) keeps the same guarantee for 2.5."""
    assert Uniform(F(5)).total_variation(F(1)) <= F(1, 10)
    for evidence in (trivial(F(by), F(by) + 1), CanonicalBound(integer=False)):
        certificate = stated(Uniform(F(90)), shifted(by), evidence)
        assert not certificate.exact
        assert not str(certificate).startswith("optimal")
        assert certificate.gap >= F(45 * 10 - 25, 25)  # (45 − 2.5) / 2.5


def test_calibrating_with_a_large_cost_of_no_error_hides_no_excess() -> None:
    """At most what the same noise is above the bound for the cost without the constant."""
    found = ln.calibrate(ln.Privacy(1, "0.1"), sensitivity=1, cost=shifted(HUGE)).certificate
    plain = CanonicalBound(integer=False).prove(shifted(0), found.privacy, F(1))
    excess = found.noise.expected(shifted(0)) / plain - 1
    assert found.exact == (found.cost <= found.lower_bound)
    assert not found.exact
    assert found.gap <= excess  # a solver's bound may be better
    shown = re.match(r"within ([0-9.e-]+)% of optimal among", str(found))
    assert shown is not None
    assert F(shown[1]) / 100 >= found.gap


def test_what_is_cheaper_by_1e_20_is_cheaper() -> None:
    """No error larger than 0 at δ = 10⁻²⁰: an atom at 0 is cheaper than Uniform(10²⁰)."""
    tiny, cost = ln.Privacy(delta="1e-20"), ln.threshold(0)
    evidence = LatticeBound(Frame("cells", 1, 0), F(1), (1,), (), (), (F(1), F(1)))
    certificate = stated(Uniform(F(10**20)), cost, evidence, tiny)
    radius = F(10**21)
    cheaper = Uniform(radius, (radius * tiny.delta - F(1, 2)) / (radius - F(1, 2)))
    assert cheaper.total_variation(F(1)) <= tiny.delta
    assert cheaper.expected(cost) < certificate.cost
    assert not certificate.exact
    assert str(certificate).startswith("within 1.01e-18% of optimal among all noise")


@pytest.mark.parametrize(
    ("asked", "exact"),
    [
        ({"privacy": TENTH}, True),
        ({"privacy": TENTH, "cost": ln.l2}, True),
        ({"privacy": TENTH, "cost": ln.lp("1/2")}, False),  # √x is irrational
        ({"privacy": ln.Privacy(1), "integer": True}, False),  # so is e
    ],
)
def test_least_is_said_exactly_where_the_two_numbers_meet(
    asked: dict[str, Any], exact: bool
) -> None:
    certificate = ln.calibrate(sensitivity=1, **asked).certificate
    assert certificate.exact is exact
    assert (certificate.cost == certificate.lower_bound) is exact
    assert str(certificate).startswith("optimal among" if exact else "within ")
    assert certificate.gap < F(1, 10**15)


def test_below_0_the_percentage_is_true() -> None:
    """With L(0) = −2.4 Uniform(6) costs 0.6 and Uniform(5) 0.1: not within 125 % but 500 %."""
    cost = shifted("-2.4")
    certificate = stated(Uniform(F(6)), cost, trivial(F(-12, 5), F(-7, 5)))
    assert Uniform(F(5)).expected(cost) == F(1, 10)
    assert certificate.gap == math.inf
    assert "%" not in str(certificate)
    assert "no lower bound is known" in str(certificate)


@pytest.mark.parametrize("by", ["-100", "-2.5", "0", "1000", "1e30"])
def test_a_constant_changes_no_gap(by: str) -> None:
    """The line of the least noise, lifted; the noise a fifth wider costs a fifth more."""
    line = SupportingLine(F(25), F(5) + F(by), F(5), F(5))
    certificate = stated(Uniform(F(6)), shifted(by), line)
    assert certificate.gap == F(1, 5)
    aside = ", not counting the cost of no error" if F(by) else ""
    among = "symmetric unimodal noise"
    method = "proved by a supporting line"
    assert str(certificate) == f"within 20% of optimal among {among}{aside} ({method})"


@pytest.mark.parametrize("by", [-7, 0, 10**6])
def test_the_solver_stops_at_the_same_gap(by: int) -> None:
    """A constant is nothing to stop at, and nothing to go on for."""
    cost = ln.piecewise_linear([(0, by), (1, by + 3), (50, by + 90)])
    found = ln.calibrate(ln.Privacy(1, "0.2"), sensitivity=1, cost=cost, gap="1/50").certificate
    assert 0 < found.gap <= F(1, 50)


def tabled(*readings: tuple[Any, ...]) -> Tabled:
    return Tabled(
        "x",
        {
            (kind, tuple(map(F, asked))): Interval(F(low), F(high))
            for kind, *asked, low, high in readings
        },
    )


def test_a_percentage_is_true_of_every_cost_that_fits_a_table() -> None:
    """|x| fits, and for it Uniform(90) is 1700 % above the least; 101 % was said."""
    low = -(10**40)
    table = tabled(
        ("value", 0, low, 0), ("value", 1, low, 1), ("value", 2, low, 2),
        ("integral", 90, 100 * low, 4050), ("sag", 0, 1, 0, 0), ("sag", 1, 2, 0, 0),
    )  # fmt: skip
    certificate = stated(Uniform(F(90)), table, trivial(F(low), F(low)))
    assert certificate.gap == math.inf
    assert "%" not in str(certificate)


@pytest.mark.parametrize(("most", "gap"), [("0", F(1, 5)), ("1/2", F(1, 4)), ("5/2", math.inf)])
def test_the_gap_of_a_table_takes_no_error_at_its_dearest(most: str, gap: Fraction | float) -> None:
    """Uniform(6) costs 3, the bound is 2.5; if no error costs 1/2, that is 3 − 2.5 above 2."""
    table = tabled(
        ("value", 0, 0, most), ("value", 5, 5, 5), ("value", 6, 6, 6),
        ("integral", 5, "25/2", "25/2"), ("integral", 6, 18, 18),
    )  # fmt: skip
    line = SupportingLine(F(25), F(5), F(5), F(5))
    certificate = stated(Uniform(F(6)), table, line)
    assert (certificate.cost, certificate.lower_bound) == (F(3), F(5, 2))
    assert certificate.gap == gap
    if gap == math.inf:
        assert str(certificate).startswith("costs at most 0.5 more than optimal among symmetric")


def test_an_upper_bound_of_the_cost_is_called_one(tmp_path: Path) -> None:
    """The table allows any cost from 0 to 1000; |x| is rational and no upper bound."""
    table = tabled(("value", 0, 0, 0), ("value", 5, 0, 2000), ("integral", 5, 0, 5000))
    path = tmp_path / "certificate.json"
    for cost, text, is_bound in (
        (table, "at most 1000 (the tabulated cost)", True),
        (ln.l1, "2.5 (E|error|)", False),
        (ln.lp("1/2"), "at most 1.49071199 (lp('0.5'))", True),
    ):
        made = Certificate.of(Uniform(F(5)), TENTH, F(1), cost, source="x")
        path.write_text(made.to_json(), encoding="utf-8")
        assert f"  Expected cost  {text}\n" in run("verify", str(path)).stdout
        data = json.loads(run("verify", str(path), "--json").stdout)["verified"]
        assert data["cost_is_upper_bound"] is is_bound
        assert F(data["cost"]) == made.cost


def test_printed_numbers_are_rounded_outward(tmp_path: Path) -> None:
    """√5·2/3 = 1.490711984…, and 10⁴⁰ + 45 is not 10⁴⁰."""
    path = tmp_path / "certificate.json"
    made = stated(Uniform(F(90)), shifted(10**40), CanonicalBound(integer=False))
    path.write_text(made.to_json(), encoding="utf-8")
    shown = run("verify", str(path)).stdout
    found = dict(re.findall(r"  (Expected cost|Lower bound) +≈?([0-9.e]+)", shown))
    assert F(found["Expected cost"]) >= made.cost
    assert F(found["Lower bound"]) <= made.lower_bound


def falls_at(place: float) -> Callable[[float], float]:
    return lambda size: math.log1p(size) if size < place else 0.0


@pytest.mark.parametrize("place", [0.5, 6.0, 9.9])
def test_a_function_is_probed_as_far_as_twice_the_noise(place: float) -> None:
    """Calibrating with it is rejected, and so is checking against it."""
    text = ln.calibrate(TENTH, sensitivity=1, cost=ln.Cost(math.log1p)).certificate.to_json()
    for read in (
        lambda cost: Certificate.from_json(text, cost=cost).verify(),
        lambda cost: ln.calibrate(TENTH, sensitivity=1, cost=cost),
    ):
        read(ln.Cost(math.log1p))
        with pytest.raises(InvalidParameter, match="A cost must never fall as the error grows"):
            read(ln.Cost(falls_at(place)))


def test_a_kind_of_table_of_ones_own_needs_a_cost_too() -> None:
    """The forged table of tests/certificate/test_tabulated.py, in a class of its own."""

    class Mine(Tabled):
        pass

    readings = tabled(
        ("value", 0, 0, 0), ("value", 5, 5, 5), ("integral", 5, "25/2", "25/2"),
        ("integral", 10, 25, 25),
    ).readings  # fmt: skip
    line = SupportingLine(F(25), F(5), F(5), F(5))
    for kind in (Tabled, Mine):
        with pytest.raises(InvalidParameter, match="no known cost fits its table"):
            stated(Uniform(F(10)), kind("x", readings), line)


@pytest.mark.parametrize("moved", [0, -1])
def test_a_sensitivity_must_be_positive(moved: int) -> None:
    good = Certificate.of(Uniform(F(5)), TENTH, F(1), ln.l1, source="x")
    good.verify()
    with pytest.raises(InvalidParameter, match="the sensitivity is not positive"):
        replace(good, sensitivity=F(moved)).verify()


def test_what_was_read_can_be_printed_before_it_is_checked() -> None:
    """A table must say what no error costs; with that, every statement can be written."""
    text = ln.calibrate(TENTH, sensitivity=1, cost=ln.Cost(math.log1p)).certificate.to_json()
    assert str(Certificate.from_json(text)).startswith("not verified: within ")
    document = json.loads(text)
    table = document["objective"]["readings"]
    document["objective"]["readings"] = [kept for kept in table if kept[:2] != ["value", "0"]]
    with pytest.raises(InvalidParameter, match="does not have the cost of no error"):
        Certificate.from_json(signed(document))
