"""A tabulated cost is believed only if some cost that never falls fits the whole table.

The oracle is independent of the verifier: it takes the values of the accepted table, builds the
function through them from scratch, and adds up every integral, total and sag of it by hand.
"""

import hashlib
import json
import math
import random
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

import leastnoise as ln
from leastnoise.certificate import Certificate, LatticeBound, SupportingLine
from leastnoise.core.exact import Interval
from leastnoise.costs import RecordingCost, Tabled
from leastnoise.errors import InvalidParameter, LeastnoiseError
from leastnoise.noise import Uniform

F = Fraction
Document = dict[str, Any]


def signed(document: Document) -> str:
    """Return a document with a digest that fits: what a forger would write."""
    document = {name: part for name, part in document.items() if name != "digest"}
    canonical = json.dumps(document, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return json.dumps({**document, "digest": hashlib.sha256(canonical.encode()).hexdigest()})


def read(document: Document) -> Certificate:
    certificate = Certificate.from_json(signed(document))
    certificate.verify()
    return certificate


def is_accepted(document: Document) -> bool:
    try:
        read(document)
    except LeastnoiseError:
        return False
    return True


def too_wide(*readings: list[str]) -> Document:
    """State that Uniform(10) is least at (0, 0.1), where Uniform(5) costs half of it."""
    return {
        "noise": {"kind": "Uniform", "radius": "10", "atom": "0"},
        "privacy": {"kind": "Privacy", "epsilon": "0", "delta": "1/10"},
        "sensitivity": "1",
        "objective": {"kind": "Tabled", "name": "Cost(log1p)", "readings": [*readings]},
        "cost": "5/2",
        "lower_bound": "5/2",
        "source": "GDGK19, Theorem 3",
        "format": "leastnoise certificate 1",
        "among": "decreasing",
        "factor": {"kind": "Interval", "lower": "1", "upper": "1"},
        "evidence": {
            "kind": "SupportingLine",
            "slope": "25",
            "intercept": "5",
            "low": "5",
            "high": "5",
            "integer": False,
        },
    }


NONE, FIVE = ["value", "0", "0", "0"], ["value", "5", "5", "5"]
HALF, WHOLE = ["integral", "5", "25/2", "25/2"], ["integral", "10", "25", "25"]


def test_integrals_that_no_cost_has_prove_nothing() -> None:
    """L(5) = 5, so the integral from 5 to 10 is 25 or more; the table says 12.5."""
    with pytest.raises(LeastnoiseError, match="no known cost fits its table"):
        read(too_wide(NONE, FIVE, HALF, WHOLE))


def test_the_same_statement_of_a_cost_that_there_is_proves_what_is_true() -> None:
    """The control: |x| has these values, and for it the noise of half the width is least."""
    document = too_wide(NONE, FIVE, HALF)
    document["noise"]["radius"] = "5"
    assert read(document).exact


@pytest.mark.parametrize("more", ["value", "sag", "total", "beyond", "largest_sag"])
def test_further_readings_do_not_help(more: str) -> None:
    further = {
        "value": ["value", "10", "5", "5"],
        "sag": ["sag", "5", "10", "0", "9"],
        "total": ["total", "1", "5", "15", "15"],
        "beyond": ["beyond", "10", "0", "0"],
        "largest_sag": ["largest_sag", "1", "10", "0", "5"],
    }
    with pytest.raises(LeastnoiseError, match="no known cost fits its table"):
        read(too_wide(NONE, FIVE, HALF, WHOLE, further[more]))


def step(size: float) -> float:
    """Jump three times, as costs of real applications do."""
    return float((size > 0.3) + 2 * (size > 1.1) + (size > 2.7))


def sharp(size: float) -> float:
    """Stay near 0 for long and then rise fast."""
    return math.expm1(min(size, 40.0))


P = ln.Privacy
FUNCTIONS: dict[str, Callable[[float], float]] = {
    "log1p": math.log1p,
    "square": lambda size: size * size,
    "step": step,
    "sharp": sharp,
    "square root": math.sqrt,
    "constant": lambda size: 3.0 + 0 * size,
    "below 0": lambda size: size - 100.0,
}
ASKED: dict[str, dict[str, Any]] = {
    "paper": {"privacy": P(delta="0.1"), "sensitivity": 1},
    "atom": {"privacy": P(delta="0.9"), "sensitivity": 1},
    "integers": {"privacy": P(delta="0.01"), "sensitivity": 3, "integer": True},
    "many integers": {"privacy": P(delta="0.001"), "sensitivity": 1, "integer": True},
    "canonical": {"privacy": P(1, "0.01"), "sensitivity": 1, "integer": True},
    "closed": {"privacy": P(1, "0.05"), "sensitivity": 1, "solve": False},
    "closed, integers": {
        "privacy": P(1, "0.05"), "sensitivity": 3, "solve": False, "integer": True,
    },
    "solved": {"privacy": P(1, "0.2"), "sensitivity": 1, "gap": "1/5"},
    "solved, any shape": {"privacy": P(1, "0.2"), "sensitivity": 1, "gap": "1/5", "shape": "any"},
}  # fmt: skip


@cache
def written(function: str, asked: str) -> str:
    cost = ln.Cost(FUNCTIONS[function])
    return ln.calibrate(**ASKED[asked], cost=cost).certificate.to_json()


# A constant has no least noise at ε = 0.
IMPOSSIBLE = {("constant", asked) for asked in ("paper", "atom", "integers", "many integers")}


@pytest.mark.parametrize(
    ("function", "asked"),
    [(f, a) for f in FUNCTIONS for a in ASKED if (f, a) not in IMPOSSIBLE],
)
def test_what_is_true_is_accepted(function: str, asked: str) -> None:
    """A function's certificate is verified from its table alone, and rests on a cost there is."""
    document = json.loads(written(function, asked))
    certificate = read(document)
    assert repr(certificate.objective) == "the tabulated cost"
    assert is_consistent(certificate)


class Lines:
    """The function through the values of a table: straight in between, level after the last."""

    def __init__(self, nodes: dict[Fraction, Fraction]) -> None:
        self.xs = sorted(nodes)
        self.ys = [nodes[x] for x in self.xs]

    def __call__(self, x: Fraction) -> Fraction:
        i = bisect_right(self.xs, x) - 1
        if i == len(self.xs) - 1:
            return self.ys[-1]
        share = (x - self.xs[i]) / (self.xs[i + 1] - self.xs[i])
        return self.ys[i] + share * (self.ys[i + 1] - self.ys[i])

    def area(self, x: Fraction) -> Fraction:
        """Add up trapezia."""
        cuts = [*(node for node in self.xs if node < x), x]
        return sum(((b - a) * (self(a) + self(b)) / 2 for a, b in pairwise(cuts)), F(0))

    def depth(self, low: Fraction, high: Fraction) -> Fraction:
        """Return how far it is below its chord: at a node, if anywhere."""
        slope = (self(high) - self(low)) / (high - low)
        inside = [x for x in self.xs if low < x < high]
        return max([F(0), *(self(low) + slope * (x - low) - self(x) for x in inside)])


def is_consistent(certificate: Certificate) -> bool:
    """Tell whether the cost that the check rests on never falls and has every reading."""
    objective = certificate.objective
    assert isinstance(objective, Tabled)
    witness = objective.find_cost()
    assert witness is not None
    function = Lines(dict(zip(witness.sizes, witness.costs, strict=True)))
    if any(after < before for before, after in pairwise(function.ys)):
        return False
    return all(
        _has(function, kind, *asked, kept.lower, kept.upper)
        for (kind, asked), kept in objective.readings.items()
    )


def _has(function: Lines, kind: str, *numbers: Fraction) -> bool:
    *asked, low, high = numbers
    if kind == "value":
        return low <= function(asked[0]) <= high
    if kind == "integral":
        return low <= function.area(asked[0]) <= high
    if kind == "total":
        terms = (function(j * asked[0]) for j in range(1, int(asked[1]) + 1))
        return low <= sum(terms, F(0)) <= high
    if kind == "beyond":
        return low <= function(asked[0])
    if kind == "sag":
        return function.depth(*asked) <= high
    cells = range(int(asked[1] / asked[0]) + 1)
    return all(function.depth(i * asked[0], (i + 1) * asked[0]) <= high for i in cells)


def nudge(number: str, rng: random.Random) -> str:
    """Return a number a little or a lot away."""
    exact = F(number)
    change = rng.choice([F(1, 10**12), F(1, 10**5), F(1, 100), F(1, 3), F(2), F(100)])
    return str(exact + rng.choice([-1, 1]) * change * rng.choice([F(1), max(abs(exact), F(1))]))


def bent(document: Document, rng: random.Random) -> Document:
    """Change, swap or narrow some readings; then state whatever follows from the table."""
    readings = document["objective"]["readings"]
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        reading = rng.choice(readings)
        way = rng.randrange(5)
        if way <= 2:
            place = rng.randrange(1, len(reading))
            reading[place] = nudge(reading[place], rng)
        elif way == 3:
            reading[-2:] = [nudge(reading[-2], rng)] * 2
        else:
            other = rng.choice(readings)
            reading[-2:], other[-2:] = other[-2:], reading[-2:]
    return restated(document)


def restated(document: Document) -> Document:
    """Return the document with the evidence, cost and bound that its table supports, if any."""
    try:
        forged = Certificate.from_json(signed(document))
        cost, evidence = forged.objective, forged.evidence
        if isinstance(evidence, LatticeBound):
            floors = evidence.frame.floors(cost, forged.sensitivity)
            evidence = replace(evidence, floors=tuple(floors))
            document["evidence"]["floors"] = [str(floor) for floor in floors]
        elif isinstance(evidence, SupportingLine):
            evidence = steepest(evidence, cost, forged.sensitivity)
            document["evidence"] |= {
                name: str(getattr(evidence, name)) for name in ("slope", "intercept")
            }
        assert evidence is not None
        bound = evidence.prove(cost, forged.privacy, forged.sensitivity)
        document["lower_bound"] = str(max(bound, cost.value(F(0)).lower))
        document["cost"] = str(forged.noise.enclose(cost).upper)
    except LeastnoiseError:
        pass
    return document


def steepest(line: SupportingLine, cost: ln.Cost, moved: Fraction) -> SupportingLine:
    """Return the line through the same place that passes all comparisons, if any does."""
    zero, at = cost.value(F(0)).lower, cost.value(line.low)
    height = max(line.intercept, at.upper)
    slopes = [height - zero, F(0)]
    if line.integer:
        height = min(height, cost.value(line.low + 1).lower)
        reach = int(line.low)
        total = zero + 2 * cost.total(F(1), reach).lower
        slopes.append((height * (2 * reach + 1) - total) / moved)
    else:
        height = min(height, cost.value(line.high).lower)
        area = cost.integral(line.low).lower + (line.high - line.low) * at.lower
        slopes.append((height * line.high - area) / (moved / 2))
    return replace(line, slope=max(slopes), intercept=height)


@pytest.mark.parametrize("asked", ["paper", "atom", "integers", "canonical", "closed", "solved"])
@pytest.mark.parametrize("function", ["log1p", "square", "step"])
def test_no_bent_table_is_accepted_without_a_cost_that_fits(function: str, asked: str) -> None:
    """Whatever is changed: where the check accepts, the oracle's function has every reading.

    And for that function, an exact cost, the noise costs at most what is said.
    """
    text, rng = written(function, asked), random.Random(f"{function} {asked}")
    accepted = 0
    for _ in range(60):
        document = bent(json.loads(text), rng)
        if is_accepted(document):
            accepted += 1
            assert is_consistent(read(document))
            assert is_true_of_its_witness(read(document))
    assert accepted < 60  # the control: changes are refused


def is_true_of_its_witness(certificate: Certificate) -> bool:
    """Tell whether the statement holds for the explicit cost, without the table."""
    assert isinstance(certificate.objective, Tabled)
    witness = certificate.objective.find_cost()
    assert witness is not None
    if certificate.noise.enclose(witness).lower > certificate.cost:
        return False
    if certificate.privacy.epsilon:
        return True
    try:
        least = ln.calibrate(
            certificate.privacy,
            sensitivity=certificate.sensitivity,
            cost=witness,
            integer=certificate.integer,
        )
    except LeastnoiseError:  # wider is always cheaper
        return True
    return certificate.lower_bound <= least.cost


# Each is a table that no non-decreasing cost has, with claims that follow from it.
HAND_MADE: dict[str, list[list[str]]] = {
    "an integral below the rectangle": [NONE, FIVE, HALF, WHOLE],
    "an integral just below": [NONE, FIVE, HALF, ["integral", "10", "25", "3749999/100000"]],
    "an integral above the rectangle": [NONE, FIVE, ["integral", "5", "26", "26"], WHOLE],
    "an integral that falls": [NONE, FIVE, HALF, ["integral", "10", "12", "12"]],
    "a negative integral": [NONE, FIVE, HALF, ["integral", "10", "-25", "-25"]],
    "values that fall": [NONE, FIVE, HALF, WHOLE, ["value", "7", "0", "1"]],
    "values that fall within bounds": [
        NONE, FIVE, HALF, WHOLE, ["value", "6", "4", "4"], ["value", "9", "0", "100"],
    ],
    "bounds turned round": [NONE, FIVE, HALF, ["integral", "10", "50", "25"]],
    "the same twice": [NONE, FIVE, HALF, ["integral", "10", "50", "50"], WHOLE],
    "a size below 0": [NONE, FIVE, HALF, WHOLE, ["value", "-1", "0", "0"]],
    "no value at 0": [FIVE, HALF, WHOLE],
    "a sag below 0": [NONE, FIVE, HALF, WHOLE, ["sag", "0", "5", "-1", "-1"]],
    "a sag from right to left": [NONE, FIVE, HALF, WHOLE, ["sag", "5", "0", "0", "0"]],
    "a sag of a point": [NONE, FIVE, HALF, WHOLE, ["sag", "5", "5", "0", "0"]],
    "a chord that the cost is below": [
        NONE, FIVE, ["integral", "5", "5", "5"], ["integral", "10", "40", "40"],
        ["sag", "0", "5", "0", "1/2"],
    ],
    "a total below its terms": [NONE, FIVE, HALF, WHOLE, ["total", "5", "3", "5", "5"]],
    "a total above its terms": [NONE, FIVE, HALF, WHOLE, ["total", "1", "5", "26", "26"]],
    "half a term": [NONE, FIVE, HALF, WHOLE, ["total", "1", "5/2", "1", "9"]],
    "a step of 0": [NONE, FIVE, HALF, WHOLE, ["total", "0", "5", "0", "0"]],
    "more beyond than there is": [
        NONE, FIVE, HALF, ["integral", "10", "75/2", "75/2"], ["beyond", "5", "6", "6"],
    ],
    "a largest sag of a step 0": [NONE, FIVE, HALF, WHOLE, ["largest_sag", "0", "5", "0", "0"]],
    "a kind that there is not": [NONE, FIVE, HALF, WHOLE, ["balance", "5", "0", "0"]],
    "too few arguments": [NONE, FIVE, HALF, WHOLE, ["total", "1", "0", "0"]],
    "too many arguments": [NONE, FIVE, HALF, WHOLE, ["value", "1", "1", "0", "9"]],
    "an area at 0": [NONE, FIVE, HALF, WHOLE, ["integral", "0", "1", "1"]],
    "no readings": [],
}  # fmt: skip


@pytest.mark.parametrize("name", HAND_MADE)
def test_hand_made_forgeries_are_refused(name: str) -> None:
    document = restated(too_wide(*HAND_MADE[name]))
    with pytest.raises(LeastnoiseError, match="This certificate is not valid"):
        read(document)


def test_a_table_of_0_5_0_that_is_named_like_a_power_is_checked_against_the_power() -> None:
    document = too_wide(NONE, FIVE, HALF, WHOLE)
    document["objective"]["name"] = "lp('0.5')"
    with pytest.raises(LeastnoiseError, match="the noise does not have the stated cost"):
        read(document)


def test_a_power_is_stored_by_its_exponent() -> None:
    certificate = ln.calibrate(P(delta="0.1"), sensitivity=1, cost=ln.lp("1/2")).certificate
    document = json.loads(certificate.to_json())
    assert document["objective"] == {"kind": "Power", "p": "1/2"}
    assert read(document) == certificate


def test_with_the_function_at_hand_its_table_is_not_used() -> None:
    """0.5.0 wrote fewer values; what it wrote is verified against the function itself."""
    document = json.loads(written("log1p", "paper"))
    few = [kept for kept in document["objective"]["readings"] if kept[1] in ("0", "5")]
    document["objective"]["readings"] = few
    assert len(few) == 3
    read(document)
    Certificate.from_json(signed(document), cost=ln.Cost(math.log1p)).verify()


def test_a_table_says_its_name_apart_from_what_is_verified() -> None:
    objective = read(json.loads(written("log1p", "paper"))).objective
    assert isinstance(objective, Tabled)
    assert objective.name == "Cost(log1p)"
    assert "log1p" not in repr(objective)


def test_a_table_is_checked_whatever_its_class_says() -> None:
    """Neither a subclass nor a recording of a table decides whether a cost fits it."""
    exact = Interval.exact
    readings: Any = {
        ("value", (Fraction(0),)): exact(0),
        ("value", (Fraction(1),)): exact(15),
        ("integral", (Fraction(1),)): exact(0),  # no cost that never falls has this one
        ("integral", (Fraction(10),)): exact(50),
    }

    class Found(Tabled):
        def find_cost(self) -> Any:
            return object()

    class Recorded(RecordingCost):
        def __init__(self) -> None:
            Tabled.__init__(self, "x", readings)

        def probe(self, reach: Fraction) -> None:
            pass

        _look_up = Tabled._look_up

    tables = Tabled("x", readings), Found("x", readings), Recorded()
    for cost in (*tables, RecordingCost(tables[0]), RecordingCost(RecordingCost(tables[1]))):
        line = SupportingLine(Fraction(100), Fraction(15), Fraction(1), Fraction(1))
        certificate = Certificate(
            noise=Uniform(10),
            privacy=ln.Privacy(0, "0.1"),
            sensitivity=Fraction(1),
            objective=cost,
            shape="unimodal",
            cost=Fraction(5),
            lower_bound=Fraction(5),
            source="by hand",
            evidence=line,
        )
        with pytest.raises(InvalidParameter, match="no known cost fits its table"):
            certificate.verify()
        assert not certificate.verified
