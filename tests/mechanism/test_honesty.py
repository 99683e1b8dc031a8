"""What a sceptical reader tried: promises that could be bent, types that tell, lines that lie."""

import copy
import dataclasses
import pickle
import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import leastnoise as ln
from leastnoise import plots
from leastnoise.core.arrays.release import float_rounding
from leastnoise.core.lattice import choose_lattice
from leastnoise.errors import InvalidParameter, NotPrivate
from leastnoise.paper import rearrange

HILL = ln.Steps([-3, -1, 1, 3], ["1/10", "3/10", "1/10"])
LINE = ln.calibrate(ln.Privacy(delta="0.1"), sensitivity=1)


def test_an_array_released_at_some_epsilon_promises_that_epsilon() -> None:
    mechanism = ln.Mechanism.from_noise(HILL, ln.Privacy(1, "0.2"), sensitivity=1)
    assert mechanism.release(np.zeros(2)).privacy == ln.Privacy(1, "0.2")
    assert mechanism.release(np.zeros(2), contributions=2).privacy == ln.Privacy(2, "0.36")
    assert "factor of at most 2.719" in mechanism.release(0).explain()


@pytest.mark.parametrize("size", [2**63 - 1, 2**62, 0, -(2**63)])
@pytest.mark.parametrize("delta", ["0.1", "1e-6"])
def test_the_type_of_released_integers_does_not_tell_where_they_lie(size: int, delta: str) -> None:
    mechanism = ln.calibrate(ln.Privacy(delta=delta), sensitivity=1, integer=True)
    truth = np.full(200, size)
    answers = mechanism.release(truth)
    assert answers.values.dtype == np.int64
    errors = [abs(int(out) - size) for out in answers.values]
    assert max(errors) <= answers.max_error
    low, high = answers.interval(1)
    assert (low <= truth).all()
    assert (truth <= high).all()


def test_the_type_of_released_floats_does_not_tell_where_they_lie() -> None:
    mechanism = ln.calibrate(ln.Privacy(delta="0.1"), sensitivity="1e292")
    for size in (0.0, 8e307, 1.7e308, 1.7976931348623157e308):
        values = mechanism.release(np.full(50, size)).values
        assert values.dtype == np.float64
        assert np.isfinite(values).all()
        assert (
            max(abs(Fraction(float(v)) - Fraction(size)) for v in values)
            <= mechanism.release(np.array([size])).max_error
        )


def test_a_mechanism_cannot_be_bent_into_another_promise() -> None:
    with pytest.raises(InvalidParameter, match="certificate must be for the noise, privacy and s"):
        dataclasses.replace(LINE, privacy=ln.Privacy(delta="1e-9"))
    narrow = dataclasses.replace(
        LINE.discretized, noise=ln.noise.DiscreteUniform(reach=1, step=LINE.discretized.step)
    )
    with pytest.raises(NotPrivate, match=r"a shift of ≈1\.00000095 needs δ = 1\."):
        dataclasses.replace(LINE, discretized=narrow)
    false = dataclasses.replace(LINE.certificate, privacy=ln.Privacy(delta="0.05"))
    with pytest.raises(NotPrivate, match=r"does not satisfy ε = 0, δ = 0\.05"):
        dataclasses.replace(LINE, privacy=ln.Privacy(delta="0.05"), certificate=false)
    LINE.verify()


@pytest.mark.parametrize("delta", ["0.1000002", "0.1", "0.0123"])
def test_the_honest_line_holds_at_the_worst_draw(delta: str) -> None:
    """The printed value ± the printed bound holds the true value, at the largest noise there is."""
    mechanism = ln.calibrate(ln.Privacy(delta=delta), sensitivity=1)
    for sign in (-1, 1):
        answer = ln.Answer(int(sign * mechanism.discretized.noise.farthest), mechanism)
        truth = -sign * mechanism.discretized.step / 2
        value, _, always = re.findall(r"-?[\d.]+(?=[ )])", str(answer).splitlines()[0])
        assert abs(Fraction(value) - truth) <= Fraction(always)


def test_a_very_long_value_is_printed_in_full() -> None:
    long = int("7" * 60)
    for integer in (False, True):
        mechanism = ln.calibrate(ln.Privacy(delta="0.1"), sensitivity=1, integer=integer)
        printed = Fraction(str(mechanism.release(long)).split()[1])
        assert abs(printed - long) <= 6


def test_a_chance_is_never_rounded_down() -> None:
    words = " ".join(ln.Privacy(delta="1e-6").explain().split())
    assert "at most 50.00005% of the time" in words
    assert "with probability 1e-6," in words


def test_exact_is_not_a_flag_that_can_be_set() -> None:
    """It is what cost and lower bound, both proved, come to; a function's bound does not meet."""
    called = ln.calibrate(ln.Privacy(delta="0.1"), sensitivity=1, cost=ln.Cost(lambda x: x * x))
    assert not called.certificate.exact
    assert str(called.certificate).startswith("within 0.0")
    assert LINE.certificate.exact
    assert not ln.Mechanism.from_noise(HILL, ln.Privacy(1, "0.2"), sensitivity=1).certificate.exact


def test_a_function_whose_balance_vanishes_is_not_refused() -> None:
    level = ln.Cost(lambda x: min(x, 1.0))
    mechanism = ln.calibrate(ln.Privacy(delta="0.9"), sensitivity=1, cost=level)
    assert float(mechanism.noise.radius) == pytest.approx(1, rel=1e-2)
    assert mechanism.cost < Fraction(1001, 10000)
    assert mechanism.certificate.gap < Fraction(1, 500)


def test_a_function_without_a_least_noise_is_refused_on_the_integers_too() -> None:
    with pytest.raises(InvalidParameter, match=r"down to 0\.1 in the limit"):
        ln.calibrate(
            ln.Privacy(delta="0.9"),
            sensitivity=2,
            cost=ln.Cost(lambda x: float(x > 0)),
            integer=True,
        )


def test_small_powers_on_the_integers_keep_a_small_gap() -> None:
    mechanism = ln.calibrate(
        ln.Privacy(delta="0.75"), sensitivity=3, cost=ln.lp("1/1000"), integer=True
    )
    assert mechanism.certificate.gap < Fraction(1, 1000)


def test_costs_are_values() -> None:
    assert ln.lp(2) == ln.l2
    assert hash(ln.lp(2)) == hash(ln.l2)
    assert ln.threshold(3) != ln.threshold(4)
    assert ln.piecewise_linear([(0, 0), (1, 1)]) == ln.piecewise_linear([(0, 0), ("1", 1)])
    with pytest.raises(AttributeError, match="a cost cannot be changed"):
        ln.l1.p = Fraction(3)


@pytest.mark.parametrize(
    "cost", [ln.l1, ln.lp("1/2"), ln.threshold(3), ln.piecewise_linear([(0, 0), (9, 9)])]
)
def test_mechanisms_and_answers_can_be_copied_and_sent(cost: ln.Cost) -> None:
    mechanism = ln.calibrate(ln.Privacy(delta="0.1"), sensitivity=1, cost=cost)
    answer = mechanism.release(5)
    assert copy.deepcopy(mechanism) == mechanism == pickle.loads(pickle.dumps(mechanism))
    assert pickle.loads(pickle.dumps(answer)) == answer


def test_a_sum_beyond_the_floats_is_refused_in_words() -> None:
    with pytest.raises(InvalidParameter, match="too large to sum as floats"):
        ln.calibrate(
            ln.Privacy(delta="0.9"), sensitivity=1, cost=ln.Cost(lambda x: 1e305 * min(1, x))
        )


def test_a_function_may_return_decimals() -> None:
    exact = ln.Cost(lambda x: Decimal(x) / 4)  # type: ignore[arg-type,return-value]
    mechanism = ln.calibrate(ln.Privacy(delta="0.1"), sensitivity=1, cost=exact)
    assert float(mechanism.cost) == pytest.approx(2.5 / 4, rel=1e-3)


@pytest.mark.parametrize("moved", [2.718281828459045, "1e-10", "1e300", "1/3", 0.7, 1])
def test_every_sensitivity_has_a_wieldy_lattice(moved: float | str) -> None:
    mechanism = ln.calibrate(ln.Privacy(delta="0.1"), sensitivity=moved)
    step, steps = choose_lattice(mechanism.sensitivity)
    assert (steps - 2) * step < mechanism.sensitivity <= (steps - 1) * step
    assert 2**20 <= steps - 1 <= 2**21
    assert mechanism.discretized.cost / mechanism.cost - 1 < Fraction(1, 10**5)
    assert float_rounding(mechanism.grid, float(mechanism.sensitivity) * 1000, 10) is not None


def test_points_with_coordinates_far_apart_do_not_hang() -> None:
    far = ln.piecewise_linear([(0, 0), (1, 1), ("1e4000", 2), ("1.1e4000", "1e4500")])
    mechanism = ln.calibrate(ln.Privacy(delta="0.9"), sensitivity=1, cost=far)
    assert mechanism.certificate.gap < Fraction(1, 10**6)


class Telltale(Fraction):
    """A number whose own error would tell what it is."""

    @property
    def numerator(self) -> int:
        raise ValueError("I am 31337.4242")


def test_a_foreign_numbers_own_error_does_not_get_out() -> None:
    with pytest.raises(InvalidParameter, match="The value to release must be finite") as refused:
        LINE.release(Telltale(1))
    assert "31337" not in str(refused.value)
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__ or refused.value.__context__ is None


def test_an_atom_away_from_zero_gives_values_away_too() -> None:
    teeth = ln.Steps([-2, 2], ["1/5"], {-1: "1/10", 1: "1/10"})
    mechanism = ln.Mechanism.from_noise(teeth, ln.Privacy(delta="0.5"), sensitivity=1)
    assert 0 <= mechanism.exact_probability - Fraction(1, 5) < Fraction(1, 10**5)
    with pytest.raises(InvalidParameter, match=r"probability 0\.2.* one of a few known numbers"):
        mechanism.release(0)


def test_a_narrow_spike_is_no_way_around_allow_exact() -> None:
    s = Fraction(1, 2**40)
    side, spike = Fraction(1, 2) / (20 - 2 * s), Fraction(1, 4) / s
    mechanism = ln.Mechanism.from_noise(
        ln.Steps([-10, -s, s, 10], [side, spike, side]), ln.Privacy(delta="3/5"), sensitivity=1
    )
    assert mechanism.exact_probability >= Fraction(1, 2)
    with pytest.raises(InvalidParameter, match=r"With probability 0\.5\S* this noise adds nothing"):
        mechanism.release(42)


def test_a_figure_of_optimal_noise_names_the_class(tmp_path: Path) -> None:
    found = ln.calibrate(ln.Privacy(delta="0.1"), sensitivity=1)
    text = plots.save(plots.density(found), tmp_path / "a.json").read_text()
    assert "Optimal unimodal noise for" in text
    assert "with probability 0.1, the output reveals which of the two values is true" in text


def test_a_figure_of_a_given_noise_does_not_call_it_optimal(tmp_path: Path) -> None:
    given = ln.Mechanism.from_noise(HILL, ln.Privacy(1, "0.2"), sensitivity=1)
    text = plots.save(plots.density(given), tmp_path / "a.json").read_text()
    assert "Noise for" in text
    assert "Optimal" not in text
    assert "reveals" not in text
    with pytest.raises(InvalidParameter, match=r"The figure 'b\.png' cannot be written"):
        plots.save(plots.density(given), tmp_path / "nowhere" / "b.png")
    with pytest.raises(
        InvalidParameter, match="noise must have at least one noise distribution, got none"
    ):
        plots.distributions({}, "nothing")


def test_noise_beyond_the_floats_comes_as_fractions_wherever_the_values_lie() -> None:
    """Neither infinities nor a type that tells: the distribution alone decides."""
    mechanism = ln.calibrate(ln.Privacy(delta="1e-9"), sensitivity="1e300")
    for size in (0.0, 1e308, -1.7e308):
        answers = mechanism.release(np.full(20, size))
        assert answers.values.dtype == object
        assert all(abs(value - Fraction(size)) <= answers.max_error for value in answers.values)


@pytest.mark.parametrize("order", ["<", ">"])
def test_unsigned_integers_of_either_byte_order_do_not_wrap(order: str) -> None:
    mechanism = ln.calibrate(ln.Privacy(delta="0.1"), sensitivity=1, integer=True)
    for size in (2**64 - 1, 2**63, 3):
        answers = mechanism.release(np.full(20, size, dtype=f"{order}u8"))
        assert max(abs(int(value) - size) for value in answers.values) <= 5


def test_the_line_of_an_array_includes_the_rounding_of_its_floats() -> None:
    line = str(LINE.release(np.array([1.5 * 2.0**55])))
    assert "max error 9.001" in line  # 5.0000053 and half of the 8 between two floats there


def test_only_a_noise_is_rearranged() -> None:
    with pytest.raises(
        InvalidParameter,
        match=r"must be a noise distribution .*, got an object of type int",
    ):
        rearrange(5, ln.Privacy(delta="0.1"), sensitivity=1, cost=ln.l1)  # type: ignore[arg-type]
