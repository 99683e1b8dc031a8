"""The least noise for any (ε, δ): published brackets, brute force, and independent programs."""

import io
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import leastnoise as ln
from leastnoise.accounting.profile import Profile
from leastnoise.calibration.repair import blocks
from leastnoise.certificate import CanonicalBound, Frame
from leastnoise.core.guarantee import check_privacy
from leastnoise.costs.cost import Cost
from leastnoise.errors import InvalidParameter

# From mathematics.md §5, certified there by another program: (ε, δ), cost, at least, at most.
BRACKETS = [
    ("0", "1/2", ln.l2, 0.31244, 0.31266),
    ("0", "1/3", ln.l1, 0.7411, 0.74175),
    ("0", "0.9", ln.l2, 0.05438, 0.054442),
    ("0", "0.75", ln.l2, 0.1359, 0.13611),
    ("1", "0.05", ln.l1, 0.7875, 0.7883),
    ("1", "0.05", ln.l2, 1.1000, 1.1013),
    ("2", "0.05", ln.l1, 0.3880, 0.3888),
    ("2", "0.05", ln.l2, 0.3245, 0.3252),
]


@pytest.mark.parametrize(("epsilon", "delta", "cost", "least", "most"), BRACKETS)
def test_known_brackets(epsilon: str, delta: str, cost: Cost, least: float, most: float) -> None:
    mechanism = ln.calibrate(
        ln.Privacy(epsilon, delta), sensitivity=1, cost=cost, shape="any", seconds=60
    )
    mechanism.verify()
    assert least <= mechanism.certificate.lower_bound <= mechanism.cost <= most
    assert mechanism.certificate.gap <= Fraction(1, 1000)
    assert mechanism.certificate.shape == "any"


@pytest.mark.parametrize("cost", [ln.l1, ln.l2, ln.lp(4), ln.threshold(2)], ids=repr)
@pytest.mark.parametrize("shape", ["unimodal", "any"])
@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [
        ("0.1", "1e-9"),
        pytest.param("0.5", "1e-3", marks=pytest.mark.long),
        ("1", "0.3"),
    ],
)
def test_the_gap_is_reached_and_the_noise_is_of_its_class(
    epsilon: str, delta: str, shape: str, cost: Cost
) -> None:
    privacy = ln.Privacy(epsilon, delta)
    mechanism = ln.calibrate(privacy, sensitivity=1, cost=cost, shape=shape, seconds=60)
    mechanism.verify()
    certificate = mechanism.certificate
    assert certificate.cost - certificate.lower_bound <= max(
        certificate.lower_bound / 1000, Fraction(1, 10**9)
    )
    noise = mechanism.noise
    assert (
        noise.is_unimodal
        if shape == "unimodal"
        else noise.probability_up_to(Fraction(0)) >= Fraction(1, 2)
    )
    assert mechanism.discretized.cost <= mechanism.cost * Fraction(1001, 1000)


def test_shapes_may_only_help_and_how_much_is_told() -> None:
    """At δ = 0.55 and ℓ2 any shape gains about 7 %, as mathematics.md §2 has it."""
    privacy = ln.Privacy(delta="0.55")
    decreasing = ln.calibrate(privacy, sensitivity=1, cost=ln.l2)
    shaped = ln.calibrate(privacy, sensitivity=1, cost=ln.l2, shape="any", seconds=60)
    assert 0.255 < shaped.cost < 0.2568
    assert 0.2754 < decreasing.cost < 0.2755
    bound = decreasing.lower_bound(shape="any")
    assert bound == shaped.certificate.lower_bound <= shaped.cost < decreasing.cost
    assert decreasing.lower_bound(shape="unimodal") == decreasing.certificate.lower_bound


@pytest.mark.parametrize("cost", [ln.l1, ln.l2], ids=repr)
@pytest.mark.parametrize("moved", [2, 3, 5, 8])
@pytest.mark.parametrize(("epsilon", "delta"), [("0", "0.3"), ("0.5", "0.05"), ("1", "0.01")])
def test_on_the_integers_it_equals_a_brute_force_programme(
    epsilon: str, delta: str, moved: int, cost: Cost
) -> None:
    mechanism = ln.calibrate(
        ln.Privacy(epsilon, delta), sensitivity=moved, cost=cost, integer=True, shape="any"
    )
    mechanism.verify()
    least = brute_force(float(epsilon), float(delta), moved, lambda x: float(cost(x)))
    assert mechanism.cost == pytest.approx(least, rel=1e-7)
    assert mechanism.certificate.gap < Fraction(1, 10**6)


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "0.05"), ("0.2", "1e-4"), ("2", "0.3")])
def test_at_sensitivity_1_the_integers_have_the_canonical_noise(epsilon: str, delta: str) -> None:
    for cost in (ln.l1, ln.l2, ln.threshold(1)):
        mechanism = ln.calibrate(ln.Privacy(epsilon, delta), sensitivity=1, cost=cost, integer=True)
        mechanism.verify()
        width = mechanism.cost - mechanism.certificate.lower_bound
        assert 0 <= width <= Fraction(1, 10**30)
        least = brute_force(float(epsilon), float(delta), 1, lambda x, c=cost: float(c(x)))
        assert mechanism.cost == pytest.approx(least, rel=1e-6)


# mathematics.md §5: the canonical noise at Δ = 1, ℓ1 and ℓ2.
@pytest.mark.parametrize(
    ("epsilon", "delta", "first", "second"),
    [
        ("0", "0.1", 2.5, 8.5),
        ("0", "0.3", 0.8, 1.0),
        ("0.5", "0.01", 1.702653, 5.486083),
        ("1", "0.001", 0.842984, 1.773900),
        ("2", "0.1", 0.216536, 0.220479),
        ("0.1", "0.05", 3.148600, 14.261262),
    ],
)
def test_canonical_values(epsilon: str, delta: str, first: float, second: float) -> None:
    privacy = ln.Privacy(epsilon, delta)
    for cost, value in ((ln.l1, first), (ln.l2, second)):
        bound = CanonicalBound(integer=True).prove(cost, privacy, Fraction(1))
        assert bound == pytest.approx(value, abs=6e-7)
        found = ln.calibrate(privacy, sensitivity=1, cost=cost, integer=True, shape="any")
        assert found.cost == pytest.approx(value, abs=6e-7)


@pytest.mark.parametrize(
    ("epsilon", "cost", "value"),
    [
        (1.0, ln.l1, math.exp(0.5) / (math.e - 1)),
        (0.1, ln.l1, math.exp(0.05) / (math.exp(0.1) - 1)),
        (2.0, ln.l2, None),
    ],
)
def test_without_delta_it_is_the_staircase(epsilon: float, cost: Cost, value: float | None) -> None:
    """Geng and Viswanath 2016: the published cost of the best staircase."""
    mechanism = ln.calibrate(ln.Privacy(epsilon), sensitivity=1, cost=cost, seconds=60)
    mechanism.verify()
    if value is None:
        b = math.exp(-epsilon)
        value = (2 ** (-2 / 3) * b ** (2 / 3) * (1 + b) ** (2 / 3) + b) / (1 - b) ** 2
    assert mechanism.cost == pytest.approx(value, rel=1e-9)
    assert mechanism.certificate.gap <= Fraction(1, 1000)
    assert mechanism.release(42).max_error == math.inf


@given(
    st.integers(1, 999),
    st.integers(0, 30),
    st.integers(1, 9),
    st.booleans(),
)
@settings(max_examples=40)
def test_blocks_keep_half_of_any_promise(delta: int, tenths: int, cells: int, edged: bool) -> None:
    """The noise that repairs others keeps its own guarantee, on every lattice."""
    frame = Frame("cells" if edged else "chords", cells, cells)
    privacy = ln.Privacy(Fraction(tenths, 10), Fraction(delta, 1000))
    distribution = blocks(frame, privacy.epsilon, privacy.delta)
    check_privacy(distribution.noise(Fraction(1)), privacy, sensitivity=Fraction(1))


@pytest.mark.parametrize("delta", ["1e-15", "1e-60"])
def test_blocks_end_where_a_tiny_delta_lets_them(delta: str) -> None:
    """Their levels go on falling as far as δ asks: about ln(1/2δ) blocks at ε = 1."""
    privacy = ln.Privacy(1, delta)
    distribution = blocks(Frame("chords", 1, 1), privacy.epsilon, privacy.delta)
    check_privacy(distribution.noise(Fraction(1)), privacy, sensitivity=Fraction(1))
    assert abs(len(distribution.sides) - math.log(1 / float(delta))) < 4


@given(st.integers(1, 999), st.integers(1, 40), st.sampled_from([ln.l1, ln.l2, ln.lp(3)]))
@settings(max_examples=8)
def test_without_solving_there_is_a_noise_and_a_bound(delta: int, tenths: int, cost: Cost) -> None:
    privacy = ln.Privacy(Fraction(tenths, 10), Fraction(delta, 1000))
    mechanism = ln.calibrate(privacy, sensitivity=3, cost=cost, solve=False)
    mechanism.verify()
    assert mechanism.certificate.lower_bound <= mechanism.cost
    assert Profile(mechanism.noise, sensitivity=3).delta(privacy.epsilon) <= privacy.delta


@pytest.mark.parametrize("shape", ["unimodal", "any"])
def test_where_any_error_is_one_too_many(shape: str) -> None:
    """threshold(0) asks for P(X ≠ 0): mass at 0 is all that helps, and at most δ of it."""
    mechanism = ln.calibrate(
        ln.Privacy(1, "0.1"), sensitivity=1, cost=ln.threshold(0), shape=shape, seconds=1
    )
    mechanism.verify()
    assert mechanism.certificate.lower_bound <= Fraction(9, 10) <= mechanism.cost


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [
        ("1e-9", "1e-3"),
        ("1e-2", "1e-6"),
        pytest.param("1e-3", "0", marks=pytest.mark.long),
        pytest.param("1e-4", "0", marks=pytest.mark.long),
        pytest.param("1e-3", "1e-6", marks=pytest.mark.long),
    ],
)
def test_small_epsilons_have_an_answer(epsilon: str, delta: str) -> None:
    mechanism = ln.calibrate(ln.Privacy(epsilon, delta), sensitivity=1)
    mechanism.verify()
    assert mechanism.certificate.lower_bound <= mechanism.cost
    if epsilon != "1e-4":
        assert mechanism.certificate.gap <= Fraction(1, 1000)


@pytest.mark.parametrize(
    "epsilon",
    [
        "8",
        pytest.param("40", marks=pytest.mark.long),
        pytest.param("300", marks=pytest.mark.long),
        "710",
        pytest.param("800", marks=pytest.mark.long),
    ],
)
@pytest.mark.parametrize("delta", ["0", "1e-6", "0.1"])
def test_large_epsilons_have_an_answer(epsilon: str, delta: str) -> None:
    for integer in (False, True):
        mechanism = ln.calibrate(
            ln.Privacy(epsilon, delta), sensitivity=1, cost=ln.l2, integer=integer, seconds=1
        )
        mechanism.verify()
        assert mechanism.certificate.lower_bound <= mechanism.cost
        if integer:  # the canonical noise is least, whatever ε
            assert mechanism.certificate.gap < Fraction(1, 10**25)


@pytest.mark.parametrize(
    "moved", [2, 5, *(pytest.param(m, marks=pytest.mark.long) for m in (40, 64, 1000, 10**6))]
)
@pytest.mark.parametrize(("epsilon", "delta"), [("0", "1e-3"), ("1", "1e-3"), ("1", "0")])
@pytest.mark.parametrize("solve", [True, False])
def test_whole_numbers_of_every_sensitivity(
    moved: int, epsilon: str, delta: str, solve: bool
) -> None:
    mechanism = ln.calibrate(
        ln.Privacy(epsilon, delta),
        sensitivity=moved,
        integer=True,
        shape="any",
        solve=solve,
        seconds=300,
    )
    mechanism.verify()
    assert mechanism.certificate.integer
    assert mechanism.certificate.lower_bound <= mechanism.cost
    if solve:
        assert mechanism.certificate.gap <= Fraction(1, 1000)


def test_a_tiny_delta_is_weighed_too() -> None:
    mechanism = ln.calibrate(ln.Privacy(1, "1e-60"), sensitivity=1, integer=True)
    mechanism.verify()
    assert mechanism.certificate.gap < Fraction(1, 10**25)


@pytest.mark.parametrize("cost", [ln.l1, ln.l2, ln.lp(4), ln.Cost(math.log1p)], ids=repr)
@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [
        ("1", "0.3"),
        pytest.param("0.3", "0.02", marks=pytest.mark.long),
        pytest.param("2", "0.6", marks=pytest.mark.long),
    ],
)
def test_decreasing_noise_never_rises_by_a_hair(epsilon: str, delta: str, cost: Cost) -> None:
    """What a solver's tolerance leaves of rises is cut off, at any gap."""
    mechanism = ln.calibrate(
        ln.Privacy(epsilon, delta), sensitivity=1, cost=cost, gap="1e-5", seconds=1
    )
    mechanism.verify()
    assert isinstance(mechanism.noise, ln.Steps)
    assert mechanism.noise.is_decreasing


def test_a_cost_that_levels_off_has_an_answer_with_epsilon() -> None:
    """At ε = 0 no noise is least there; that must not keep others from being found."""
    mechanism = ln.calibrate(
        ln.Privacy("0.5", "0.9"),
        sensitivity=2,
        cost=ln.piecewise_linear([(0, 0), (1, 1)]),
        seconds=2,
    )
    mechanism.verify()
    assert mechanism.certificate.lower_bound <= mechanism.cost < Fraction(1, 5)


def test_nothing_proved_is_not_called_least() -> None:
    """Tiny numbers: a bound of 0 below a cost of 1e-21 says nothing about it."""
    mechanism = ln.calibrate(ln.Privacy(3, "0.4"), sensitivity="1e-10", cost=ln.l2, solve=False)
    assert mechanism.certificate.lower_bound == 0 < mechanism.cost < Fraction(1, 10**20)
    assert not mechanism.certificate.exact
    small = ln.piecewise_linear([(0, 0), (1, "1e-9"), (3, "7e-9")])
    assert ln.calibrate(
        ln.Privacy(1, "0.05"), sensitivity=1, cost=small
    ).certificate.gap <= Fraction(1, 1000)


@pytest.mark.parametrize(
    "seconds",
    [
        "1e-9",
        "0.05",
        "0.2",
        pytest.param("0.5", marks=pytest.mark.long),
        pytest.param("1", marks=pytest.mark.long),
    ],
)
def test_time_may_run_out_anywhere(seconds: str) -> None:
    for epsilon, delta in (("8", "0"), ("4", "0.3"), ("1", "0.3")):
        mechanism = ln.calibrate(
            ln.Privacy(epsilon, delta), sensitivity=1, cost=ln.l2, gap="1e-9", seconds=seconds
        )
        mechanism.verify()
        assert mechanism.certificate.lower_bound <= mechanism.cost


def test_no_time_gives_the_best_bracket_there_is() -> None:
    mechanism = ln.calibrate(
        ln.Privacy(4, "0.05"), sensitivity=1, cost=ln.l1, shape="any", gap="1e-7", seconds="0.3"
    )
    mechanism.verify()
    certificate = mechanism.certificate
    assert Fraction(1, 10**7) < certificate.gap < 2
    assert str(certificate).startswith("within ")


class Terminal(io.StringIO):
    """An error stream that says whether it is a terminal."""

    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("patience", [0.0, 100.0])
def test_what_takes_long_says_so_on_a_terminal_alone(
    terminal: bool, patience: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = Terminal(terminal)
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr("leastnoise.rendering._PATIENCE", patience)
    monkeypatch.setenv("LEASTNOISE_CACHE", "off")
    ln.calibrate(ln.Privacy(1, "0.06"), sensitivity=1, cost=ln.l2, shape="any")
    said = stream.getvalue()
    if terminal and not patience:
        assert "leastnoise: 8 cells to a Δ" in said
        assert said.endswith("\r")  # wiped
    else:
        assert not said


@pytest.mark.parametrize("moved", ["0.001", "7", "1e30"])
def test_powers_scale_with_the_sensitivity(moved: str) -> None:
    privacy = ln.Privacy(1, "0.01")
    unit = ln.calibrate(privacy, sensitivity=1, cost=ln.l2)
    scaled = ln.calibrate(privacy, sensitivity=moved, cost=ln.l2)
    scaled.verify()
    assert scaled.cost == unit.cost * Fraction(moved) ** 2
    assert scaled.certificate.gap == pytest.approx(unit.certificate.gap, rel=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shape": "all"}, 'shape must be "unimodal" or "any"'),
        ({"shape": None}, 'shape must be "unimodal" or "any"'),
        ({"shape": ["any"]}, 'shape must be "unimodal" or "any"'),
        ({"solve": 1}, "solve must be True or False"),
        ({"gap": 0}, "gap must be greater than 0"),
        ({"gap": "tight"}, "gap must be a finite number"),
        ({"seconds": -1}, "seconds must be greater than 0"),
        ({"seconds": math.inf}, "seconds must be a finite number"),
    ],
)
def test_an_effort_without_sense_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        ln.calibrate(ln.Privacy(1, "0.1"), sensitivity=1, **options)  # type: ignore[arg-type]  # that is the test


def brute_force(epsilon: float, delta: float, moved: int, cost: "object") -> float:
    """Return the least cost on the integers by scipy, every pair written out, without symmetry."""
    assert callable(cost)
    factor = math.exp(epsilon)
    tail, steps = (1 - delta) / (1 + factor), 1
    while tail > 0:
        tail, steps = (tail - delta) / factor, steps + 1
    reach = (steps + 1) * moved
    n = 2 * reach + 1
    # Columns: p over −reach … reach, then an excess for each (move, place), both directions.
    rows, limits, count = [], [], n + 2 * moved * (n + moved)
    column = n
    for move in [j * sign for j in range(1, moved + 1) for sign in (1, -1)]:
        budget = np.zeros(count)
        for place in range(-moved if move < 0 else 0, n + (moved if move > 0 else 0)):
            row = np.zeros(count)
            if 0 <= place < n:
                row[place] += 1
            if 0 <= place - move < n:
                row[place - move] -= factor
            row[column] = -1
            budget[column] = 1
            rows.append(row)
            limits.append(0.0)
            column += 1
        rows.append(budget)
        limits.append(delta)
    prices = np.zeros(count)
    prices[:n] = [cost(abs(k - reach)) for k in range(n)]
    mass = np.zeros((1, count))
    mass[0, :n] = 1
    found = linprog(prices, np.array(rows), limits, mass, [1.0], method="highs")
    assert found.status == 0
    return float(found.fun)
