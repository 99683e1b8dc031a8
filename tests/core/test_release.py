"""Releasing: no output gives a value away beyond δ, at cell edges too, in both routes."""

import pickle
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import nextafter
from typing import NoReturn

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

import leastnoise as ln
from leastnoise.core.guarantee import check_privacy
from leastnoise.core.lattice import CELLS, Grid
from leastnoise.core.release import Releaser
from leastnoise.errors import NotPrivate
from leastnoise.mechanism import Discretized, calibrate_pair
from leastnoise.noise import DiscreteSteps, DiscreteUniform, Run
from tests.support.confidence_intervals import FALSE_ALARM
from tests.support.tapes import released

Floats = NDArray[np.float64]
DRAWS = 20_000
# An atom at δ = 0.6 and 0.75, and a width that is no power of two: at ℓ1 and Δ = 1 the width there
# is 1, where textbook noise in floats happens to have no holes.
COST = ln.lp("0.7")
PARTS = ("index", "mechanism", "receipt", "value")
GRAIN = 2.0**53  # numpy's uniform floats are whole multiples of 2⁻⁵³


def porous(outputs: Floats, value: float, possible: NDArray[np.bool_], delta: float) -> bool:
    """Whether more outputs than δ allows give the value away, wrongly at a rate of at most 1e-9.

    Those impossible for the neighbour do, and so does the exact value itself where there is a mass
    at the origin: the neighbour gives it once in a million times at the most.
    """
    given_away = int((~possible | (outputs == value)).sum())
    least = stats.beta.ppf(FALSE_ALARM, given_away, len(outputs) - given_away + 1)
    return bool(least > delta)


def naive_release(value: float, radius: float, atom: float) -> Floats:
    """Textbook noise in floats: B·U added to the value."""
    rng = np.random.default_rng()
    spread = radius * (2 * rng.random(DRAWS) - 1)
    return value + np.where(rng.random(DRAWS) < atom, 0.0, spread)


def naively_possible(
    outputs: Floats, value: float, radius: float, atom: float
) -> NDArray[np.bool_]:
    """Whether the textbook sampler can give each output from ``value``: try every near grain."""
    found: NDArray[np.bool_] = (outputs == value) & (atom > 0)
    grain = np.rint(((outputs - value) / radius + 1) / 2 * GRAIN)
    for shift in range(-8, 9):
        r = (grain + shift) / GRAIN
        found |= (r >= 0) & (r < 1) & (value + radius * (2 * r - 1) == outputs)
    return found


def really_possible(outputs: Floats, mechanism: ln.Mechanism, value: float) -> NDArray[np.bool_]:
    """Whether release can give each output from ``value``: a float of a point of its support."""
    grid, distribution = mechanism.grid, mechanism.discretized.noise
    centre = grid.index(*value.as_integer_ratio())

    def can(output: float) -> bool:
        near = grid.index(*output.as_integer_ratio())
        return any(
            distribution.weight(index - centre) > 0 and grid.nearest_float(index) == output
            for index in (near - 1, near, near + 1)
        )

    return np.array([can(output) for output in outputs.tolist()])


@pytest.mark.parametrize("delta", ["0.01", "0.1", "0.3", "0.6", "0.75"])
@pytest.mark.parametrize("moved", ["0.1", "1", pytest.param("3", marks=pytest.mark.long)])
@pytest.mark.parametrize("cost", [ln.l1, COST], ids=repr)
def test_the_support_is_not_porous(cost: ln.Cost, moved: str, delta: str) -> None:
    mechanism = ln.calibrate(ln.Privacy(delta=delta), sensitivity=moved, cost=cost)
    here, there = 0.0, float(moved)
    for value, other in ((here, there), (there, here)):
        outputs = mechanism.release(np.full(DRAWS, value), allow_exact=True).values
        possible = really_possible(outputs, mechanism, other)
        assert not porous(outputs, value, possible, float(delta))


@pytest.mark.parametrize("delta", ["0.01", "0.1", "0.3", "0.6", "0.75"])
@pytest.mark.parametrize("moved", ["0.1", "1", "3"])
def test_textbook_noise_in_floats_is_porous(moved: str, delta: str) -> None:
    """The control: the same test catches numpy's floats."""
    noise = ln.calibrate(ln.Privacy(delta=delta), sensitivity=moved, cost=COST).noise
    radius, atom = float(noise.radius), float(noise.cdf(0) - noise.sf(0))
    here, there = 0.0, float(moved)
    caught = []
    for value, other in ((here, there), (there, here)):
        outputs = naive_release(value, radius, atom)
        possible = naively_possible(outputs, other, radius, atom)
        caught.append(porous(outputs, value, possible, float(delta)))
    assert any(caught)


@pytest.mark.parametrize("moved", ["0.1", "0.7", "1", "3"])
def test_floats_at_cell_edges_move_k_plus_one_cells_and_never_more(moved: str) -> None:
    """Numbers exactly Δ apart, kept as floats: the control k is exceeded, k + 1 is not."""
    sensitivity = Fraction(moved)
    grid = Grid(sensitivity / CELLS)
    rng = np.random.default_rng(11)
    moves = []
    for cell in rng.integers(-(10**9), 10**9, 4000).tolist():
        true = (cell + Fraction(1, 2)) * grid.step
        low, high = float(true), float(true + sensitivity)
        moves.append(grid.index(*high.as_integer_ratio()) - grid.index(*low.as_integer_ratio()))
    assert max(moves) <= CELLS + 1
    if moved in ("0.1", "0.7"):  # for whole Δ all these edges are floats, and nothing is rounded
        assert CELLS + 1 in moves


def test_noise_for_k_cells_would_not_keep_the_promise_at_k_plus_one() -> None:
    mechanism = ln.calibrate(ln.Privacy(delta="0.1"), sensitivity=1)
    distribution = mechanism.discretized.noise
    check_privacy(distribution, mechanism.privacy, sensitivity=(CELLS + 1) * distribution.step)
    control = DiscreteUniform(reach=(CELLS * 10 - 1) // 2 + 1, step=distribution.step)
    check_privacy(control, mechanism.privacy, sensitivity=CELLS * distribution.step)
    with pytest.raises(NotPrivate, match=r"does not satisfy ε = 0, δ = 0\.1"):
        check_privacy(control, mechanism.privacy, sensitivity=(CELLS + 1) * distribution.step)


values = st.floats(min_value=-8e307, max_value=8e307)
tame = st.floats(min_value=-1e6, max_value=1e6)


@pytest.mark.parametrize("moved", ["1", "0.7", "1e-300", "1e300"])
@given(data=st.data())
def test_both_routes_release_the_same_from_one_tape(
    replay: Callable[[list[int]], object], moved: str, data: st.DataObject
) -> None:
    mechanism = ln.calibrate(ln.Privacy(delta="0.1"), sensitivity=moved)
    size = values if data.draw(st.booleans()) else tame
    inputs = np.array(data.draw(st.lists(size, min_size=1, max_size=20)))
    words = data.draw(st.lists(st.integers(0, (1 << 64) - 1), min_size=20, max_size=20))
    words += [1 << 63] * 40  # none of these is refused
    grid, distribution = mechanism.grid, mechanism.discretized.noise
    tape = replay(words)
    singles = [
        grid.nearest_float(grid.index(*x.as_integer_ratio()) + distribution.scheme.draw(tape))  # type: ignore[arg-type]
        for x in inputs.tolist()
    ]
    together = released(inputs, grid, distribution, lambda: replay(words), integer=False)
    assert together.tolist() == singles
    assert not np.signbit(together[together == 0]).any()


@pytest.mark.parametrize(
    "dtype", ["float64", "float32", "float16", "int8", "uint8", "int64", "uint64"]
)
def test_every_kind_of_array_is_released_in_its_shape(dtype: str) -> None:
    mechanism = ln.calibrate(ln.Privacy(delta="0.2"), sensitivity=2)
    array = np.arange(12, dtype=dtype).reshape(3, 4)[:, ::2]
    answers = mechanism.release(array)
    assert answers.values.shape == (3, 2)
    assert answers.values.dtype == np.float64
    assert (abs(answers.values - array) <= float(answers.max_error)).all()


def test_large_whole_numbers_are_not_squeezed_through_floats() -> None:
    mechanism = ln.calibrate(ln.Privacy(delta="0.2"), sensitivity=1, integer=True)
    big = np.array([2**63 - 1, -(2**63), 2**62 + 1])
    answers = mechanism.release(big)
    assert all(
        abs(int(out) - int(true)) <= mechanism.discretized.radius
        for out, true in zip(answers.values.tolist(), big.tolist(), strict=True)
    )
    unsigned = np.array([2**64 - 1], dtype=np.uint64)
    assert abs(int(mechanism.release(unsigned).values[0]) - (2**64 - 1)) <= 5


def test_whole_arrays_stay_whole() -> None:
    mechanism = ln.calibrate(ln.Privacy(delta="0.1"), sensitivity=1, integer=True)
    answers = mechanism.release(np.zeros(100_000, dtype=np.int32))
    assert answers.values.dtype == np.int64
    assert set(answers.values.tolist()) == set(range(-5, 6))


@given(value=values, delta=st.sampled_from(["0.01", "0.3"]))
def test_an_answer_is_a_lattice_point_within_its_bound(value: float, delta: str) -> None:
    mechanism = ln.calibrate(ln.Privacy(delta=delta), sensitivity="0.7")
    answer = mechanism.release(value)
    assert (answer.value / mechanism.discretized.step).denominator == 1
    assert abs(answer.value - Fraction(value)) <= answer.max_error
    low, high = answer.interval(1)
    assert low == answer.value - answer.max_error
    assert high == answer.value + answer.max_error


def test_the_interval_covers_as_often_as_it_says_and_no_narrower_one_does() -> None:
    mechanism = ln.calibrate(ln.Privacy(delta="0.1"), sensitivity=1)
    distribution = mechanism.discretized.noise
    low, high = mechanism.release(0).interval("0.95")
    inside = int(((high - low) / 2 - distribution.step / 2) / distribution.step)
    covered = Fraction(2 * inside + 1, distribution.total)
    assert Fraction(95, 100) <= covered < Fraction(95, 100) + Fraction(2, distribution.total)


def test_an_array_that_one_person_touches_often_promises_less() -> None:
    mechanism = ln.calibrate(ln.Privacy(delta="0.1"), sensitivity=1)
    assert mechanism.release(np.zeros(3)).privacy == ln.Privacy(delta="0.1")
    assert mechanism.release(np.zeros(3), contributions=3).privacy == ln.Privacy(delta="0.271")


def test_two_honest_lines() -> None:
    answer = ln.calibrate(ln.Privacy(delta="0.1"), sensitivity=1).release(42)
    result, guarantee = str(answer).splitlines()
    # Both errors are rounded up, with printing's own error.
    assert result.startswith("release: ")
    assert result.endswith(" ± 4.751 (95% confidence, max error 5.001)")
    assert guarantee == "ε = 0, δ = 0.1; not recorded"
    assert "at most 55% of the time" in answer.explain()


def test_the_true_value_is_nowhere_in_an_answer() -> None:
    mechanism = ln.calibrate(ln.Privacy(delta="1e-12"), sensitivity=1)
    answer = mechanism.release(8.313374242424275e15)
    # Thirteen digits come up by chance in an index once in 10¹² releases.
    assert "3133742424242" not in repr(answer) + str(answer) + answer.explain() + repr(answer.index)


def test_the_float_next_to_an_edge_is_rounded_exactly() -> None:
    """0.5 − 2⁻⁵⁴ steps, where adding a half in floats gives 1."""
    grid = Grid(Fraction(1))
    below = nextafter(0.5, 0.0)
    assert grid.index(*below.as_integer_ratio()) == 0
    assert grid.index(1, 2) == 1
    assert grid.index(-1, 2) == 0


def test_an_answer_is_a_value_that_cannot_be_changed() -> None:
    mechanism = ln.calibrate(ln.Privacy(1, "1e-6"), sensitivity=1)
    answer, twin = ln.Answer(7, mechanism), ln.Answer(7, mechanism)
    assert answer == twin
    assert hash(answer) == hash(twin)
    assert answer != ln.Answer(8, mechanism)
    assert answer != 7
    assert pickle.loads(pickle.dumps(answer)) == answer
    refusals = {name: f"'{name}' of 'Answer' object has no setter" for name in PARTS}
    refusals["true"] = "'Answer' object has no attribute 'true'"
    for name, refusal in refusals.items():
        with pytest.raises(AttributeError, match=refusal):
            setattr(answer, name, 0)


def test_released_arrays_carry_nothing_else_with_them() -> None:
    """What memory held before, as another true array, is not left around the results."""
    true, mechanism = 1234567.25, ln.calibrate(ln.Privacy(1, "1e-6"), sensitivity=1)
    for size in (600_000, 4_300_000):
        for count, length in ((1, 3_000_000), (3, 700_000)):
            others = [np.full(length, true) for _ in range(count)]
            del others  # what comes next may get their memory
        base = mechanism.release(np.zeros(size)).values
        while isinstance(base.base, np.ndarray):
            base = base.base
        assert base.size >= size
        assert not (base == true).any()


def test_a_mechanism_whose_sampled_noise_fails_the_proof_cannot_exist() -> None:
    """Neither built, nor copied with other noise, nor read from a pickle that somebody changed."""
    good = ln.calibrate(ln.Privacy(delta="0.1"), sensitivity=1)
    noise = good.discretized.noise
    assert isinstance(noise, DiscreteUniform)
    narrow = DiscreteUniform(reach=noise.reach - 1, step=noise.step)
    with pytest.raises(NotPrivate, match=r"does not satisfy ε = 0, δ = 0\.1 at sensitivity"):
        Releaser(narrow, good.privacy, good.sensitivity, integer=False)
    with pytest.raises(NotPrivate, match="does not satisfy"):
        replace(good, discretized=Discretized(narrow, good.discretized.objective))
    build, parts = good.__reduce__()
    assert parts[4] == good.discretized
    with pytest.raises(NotPrivate, match="does not satisfy"):
        build(*parts[:4], Discretized(narrow, good.discretized.objective), *parts[5:])
    build, parts = good.releaser.__reduce__()
    with pytest.raises(NotPrivate, match="does not satisfy"):
        build(narrow, *parts[1:])
    copied = pickle.loads(pickle.dumps(good))
    assert copied == good
    assert copied.release(1).mechanism == good


def test_a_pair_is_built_again_with_its_proof_when_it_is_unpickled() -> None:
    good = calibrate_pair(ln.Privacy("0.1"), sensitivity=1)
    narrow = calibrate_pair(ln.Privacy(9), sensitivity=1)
    assert pickle.loads(pickle.dumps(good)) == good
    build, parts = good.__reduce__()
    with pytest.raises(NotPrivate, match="This noise does not satisfy"):
        build(*parts[:2], narrow.noise, narrow.discretized)


@pytest.mark.parametrize(
    ("sensitivity", "integer"), [(0, True), (-1, True), ("1/2", True), (0, False), (-1, False)]
)
def test_a_sensitivity_that_protects_nothing_is_refused(
    sensitivity: int | str, integer: bool
) -> None:
    """At a shift of 0 or less any noise would pass the proof, even none."""
    exact = DiscreteSteps(Fraction(1), (Run(0, 1, 1),))
    with pytest.raises(ln.errors.InvalidParameter, match="sensitivity must be greater than 0"):
        Releaser(exact, ln.Privacy("0.001"), Fraction(sensitivity), integer)


def test_integers_are_not_added_up_in_fractions() -> None:
    """Half a step rounds up: two sums half a step apart would get noise for none."""
    releaser = ln.calibrate(ln.Privacy(1), sensitivity=1, integer=True).releaser
    with pytest.raises(
        ln.errors.InvalidParameter, match=r"must be integers, got multiples of 0\.5"
    ):
        releaser.add_noise_to_steps([0, 1], Fraction(1, 2))


def test_preparing_reads_no_bits_and_checks_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> NoReturn:
        raise KeyboardInterrupt("bits were read")

    releaser = ln.calibrate(ln.Privacy(delta="0.1"), sensitivity=1, integer=True).releaser
    with monkeypatch.context() as broken:
        broken.setattr("leastnoise.core.sampling.entropy.urandom", fail)
        one, many = releaser.prepare(5), releaser.prepare_array(np.arange(3))
        for wrong, kind in ((2.5, "float"), (Fraction(1, 3), "Fraction")):
            message = f"must be an integer with integer=True, got a non-integer of type {kind}"
            with pytest.raises(ln.errors.InvalidParameter, match=message):
                releaser.prepare(wrong)
            with pytest.raises(ln.errors.InvalidParameter, match=message):
                releaser.add_noise(wrong)
        with pytest.raises(ln.errors.InvalidParameter, match="must hold integers of at most 64"):
            releaser.prepare_array(np.ones(3))
        with pytest.raises(KeyboardInterrupt, match="bits were read"):
            one()
    assert abs(one() - 5) <= releaser.noise.radius
    assert many().shape == (3,)
