"""A short file cannot make its verifier compute with very long or very many numbers.

Work is counted, not timed: the terms that are added up, or that the file is rejected by a rule
before anything is computed.
"""

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

import leastnoise as ln
from leastnoise.certificate.document import _digest
from leastnoise.core.exact import Interval, exponential
from leastnoise.core.exact.functions import _integer_root
from leastnoise.core.noise import DiscreteStaircase, Run, Staircase
from leastnoise.core.profile import StaircaseCurve
from leastnoise.costs import expectation
from leastnoise.errors import InvalidParameter, Unsupported

F = Fraction
LONG = "1/" + "1" + "0" * 999 + "7"
THIRD = {"kind": "Privacy", "epsilon": "1", "delta": "1/3"}
ZERO = {"kind": "Privacy", "epsilon": "0", "delta": "1/3"}
POWER = {"kind": "Power", "p": "64"}


def crafted(*, integer: bool = False, **changes: object) -> ln.Certificate:
    """Return a staircase's certificate with other values, under a digest that fits them."""
    made = ln.calibrate(ln.Privacy(1), sensitivity=2, family="staircase", integer=integer)
    content: dict[str, Any] = json.loads(made.certificate.to_json())
    for name, value in changes.items():
        content[name] = {**content[name], **value} if isinstance(value, dict) else value
    epsilon = exponential(F(content["privacy"]["epsilon"]))
    content["factor"] = {
        "kind": "Interval",
        "lower": str(epsilon.lower),
        "upper": str(epsilon.upper),
    }
    del content["digest"]
    return ln.Certificate.from_json(json.dumps({**content, "digest": _digest(content)}))


def runs(count: int, ratio: str = "1/2") -> dict[str, object]:
    """Return a lattice staircase as JSON: every point of its period has its own weight."""
    each = [{"kind": "Run", "first": i, "points": 1, "weight": 2 * count - i} for i in range(count)]
    return {"ratio": ratio, "runs": each}


@pytest.fixture
def terms(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Collect which terms of series are computed."""
    asked: list[int] = []
    enclose = expectation._enclose_series

    def counting(ratio: F, term: Callable[[int], Interval], rest: Any, **counts: int) -> Interval:
        def counted(n: int) -> Interval:
            asked.append(n)
            return term(n)

        return enclose(ratio, counted, rest, **counts)

    monkeypatch.setattr(expectation, "_enclose_series", counting)
    return asked


@pytest.mark.parametrize("p", ["65", "500", "1000", "3000", "10001/10"])
@pytest.mark.parametrize("integer", [False, True])
def test_large_exponents_are_given_up_when_their_digits_are_used_up(
    p: str, integer: bool, terms: list[int]
) -> None:
    """b = 1/e, and 256 binary digits are kept of its powers: none is left from term 178 on."""
    with pytest.raises(Unsupported, match="needs more than 8192 periods"):
        crafted(integer=integer, objective={"p": p}).verify()
    assert len(terms) <= 256 * 0.6932 + 2


def test_a_sum_of_long_numbers_is_given_up(terms: list[int]) -> None:
    """Terms of n binary digits count n² each, 2³⁹ in all."""
    long = F(10**3999 // 3, 10**3999)
    noise = Staircase(1, long, "0.98")
    with pytest.raises(Unsupported, match="expected cost may be at most 549755813888, got a"):
        noise.expected(ln.lp("3/2"))
    assert len(terms) <= (1 << 39) // (4 * long.denominator.bit_length() ** 2)


def test_a_sum_over_many_runs_is_given_up(
    terms: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each value of a cost counts 2¹⁹, two for a run of one point: 873 periods by the full rule."""
    monkeypatch.setattr(expectation, "_MOST_SERIES_WORK", 1 << 33)
    noise = DiscreteStaircase(F(1), F(99, 100), tuple(Run(i, 1, 40_000 - i) for i in range(300)))
    with pytest.raises(Unsupported, match="expected cost may be at most 8589934592, got a"):
        noise.expected(ln.lp("3/2"))
    assert len(terms) <= (1 << 33) // (600 << 19) + 1


def never(*_: object) -> None:
    raise AssertionError("computed before it was rejected")


@pytest.mark.parametrize(
    ("integer", "changes"),
    [
        (False, {"noise": {"ratio": LONG, "period": "1"}, "sensitivity": "100", "privacy": THIRD}),
        (False, {"noise": {"ratio": LONG}, "sensitivity": "100000", "privacy": ZERO}),
        (True, {"noise": runs(1000, LONG), "sensitivity": "100000", "privacy": THIRD}),
        (True, {"noise": runs(1000), "sensitivity": "100000", "privacy": THIRD}),
        (True, {"noise": runs(1, LONG), "sensitivity": "100000", "privacy": ZERO}),
    ],
    ids=["ratio", "ratio, ε = 0", "ratio and runs", "runs", "ratio of integers, ε = 0"],
)
def test_long_powers_of_a_ratio_are_rejected_before_any_is_computed(
    integer: bool, changes: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = crafted(integer=integer, **changes)
    for module in ("staircase", "discrete_staircase"):
        monkeypatch.setattr(f"leastnoise.core.noise.{module}.exact_power", never)
    monkeypatch.setattr(StaircaseCurve, "of", never)
    with pytest.raises(Unsupported, match=r"\(periods·digits\)² of a staircase may be at most"):
        certificate.verify()


@pytest.mark.parametrize(
    ("integer", "noise"),
    [(False, {"ratio": "9" * 999 + "/1" + "0" * 999}), (True, runs(100))],
    ids=["digits", "runs"],
)
def test_long_closed_forms_are_rejected_before_they_are_computed(
    integer: bool, noise: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = crafted(integer=integer, noise=noise, sensitivity="1", objective=POWER)
    for kind in (Staircase, DiscreteStaircase):
        monkeypatch.setattr(kind, "moment", never)
    with pytest.raises(Unsupported, match=r"for the expected .* of a staircase, got more"):
        certificate.verify()


def test_weights_of_many_digits_count_as_more_pieces() -> None:
    steps = [
        {"kind": "Run", "first": 3 * i, "points": 1 + i % 2, "weight": 10**3000 + i}
        for i in range(700)
    ]
    noise = {"kind": "DiscreteSteps", "step": "1", "runs": steps}
    made = crafted(integer=True, sensitivity="1000", privacy=THIRD)
    content = json.loads(made.to_json())
    content["noise"] = noise
    del content["digest"]
    text = json.dumps({**content, "digest": _digest(content)})
    with pytest.raises(
        InvalidParameter,
        match=r"at most 4194304 comparisons of pieces, got 700 pieces of up to 9966",
    ):
        ln.Certificate.from_json(text).verify()


@pytest.mark.parametrize("degree", [2, 3, 7, 50])
@pytest.mark.parametrize("root", [2, 3, 10, 10**50 + 7])
def test_roots_of_integers_are_exact(degree: int, root: int) -> None:
    number = root**degree
    assert _integer_root(number, degree) == root
    assert _integer_root(number + 1, degree) is None
    assert _integer_root(number - 1, degree) is None


def test_a_long_root_takes_few_steps() -> None:
    """Halving took one step for each binary digit: each power is counted."""

    class Counted(int):
        divided = 0

        def __floordiv__(self, other: int) -> int:
            Counted.divided += 1
            return int(self) // other

    assert _integer_root(Counted(10**4000), 2) == 10**2000
    assert 0 < Counted.divided <= 20


@pytest.mark.parametrize("epsilon", ["0.01", "1", "100", "5000"])
@pytest.mark.parametrize("integer", [False, True])
def test_the_rules_leave_room_for_what_calibrate_returns(epsilon: str, integer: bool) -> None:
    for cost in (ln.l1, ln.l2, ln.lp(4)):
        made = ln.calibrate(
            ln.Privacy(epsilon), sensitivity=3, cost=cost, family="staircase", integer=integer
        )
        made.certificate.verify()


@pytest.mark.parametrize(
    ("epsilon", "p"), [("0.02", "3/2"), ("1", "64"), ("0.02", "32"), ("9", 64)]
)
def test_the_rules_leave_room_for_powers(epsilon: str, p: str) -> None:
    """Of ratios as calibrate has them: 128 binary digits and the size of e^ε."""
    noise = Staircase("0.1", F(25336325, 67108864), 1 / exponential(F(epsilon)).lower)
    assert noise.expected(ln.lp(p)) > 0
