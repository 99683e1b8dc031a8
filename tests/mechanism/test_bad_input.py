"""What is refused, in which words, before any bit is drawn; and the extremes that must work."""

import math
import re
import traceback
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any, NoReturn, cast

import numpy as np
import pytest

import leastnoise
from leastnoise.core.privacy import format_guarantee
from leastnoise.core.sampling.entropy import CipherTape, SystemTape
from leastnoise.errors import InvalidParameter, LeastnoiseError, Unsupported

ln: Any = leastnoise  # wrong types are the point here, so mypy shall not see them
GUARANTEE = ln.Privacy(delta="0.1")
LINE = ln.calibrate(GUARANTEE, sensitivity=1)
WHOLE = ln.calibrate(GUARANTEE, sensitivity=1, integer=True)
LAW, LATTICE = ln.noise.Uniform(5, "0.1"), ln.noise.DiscreteUniform(reach=4)
NAN, INF, ONE = math.nan, math.inf, np.array([1.0])
HUGE = 10**4500  # within the door, but too long for Python to print
CANARY = 31337.4242  # the value that no message may hold


@pytest.fixture
def no_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> NoReturn:
        raise AssertionError("bits were drawn")

    for tape in (SystemTape, CipherTape):
        for call in ("__init__", "word", "fill"):
            monkeypatch.setattr(tape, call, refuse)


def test_what_shows_that_nothing_is_drawn_can_fail(no_bits: None) -> None:
    for value in (1, ONE):
        with pytest.raises(ln.errors.ReleaseFailed, match="unexpected error"):  # it is withheld
            LINE.release(value)


# ------------------------------------------------------------------- what is refused, and how

# Every place where a parameter is read as a number; before the @ stands what messages call it.
NUMBERS: dict[str, Callable[[Any], object]] = {
    "epsilon": lambda bad: ln.Privacy(bad, "0.1"),
    "epsilon @ alone": lambda bad: ln.Privacy(epsilon=bad),
    "delta": lambda bad: ln.Privacy(1, bad),
    "delta @ alone": lambda bad: ln.Privacy(delta=bad),
    "sensitivity": lambda bad: ln.calibrate(GUARANTEE, sensitivity=bad),
    "sensitivity @ whole": lambda bad: ln.calibrate(GUARANTEE, sensitivity=bad, integer=True),
    "p": ln.lp,
    "The threshold": ln.threshold,
    "the size of a cost's point": lambda bad: ln.piecewise_linear([(0, 0), (bad, 1)]),
    "the cost of a cost's point": lambda bad: ln.piecewise_linear([(0, 0), (1, bad)]),
    "radius": ln.noise.Uniform,
    "atom": lambda bad: ln.noise.Uniform(1, bad),
    "step": lambda bad: ln.noise.DiscreteUniform(reach=1, step=bad),
    "reach": lambda bad: ln.noise.DiscreteUniform(reach=bad),
    "level": lambda bad: ln.noise.DiscreteUniform(reach=1, level=bad),
    "rim": lambda bad: ln.noise.DiscreteUniform(reach=1, rim=bad),
    "atom @ lattice": lambda bad: ln.noise.DiscreteUniform(reach=1, atom=bad),
    "confidence @ law": LAW.interval,
    "confidence @ lattice": LATTICE.interval,
    "confidence @ one": LINE.release(1).interval,
    "confidence @ many": LINE.release(ONE).interval,
    "contributions": lambda bad: LINE.release(ONE, contributions=bad),
    "contributions @ one": lambda bad: LINE.release(1, contributions=bad),
}
FUNCTIONS = [LAW.cdf, LAW.sf, LAW.ppf, LAW.pdf, LATTICE.cdf, LATTICE.sf, LATTICE.ppf, LATTICE.pmf]
AT = {f"x @ {i}": function for i, function in enumerate(FUNCTIONS)}
OTHERS: dict[str, Callable[[Any], object]] = {
    "no radius": ln.noise.Uniform,
    "no promise": lambda bad: ln.Privacy(**bad),
    "privacy": lambda bad: ln.calibrate(bad, sensitivity=1),
    "δ @ calibrate": lambda bad: ln.calibrate(ln.Privacy(delta=bad), sensitivity=1),
    "integer": lambda bad: ln.calibrate(GUARANTEE, sensitivity=1, integer=bad),
    "cost": lambda bad: ln.calibrate(GUARANTEE, sensitivity=1, cost=bad),
    "cost @ expected": LAW.expected,
    "error": ln.l1,
    "points": ln.piecewise_linear,
    "a cost": ln.Cost,
    "name": lambda bad: ln.Cost(abs, bad),
    "function": lambda bad: ln.calibrate(GUARANTEE, sensitivity=1, cost=ln.Cost(bad)),
    "gives": lambda bad: ln.calibrate(GUARANTEE, sensitivity=1, cost=ln.Cost(lambda _: bad)),
    "a level @ law": LAW.ppf,
    "a level @ lattice": LATTICE.ppf,
    "allow_exact": lambda bad: calibrated("0.75", "1").release(1, allow_exact=bad),
    "release": LINE.release,
    "release @ whole": WHOLE.release,
}
PLACES = NUMBERS | AT | OTHERS

NO_NUMBERS: list[Any] = [NAN, "abc", "", "nan", "inf", "1/0", "1/2/3", "a\n\x1b[31m", 1j, None]
NO_NUMBERS += [True, False, b"1", {}, np.bool_(True), np.float32("nan"), np.array(NAN)]
NO_NUMBERS += [Decimal("NaN"), Decimal("sNaN"), Decimal("-Infinity"), np.complex64(1)]
NO_NUMBERS += [np.timedelta64(1, "s"), np.timedelta64(1), np.ma.masked, object()]
NO_SCALARS: list[Any] = [INF, -INF, [1], (1,), ONE, np.array([]), np.array([None])]
BEYOND: list[Any] = ["1e999999999", "-1e-999999999", "7" * 20_000, 10**6000]
BEYOND += [Fraction(1, 10**6000), Decimal("1e999999")]
BELOW: list[Any] = [-1, -0.5, "-1e-300", Fraction(-1, 3), Decimal("-1")]
OUTSIDE = [*BELOW, 1.5, "1.0000001", Fraction(4, 3)]
LEVELS = [*OUTSIDE, INF, -INF, np.array([0.5, 1.1]), np.array([-INF])]
NO_ARRAYS = [np.array([0.5, bad]) for bad in (NAN, 1j, None)] + [np.array(["1"]), np.array([True])]
NO_COSTS: list[Any] = [NAN, "l1", None, 1j, [1]]
# Values to be released: each holds the canary, as far as its kind can.
VALUES: list[Any] = [NAN, -INF, str(CANARY), complex(CANARY), None, True, False, [CANARY]]
VALUES += [{"a": CANARY}, b"31337.4242", Decimal("NaN313374242"), Decimal("sNaN31337"), object()]
VALUES += [Decimal("31337.4242e999999"), np.bool_(True), np.float32("nan"), np.complex64(CANARY)]
VALUES += [np.timedelta64(31337, "s"), np.timedelta64(31337), np.str_(CANARY), np.array(CANARY)]
NO_FINITE = [bad for bad in VALUES if isinstance(bad, float | Decimal | np.floating)]
NO_NUMBER = [bad for bad in VALUES if not isinstance(bad, float | Decimal | np.floating)]
KINDS = [np.array([CANARY, bad]) for bad in (None, 1j)] + [np.array([str(CANARY)]), ONE == 1]
KINDS += [np.array([31337], "m8[s]"), np.array([(CANARY,)], [("a", "f8")]), np.array([CANARY], "g")]
NOT_FINITE = [np.array([CANARY, bad], f"f{n}") for bad in (NAN, INF, -INF) for n in (8, 4, 2)]
EMPTY, MASKED = [np.array([], int), np.empty((0, 3), int)], np.ma.array([31337], mask=[True])
PARTS = [float(CANARY), Fraction(CANARY), Decimal(CANARY)]

# Where · the message, with {} for what was got and … for any words · what is refused there.
BOTH, COUNT = "release|release @ whole", "NAME must be an integer of at least"
FALLS, PAIRS = "A cost must never fall as the error grows", "points must be pairs"
NUMBER = "NAME must be a finite number, got {}. Use an int, float, Fraction"
ANYWHERE = "|".join(NUMBERS | AT)
CASES: list[tuple[str, str, list[Any]]] = [
    (ANYWHERE, NUMBER, NO_NUMBERS),
    ("|".join(NUMBERS), NUMBER, NO_SCALARS),
    (ANYWHERE, "NAME must be between 1e-4900 and 1e4900…, got…Use a shorter number.", BEYOND),
    ("epsilon|epsilon @ alone", "NAME must be 0 or more, got {}. Use, for example, 0.5.", BELOW),
    (
        "The threshold",
        "The threshold must be 0 or more, got {}. Use the largest harmless error.",
        BELOW,
    ),
    (
        "delta|delta @ alone",
        "NAME must be at least 0 and less than 1, got {}. Use a prob",
        [1, *OUTSIDE],
    ),
    ("sensitivity|p|radius|step", "NAME must be greater than 0, got {}. Use", [0, -0.0, *BELOW]),
    ("reach|rim|atom @ lattice", f"{COUNT} 0, got {{}}. Use, for example, 1.", OUTSIDE),
    (
        "level|contributions|contributions @ one",
        f"{COUNT} 1, got {{}}. Use, for example, 1.",
        [0, *OUTSIDE],
    ),
    ("atom", "atom must be…less than 1, got {}. Use the prob", [1, *OUTSIDE]),
    ("confidence @ one|confidence @ many", "NAME must be above 0…, got {}. Use", [0, *OUTSIDE]),
    ("confidence @ law|confidence @ lattice", "A probability must be…0 and 1, got…Use", OUTSIDE),
    ("a level @ law|a level @ lattice", "…must be between 0 and 1, got…Use", LEVELS),
    ("|".join(AT), "x must be a number or a numpy array, got {}. Convert it", [[1], (1,)]),
    ("|".join(AT), "x must be an array…without NaN, got one of type TYPE. Use", NO_ARRAYS),
    ("|".join(AT), "x must not be masked, got", [MASKED / 10**6]),
    ("no radius", "Uniform() needs radius, or a guarantee and sensitivity, got no argu", [None]),
    ("no promise", "Privacy needs an ε, a δ or both. Use, for example, Priv", [{}]),
    ("δ @ calibrate", "No noise satisfies ε = 0, δ = 0…Use δ > 0.", [0]),
    (
        "privacy",
        "NAME must be a Privacy, got {}. Use, for example, Privacy(delta=0.1).",
        [0.1, *NO_COSTS],
    ),
    ("integer", "NAME must be True or False, got {}. Use", [1, "yes", None, np.bool_(True)]),
    ("sensitivity @ whole", "sensitivity must be an integer…got 0.5. Round it up", [0.5]),
    ("cost|cost @ expected", "NAME must be a Cost, got {}. Use l1, l2", [*NO_COSTS, True, abs]),
    ("error", "NAME must be a finite number, got {}. Use", [INF, True, *NO_COSTS]),
    ("a cost", "function must be a function of the size of an error, got {}. Use, for", NO_COSTS),
    ("name", "name must be a string, got {}. ", [5, [1]]),
    ("gives", "A cost must be a finite number…got {} from…Use a function", [INF, *NO_COSTS]),
    ("gives", "A cost must be a finite number…from Cost(<lambda>)…Use a function", [10**400]),
    (
        "function",
        "A cost must be a number…got ZeroDivisionError from…at 0.0. U",
        [lambda x: 1 / x],
    ),
    (
        "function",
        f"{FALLS}, got Cost(<lambda>) falling from 1.0 at 0 to 0.9…Use",
        [lambda x: abs(x - 1)],
    ),
    (
        "function",
        f"{FALLS}, got Cost(<lambda>) falling from 1.0 at 0 to 0.9…Use",
        [lambda x: 1 - x],
    ),
    ("function", f"{FALLS}, got…falling from 0.9…at 0.9…to 0.0…at 1.0…Use", [lambda x: x % 1]),
    ("points", f"{PAIRS} (size, cost), got {{}}. Use, for", [5, None, "ab", [(0,)], [0, 1]]),
    ("points", "The first point must have size 0…Begin with a point", [[], [(1, 1)]]),
    ("points", "The sizes of points must increase, got 0 after 0. Sort", [[(0, 0), (0, 1)]]),
    ("points", f"{FALLS}, got 1 at 0, then 0 at 1. Use costs that", [[(0, 1), (1, 0)]]),
    ("rim", "rim must be at most level, got…above 1. Use", [2, HUGE]),
    (
        "contributions @ one",
        "contributions must be 1 for a single value, got…. Omit it, or release an array.",
        [2, HUGE],
    ),
    ("contributions", "…such releases have no guarantee together…Release fewer", [10**6, HUGE]),
    ("allow_exact", "With prob…adds nothing…accept it with allow_exact=True", [False]),
    ("allow_exact", "allow_exact must be True or False, got {}. Use True to", [1, "yes", None]),
    (BOTH, "The value to release must be…, got a…TYPE", NO_NUMBER),
    (BOTH, "The value to release must be finite, got NaN, infinity or a number ov", NO_FINITE),
    ("release", "An array to release must hold floats or…got one of type TYPE. Convert", KINDS),
    ("release", "An array to release must hold finite…got one of type TYPE…Replace", NOT_FINITE),
    ("release @ whole", "An array to release must hold integers…TYPE. Convert", KINDS + NOT_FINITE),
    (
        "release @ whole",
        "The value…an integer with integer=True, got a non-integer of type TYPE. Omit",
        PARTS,
    ),
    (BOTH, "An array to release must have at least one element, got an empty one. Pass", EMPTY),
    (BOTH, "An array to release must not be masked, got a masked array. Fill it first", [MASKED]),
]
REFUSED = [
    pytest.param(place, message, bad, id=f"{place}-{i}-{j}")
    for i, (places, message, bads) in enumerate(CASES)
    for place in places.split("|")
    for j, bad in enumerate(bads)
    if not (place == "radius" and bad is None)  # as if it were omitted: see "no radius"
]


@pytest.mark.parametrize(("place", "message", "bad"), REFUSED)
def test_bad_input_is_refused_before_a_bit_is_drawn(
    place: str, message: str, bad: Any, no_bits: None
) -> None:
    """By the right class, with the rule, what was got and what to do; nothing of a value."""
    kind = (
        bad.dtype.type.__name__ if isinstance(bad, np.ndarray) and bad.ndim else type(bad).__name__
    )
    words = message.replace("NAME", place.partition(" @ ")[0]).replace("TYPE", kind)
    words = words.replace("{}", described(bad)) if "{}" in words else words
    pattern = ".*".join(re.escape(part) for part in words.split("…"))
    with pytest.raises(InvalidParameter, match=f"^{pattern}") as caught:
        PLACES[place](bad)
    error = cast(Any, caught.value)
    while place.startswith("release") and error is not None:
        assert isinstance(error, LeastnoiseError)
        told = [*traceback.format_exception(error), repr(error), repr(error.args), str(vars(error))]
        assert not re.search("31337|4242", "".join(told))
        error = error.__cause__ or error.__context__


def described(bad: object) -> str:
    """Say what messages say was got: numbers and texts as they are, of the rest the type."""
    if isinstance(bad, Decimal | Fraction):
        return str(bad)
    plain = type(bad) in (str, int, float, complex, bool, type(None))
    return repr(bad)[:100] if plain else f"an object of type {type(bad).__name__}"


def test_an_epsilon_too_small_for_a_list_of_steps() -> None:
    with pytest.raises(Unsupported, match=r"The canonical noise would have more than 200 steps"):
        ln.calibrate(ln.Privacy("1e-9", "1e-15"), sensitivity=1, family="canonical")
    with pytest.raises(Unsupported, match=r"The cut staircase would have more than 200 steps"):
        ln.calibrate(ln.Privacy("1e-9", "1e-15"), sensitivity=1, family="cut_staircase")


# ------------------------------------------------------------------- extremes that work

DELTAS, SIZES = ["1e-300", "0.1", "0.9"], ["1e-300", "1", "1e300"]
COSTS: dict[str, Callable[[Fraction], Any]] = {
    "l1": lambda _: ln.l1,
    "l2": lambda _: ln.l2,
    "lp(1/2)": lambda _: ln.lp("1/2"),
    "threshold": lambda size: ln.threshold(3 * size),
    "points": lambda size: ln.piecewise_linear([(0, 0), (size, 1), (3 * size, 5)]),
}
CORNERS = [*product(DELTAS, SIZES, COSTS, [False]), *product(DELTAS, SIZES[1:], COSTS, [True])]


def calibrated(delta: str, size: str, cost: str = "l1", integer: bool = False) -> Any:
    options = {"sensitivity": size, "cost": COSTS[cost](Fraction(size)), "integer": integer}
    return ln.calibrate(ln.Privacy(delta=delta), **options)


def near(number: Fraction) -> Any:
    """Return about the nearest float, which is infinite beyond the largest one."""
    return pytest.approx(float(Decimal(number.numerator) / number.denominator), rel=1e-9, abs=0)


@pytest.mark.parametrize(("delta", "size", "cost", "integer"), CORNERS)
def test_an_extreme_answer_keeps_its_word(delta: str, size: str, cost: str, integer: bool) -> None:
    mechanism = calibrated(delta, size, cost, integer)
    mechanism.certificate.verify()
    least, drawn = mechanism.certificate.lower_bound, mechanism.discretized.cost
    assert least <= drawn <= least * Fraction(1001, 1000)
    reals: list[Any] = [1.5, -1e300, 5e-324, Fraction(1, 3), Decimal("2.5e-300")]
    for truth in (0, -7, 10**400, *([] if integer else reals)):
        answer = mechanism.release(truth, allow_exact=True)
        assert abs(answer.value - Fraction(truth)) <= answer.max_error
        low, high = answer.interval()
        assert low + high == 2 * answer.value
        assert low <= high <= answer.value + answer.max_error
        assert float(answer) == near(answer.value)
        assert format_guarantee(answer.privacy) in str(answer)
        assert answer.explain().startswith(str(answer))


@pytest.mark.parametrize(("delta", "size", "cost", "integer"), CORNERS)
def test_extreme_arrays_keep_their_word(delta: str, size: str, cost: str, integer: bool) -> None:
    mechanism = calibrated(delta, size, cost, integer)
    truths = np.array([0, -7, *[2**55] * 64], np.int64 if integer else np.float64)
    answers = mechanism.release(truths, allow_exact=True)
    low, high = answers.interval()
    assert str(answers).startswith("66 answers")
    assert (low <= high).all()
    for truth, value in zip(truths.tolist(), answers.values.tolist(), strict=True):
        assert abs(value) < INF
        assert abs(Fraction(value) - Fraction(truth)) <= answers.max_error


@pytest.mark.parametrize(("delta", "size"), [*product(DELTAS, SIZES)])
def test_extreme_moments_are_floats_wherever_floats_reach(delta: str, size: str) -> None:
    noise = calibrated(delta, size).noise
    assert noise.var() == near((1 - noise.atom) * noise.radius**2 / 3)
    assert noise.std() == near(noise.radius * Fraction(math.sqrt((1 - noise.atom) / 3)))


@pytest.mark.parametrize(("delta", "size"), [*product(DELTAS, SIZES)])
def test_an_extreme_law_can_be_asked_by_one_and_by_many(delta: str, size: str) -> None:
    mechanism = calibrated(delta, size)
    for distribution in (mechanism.noise, mechanism.discretized.noise):
        assert distribution.support()[1] == near(distribution.radius)
        for call, places in (
            (distribution.cdf, [-INF, -1e300, 0, 1e-300, INF]),
            (distribution.ppf, [0, 0.25, 1]),
        ):
            one = [call(float(place)) for place in places]
            assert call(np.array(places, float)) == pytest.approx(one, rel=1e-9, abs=0)
            assert one == sorted(one)


@pytest.mark.parametrize(("mechanism", "truth"), [(LINE, 12345678901234), (WHOLE, 98765432101234)])
def test_a_large_answer_is_printed_as_closely_as_its_error(mechanism: Any, truth: int) -> None:
    answer = mechanism.release(truth)
    assert (
        abs(Fraction(str(answer).split()[1].lstrip("≈")) - answer.value) <= answer.max_error / 1000
    )


@pytest.mark.parametrize("question", ["1e-4800 1", "0.1 1e-4800", "0.1 1e4800"])
def test_what_the_door_lets_in_can_be_printed(question: str) -> None:
    delta, size = question.split()
    mechanism = calibrated(delta, size)
    assert "Uniform(" in f"{mechanism!r} {mechanism.discretized.noise!r} {mechanism.release(1)}"


def test_the_promise_of_many_touches_is_told() -> None:
    guarantee = calibrated("1e-6", "1").release(ONE, contributions=1000).privacy.delta
    together = 1 - (1 - Fraction("1e-6")) ** 1000
    assert together <= guarantee <= together * (1 + Fraction(1, 10**9))
