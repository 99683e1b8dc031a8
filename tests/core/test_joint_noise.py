"""Joint noise: its guarantee over all shifts by brute force, its marginals, its exact sampler."""

import itertools
import math
import pickle
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import leastnoise as ln
from leastnoise.calibration import find_joint
from leastnoise.core.arrays import draw_joint
from leastnoise.core.exact import exponential, power_sums
from leastnoise.core.joint_release import JointReleaser, JointRows
from leastnoise.core.noise import (
    BoundedJointStaircase,
    DiscreteStaircase,
    JointMarginal,
    JointNoise,
    JointStaircase,
    Run,
)
from leastnoise.core.sampling import (
    CipherTape,
    GrowingBoxes,
    JointScheme,
    ticket_if_accepted,
    uniform_below,
)
from leastnoise.errors import InvalidParameter, NotPrivate, Unsupported
from tests.support.confidence_intervals import FALSE_ALARM, clopper_pearson
from tests.support.tapes import Replay

ONE = Fraction(1)
Point = tuple[int, ...]

# E|x| and E x² of one of k integers at ε = 1 (batch.md, table 1), computed there by summing shells.
SHELLS = {
    1: (0.850918, 1.841347),
    2: (1.428956, 3.902809),
    3: (1.959733, 6.589600),
    5: (2.974965, 13.91642),
    10: (5.487500, 43.91667),
    16: (8.492188, 101.9167),
    32: (16.49609, 373.9167),
    43: (21.99709, 659.9167),
    64: (32.49805, 1429.917),
}


def boxes_of(noise: JointNoise, point: Point) -> int:
    """Return the smallest box with a point, by trying them."""
    parts = list(zip(point, noise.shifts, noise.edges, strict=True))
    return next(m for m in itertools.count() if all(abs(x) <= m * d + e for x, d, e in parts))


def law(noise: BoundedJointStaircase) -> dict[Point, Fraction]:
    """Return the probability of every point, from the weights of boxes alone."""
    halves = [noise.last_box * d + e for d, e in zip(noise.shifts, noise.edges, strict=True)]
    points = itertools.product(*(range(-half, half + 1) for half in halves))
    weights = {point: noise.weights[boxes_of(noise, point)] for point in points}
    total = sum(weights.values())
    return {point: Fraction(weight, total) for point, weight in weights.items()}


def shifts_of(noise: JointNoise) -> Iterator[Point]:
    return itertools.product(*(range(-d, d + 1) for d in noise.shifts))


def delta_by_force(
    probabilities: dict[Point, Fraction], shift: Point, factor: Fraction
) -> Fraction:
    """Return Σ (p(x) − factor·p(x + shift))⁺ over all points."""
    total = Fraction(0)
    for point, own in probabilities.items():
        moved = tuple(x + d for x, d in zip(point, shift, strict=True))
        total += max(Fraction(0), own - factor * probabilities.get(moved, Fraction(0)))
    return total


def bounded(
    shifts: Point, edges: Point, last_box: int, ratio: str = "2/5"
) -> BoundedJointStaircase:
    return BoundedJointStaircase((ONE,) * len(shifts), shifts, edges, Fraction(ratio), last_box)


SMALL = [
    bounded((1,), (0,), 4),
    bounded((1, 1), (0, 0), 3),
    bounded((2, 1), (0, 1), 3),
    bounded((3, 2), (1, 0), 2),
    bounded((1, 1, 1), (0, 0, 0), 2),
    bounded((2, 1, 1), (1, 0, 2), 1),
    bounded((2, 2), (0, 0), 0),
]


@pytest.mark.parametrize("noise", SMALL, ids=repr)
def test_no_shift_needs_more_delta_than_the_proposition(noise: BoundedJointStaircase) -> None:
    """All shifts |dᵢ| ≤ Dᵢ, at the ε of the ratio and at others; the largest δ is attained."""
    probabilities = law(noise)
    assert sum(probabilities.values()) == 1
    for epsilon in (Fraction(1), Fraction(3, 2), Fraction(4)):
        stated = noise.delta(epsilon)
        factor = exponential(epsilon)
        assert stated is not None
        forced = [delta_by_force(probabilities, d, factor.lower) for d in shifts_of(noise)]
        assert max(forced) == stated
    assert noise.delta(Fraction(9, 10)) is None  # 1/b = 2.5 > e^0.9


def test_brute_force_catches_noise_that_is_not_private() -> None:
    """The control: independent noise of the same marginals, and a box that is too narrow."""
    noise = bounded((1, 1), (0, 0), 6)
    probabilities = law(noise)
    alone: Counter[int] = Counter()
    for (x, _), own in probabilities.items():
        alone[x] += own  # type: ignore[assignment]
    apart: dict[Point, Fraction] = {
        (x, y): Fraction(alone[x]) * Fraction(alone[y]) for x in alone for y in alone
    }
    stated = noise.delta(ONE)
    assert stated is not None
    factor = exponential(ONE).lower
    assert max(delta_by_force(apart, d, factor) for d in shifts_of(noise)) > 3 * stated
    assert delta_by_force(probabilities, (2, 2), factor) > 3 * stated


@pytest.mark.parametrize("noise", SMALL, ids=repr)
def test_marginals_and_boxes_agree_with_enumeration(noise: BoundedJointStaircase) -> None:
    probabilities = law(noise)
    for place in range(noise.dimension):
        marginal = noise.marginal(place)
        half = noise.half_width(place, noise.last_box)
        for index in range(-half - 1, half + 2):
            own = sum((p for x, p in probabilities.items() if x[place] == index), Fraction(0))
            assert Fraction(marginal.weight(index), marginal.total) == own
    for boxes in range(noise.last_box + 2):
        inside = (p for x, p in probabilities.items() if boxes_of(noise, x) < boxes)
        assert noise.box_probability(boxes) == sum(inside, Fraction(0))


@pytest.mark.parametrize(
    "noise",
    [
        JointStaircase((ONE,) * 2, (1, 1), (0, 0), Fraction(1, 2)),
        JointStaircase((ONE, Fraction(1, 4)), (2, 3), (1, 0), Fraction(1, 3)),
        JointStaircase((ONE,) * 3, (1, 1, 1), (0, 1, 0), Fraction(1, 8)),
    ],
    ids=repr,
)
def test_unbounded_noise_is_the_limit_of_enumerated_noise(noise: JointStaircase) -> None:
    """Enumerated up to a box beyond which next to no mass lies."""
    last = 13 if noise.dimension == 3 else 40
    halves = [noise.half_width(place, last) for place in range(noise.dimension)]
    points = itertools.product(*(range(-half, half + 1) for half in halves))
    weights = {x: float(noise.ratio) ** boxes_of(noise, x) for x in points}
    total = sum(weights.values())
    close = 1e-4 if noise.dimension == 3 else 1e-7
    for place in range(noise.dimension):
        marginal, step = noise.marginal(place), noise.steps[place]
        for index in range(6):
            own = sum(w for x, w in weights.items() if x[place] == index) / total
            assert marginal.pmf(index * step) == pytest.approx(own, rel=close)
            beyond = sum(w for x, w in weights.items() if x[place] > index) / total
            assert marginal.sf(index * step) == pytest.approx(beyond, rel=10 * close)
        for p in (1, 2, 3):
            own = sum(w * abs(x[place] * float(step)) ** p for x, w in weights.items()) / total
            assert float(marginal.moment(p)) == pytest.approx(own, rel=100 * close)
    for boxes in range(4):
        own = sum(w for x, w in weights.items() if boxes_of(noise, x) < boxes) / total
        assert float(noise.box_probability(boxes)) == pytest.approx(own, rel=close)


def marginal_of(noise: JointNoise) -> JointMarginal:
    """Return the noise of the first number, which is unbounded."""
    marginal = noise.marginal(0)
    assert isinstance(marginal, JointMarginal)
    return marginal


@pytest.mark.parametrize(("numbers", "moments"), SHELLS.items(), ids=str)
def test_integers_have_the_moments_of_the_reference(
    numbers: int, moments: tuple[float, float]
) -> None:
    deltas, integers = (ONE,) * numbers, (True,) * numbers
    marginal = marginal_of(find_joint(ln.Privacy(1), deltas, integers))
    assert [float(marginal.moment(p)) for p in (1, 2)] == pytest.approx(moments, rel=2e-6)


@pytest.mark.parametrize(("numbers", "error"), [(2, 1.490), (10, 5.50), (16, 8.50)])
def test_real_numbers_have_the_errors_of_the_reference(numbers: int, error: float) -> None:
    """E|x| of one of k real numbers at ε = 1 (batch.md), to its three digits."""
    noise = find_joint(ln.Privacy(1), (ONE,) * numbers, (False,) * numbers)
    assert float(marginal_of(noise).moment(1)) == pytest.approx(error, rel=5e-4)


def test_the_edges_cost_about_the_least() -> None:
    """No other γ of a fine scan costs 0.2% less, by the closed form of staircases in k numbers."""
    for epsilon, numbers in ((1, 2), (4, 2), (2, 5), (Fraction(1, 2), 3)):
        noise = find_joint(ln.Privacy(epsilon), (ONE,) * numbers, (False,) * numbers)
        assert isinstance(noise, JointStaircase)
        ratio = noise.ratio.limit_denominator(10**9)
        scan = []
        for i in range(1, 100):
            sums = power_sums(ratio, Fraction(i, 100), numbers + 1)
            scan.append(sums[-1] / sums[-2] / 2)
        assert noise.marginal(0).moment(1) <= min(scan) * Fraction(1002, 1000)


def test_bounded_noise_is_as_narrow_as_its_delta_allows() -> None:
    privacy = ln.Privacy(1, "1e-6")
    noise = find_joint(privacy, (ONE, Fraction(50)), (True, False), bounded=True)
    assert isinstance(noise, BoundedJointStaircase)
    reached = noise.delta(ONE)
    assert reached is not None
    assert reached <= privacy.delta
    shorter = BoundedJointStaircase(
        noise.steps, noise.shifts, noise.edges, noise.ratio, noise.last_box - 1
    ).delta(ONE)
    assert shorter is not None
    assert shorter > privacy.delta


# ------------------------------------------------------------------------------------ the sampler


def below(boxes: GrowingBoxes, upto: int) -> Fraction:
    """Return P(m < upto) from the expanded polynomial N and exact sums of powers."""
    coefficients = [1]
    for shift, edge in zip(boxes.shifts, boxes.edges, strict=True):
        own = (2 * edge + 1, 2 * shift)
        longer = [0] * (len(coefficients) + 1)
        for i, c in enumerate(coefficients):
            longer[i] += c * own[0]
            longer[i + 1] += c * own[1]
        coefficients = longer
    sums = power_sums(boxes.ratio, Fraction(0), len(coefficients) - 1)
    total = sum((c * s for c, s in zip(coefficients, sums, strict=True)), Fraction(0))
    powers = [Fraction(1)]
    for _ in range(upto):
        powers.append(powers[-1] * boxes.ratio)
    first = (powers[m] * boxes.count_points(m) for m in range(upto))
    return sum(first, Fraction(0)) / total


BOXES = [
    GrowingBoxes(Fraction(1, 2), (1,), (0,)),
    GrowingBoxes(Fraction(3, 4), (2, 1), (0, 3)),
    GrowingBoxes(Fraction(9, 10), (1, 1, 5), (0, 0, 2)),
]


@pytest.mark.parametrize("boxes", BOXES, ids=lambda boxes: str(boxes.ratio))
def test_every_word_is_decided_exactly_when_its_box_is_certain(boxes: GrowingBoxes) -> None:
    """For all words of 8 bits: decided to m exactly if all its U lie in [P(< m), P(≤ m))."""
    ends = [below(boxes, m) for m in range(400)]
    for word in range(256):
        low, high = Fraction(word, 256), Fraction(word + 1, 256)
        inside = [m for m in range(399) if ends[m] <= low and high <= ends[m + 1]]
        assert boxes.index_if_certain(word, 8) == (inside[0] if inside else None)


@pytest.mark.parametrize("boxes", BOXES, ids=lambda boxes: str(boxes.ratio))
def test_the_table_agrees_with_exact_numbers_at_its_edges(boxes: GrowingBoxes) -> None:
    table = boxes.table
    for place, threshold in enumerate(table.thresholds):
        assert 0 <= math.floor(below(boxes, place) * 2**64) - threshold <= 1
        for word in range(max(0, threshold - 2), min(2**64, threshold + 4)):
            more = Replay([7, 1 << 63, 3])
            exact = boxes.exact_digit(word, Replay([7, 1 << 63, 3]))
            assert table.draw(word, more) == exact


def test_long_words_of_many_numbers_are_decided() -> None:
    """Enclosures of tails stay narrow however many bits were read; else a sample might not end."""
    boxes = GrowingBoxes(Fraction(3679, 10_000), (1,) * 160, (0,) * 160)
    for bits in (64, 256, 512):
        far = (1 << bits) - 2
        found = boxes.index_if_certain(far, bits)
        assert found is None or found > 160
        tail = next(n for n in range(160, 2000, 10) if boxes._enclose_tail(n, bits)[0] < 1 << 12)
        low, high = boxes._enclose_tail(tail, bits)
        assert 0 < high - low <= 2


@given(
    st.integers(0, 40),
    st.lists(st.tuples(st.integers(1, 10**6), st.integers(0, 10**6)), min_size=1, max_size=4),
    st.data(),
)
def test_a_point_has_the_index_of_its_words(
    box: int, sides: list[tuple[int, int]], data: st.DataObject
) -> None:
    """Also where a word is rejected, or nearly: then the next word decides."""

    class Fixed:
        def draw(self, tape: Any) -> int:
            return box

    words, expected, later = [], [], []
    for shift, edge in sides:
        half = box * shift + edge
        side = 2 * half + 1
        edges = [math.ceil(Fraction(j << 64, side)) for j in (0, 1, half, side - 1)]
        near = data.draw(st.sampled_from(edges)) + data.draw(st.integers(-1, 1))
        word = data.draw(st.sampled_from([near % 2**64, data.draw(st.integers(0, 2**64 - 1))]))
        words.append(word)
        ticket = ticket_if_accepted(word, 64, side)
        if ticket is None:
            later.append(1 << 63)
            ticket = uniform_below(side, Replay([1 << 63]))
        expected.append(ticket - half)
    scheme = JointScheme(Fixed(), *zip(*sides, strict=True))
    assert scheme.draw(Replay([*words, *later])) == tuple(expected)


def test_arrays_have_the_indices_of_their_words() -> None:
    """Words at the edges between indices, where floats are in doubt, and some that are rejected."""
    scheme = JointStaircase((ONE,) * 2, (3, 1 << 20), (1, 1 << 19), Fraction(1, 2)).scheme
    boxes: Any = scheme.boxes
    numbers = [*range(0, 2**64 - 2**58, 2**64 // 37), 0, 1]
    found = [boxes.exact_digit(word, Replay([5, 5])) for word in numbers]
    columns, expected, later = [], [], []
    for number, (shift, edge) in enumerate(scheme.sides):
        words = []
        for at, box in enumerate(found):
            side = 2 * (box * shift + edge) + 1
            edge_word = math.ceil(Fraction((at * 7919 % side) << 64, side)) + at % 3 - 1
            words.append(edge_word % 2**64)
        columns.append(words)
        own = []
        for word, box in zip(words, found, strict=True):
            half = box * shift + edge
            ticket = ticket_if_accepted(word, 64, 2 * half + 1)
            if ticket is None:
                later.append(number)
                ticket = uniform_below(2 * half + 1, Replay([1 << 62]))
            own.append(ticket - half)
        expected.append(own)
    tape = Replay([*numbers, *columns[0], *[1 << 62] * later.count(0), *columns[1], *[1 << 62] * 9])
    assert [column.tolist() for column in draw_joint(scheme, len(numbers), tape)] == expected


@pytest.mark.parametrize("trials", [40_000, pytest.param(400_000, marks=pytest.mark.long)])
def test_samples_follow_the_joint_law(trials: int) -> None:
    """Each point of three boxes in its Clopper–Pearson interval, one by one and in bulk.

    False alarms at most 1e-9. The controls are independent noise with the same marginals, and boxes
    drawn without their number of points.
    """
    noise = JointStaircase((ONE,) * 2, (2, 1), (0, 1), Fraction(2, 5))
    unit = noise.marginal(0)
    near = [x for x in itertools.product(range(-4, 5), range(-3, 4)) if boxes_of(noise, x) < 3]
    whole = Fraction(unit.total)

    def probability(point: Point) -> Fraction:
        # All points of a column x₁ = 0 have the weights of the marginal there.
        box = boxes_of(noise, point)
        return noise.ratio**box * _constant(noise) / whole

    assert float(sum(probability(x) for x in near)) == pytest.approx(
        float(noise.box_probability(3)), rel=1e-12
    )

    def misfits(found: Counter[Point]) -> int:
        rate = FALSE_ALARM / (3 * len(near))
        bounds = {x: clopper_pearson(found[x], trials, rate) for x in near}
        return sum(not low <= probability(x) <= high for x, (low, high) in bounds.items())

    tape = CipherTape()
    assert misfits(Counter(noise.scheme.draw(tape) for _ in range(trials))) == 0
    columns = [column.tolist() for column in draw_joint(noise.scheme, trials, tape)]
    assert misfits(Counter(zip(*columns, strict=True))) == 0
    apart = [[noise.scheme.draw(tape)[i] for _ in range(trials)] for i in range(2)]
    assert misfits(Counter(zip(*apart, strict=True))) > 0
    line = DiscreteStaircase(ONE, noise.ratio, (Run(0, 1, 1),)).scheme
    unweighted = JointScheme(_Sizes(line), noise.shifts, noise.edges)
    assert misfits(Counter(unweighted.draw(tape) for _ in range(trials))) > 0


class _Sizes:
    """Boxes by geometric numbers, which forgets how many points each has."""

    def __init__(self, line: Any) -> None:
        self._line = line

    def draw(self, tape: Any) -> int:
        size: int = abs(self._line.draw(tape))
        return size


def _constant(noise: JointStaircase) -> int:
    """Return the factor of the weights of :class:`JointMarginal`: that of Σ bⁿ·1 at b⁰, 1/(1−b)."""
    marginal = noise.marginal(0)
    # P(0) of joint noise is 1/Σ(1−b)bᵐN(m), and box 0 has N(0) points of that probability.
    first = noise.box_probability(1) / noise.count_points(0)
    constant = first * marginal.total
    assert abs(constant - round(constant)) < Fraction(1, 10**9)  # box probabilities are rounded
    return round(constant)


# --------------------------------------------------------------------------- releases and bad input


def test_a_releaser_needs_private_noise() -> None:
    noise = JointStaircase((ONE,) * 2, (1, 1), (0, 0), Fraction(1, 2))
    JointReleaser(noise, ln.Privacy(1), (ONE, ONE), (True, True))
    with pytest.raises(NotPrivate, match=r"does not satisfy ε = 0.5.*a larger ε"):
        JointReleaser(noise, ln.Privacy("0.5"), (ONE, ONE), (True, True))
    with pytest.raises(NotPrivate, match="does not protect numbers that one person changes"):
        JointReleaser(noise, ln.Privacy(1), (ONE, Fraction(2)), (True, True))
    with pytest.raises(NotPrivate, match="does not protect"):  # real numbers need a margin
        JointReleaser(noise, ln.Privacy(1), (ONE, ONE), (True, False))
    with pytest.raises(InvalidParameter, match="a sensitivity for each number"):
        JointReleaser(noise, ln.Privacy(1), (ONE,), (True,))
    with pytest.raises(InvalidParameter, match="integers with step 1"):
        JointReleaser(noise, ln.Privacy(1), (ONE, Fraction(1, 2)), (True, True))
    narrow = bounded((1, 1), (0, 0), 3)
    with pytest.raises(NotPrivate, match="it needs δ = "):
        JointReleaser(narrow, ln.Privacy(1, "1e-6"), (ONE, ONE), (True, True))


def test_columns_get_a_row_of_joint_noise_each() -> None:
    noise = JointStaircase((ONE,) * 2, (1, 1), (0, 0), Fraction(1, 2))
    releaser = JointReleaser(noise, ln.Privacy(1), (ONE, ONE), (True, True))
    for rows in (0, 1, 7, 1000):
        adder = JointRows(releaser)
        first = adder.add_noise_to_steps(0, [5] * rows, ONE)
        second = adder.add_noise_to_steps(1, list(range(rows)), ONE)
        assert (len(first), len(second)) == (rows, rows)
        assert all(abs(x - 5) < 200 for x in first)
    # One sample per row: both numbers of a row are in the same box as often as the law says.
    far = [max(abs(x), abs(y)) >= 3 for x, y in zip(*releaser.sample(20_000), strict=True)]
    low, high = clopper_pearson(sum(far), 20_000, FALSE_ALARM)
    assert low <= 1 - noise.box_probability(3) <= high
    with pytest.raises(TypeError, match="used once, with the same rows"):
        adder.add_noise_to_steps(1, [0] * 1000, ONE)
    adder = JointRows(releaser)
    adder.add_noise_to_steps(0, [1, 2], ONE)
    with pytest.raises(TypeError, match="used once, with the same rows"):
        adder.add_noise_to_steps(1, [1], ONE)
    with pytest.raises(InvalidParameter, match=r"multiples of 0\.5"):
        adder.add_noise_to_steps(1, [1, 2], Fraction(1, 2))


def test_noise_can_be_pickled_with_its_releaser() -> None:
    noise = JointStaircase((ONE,) * 2, (1, 1), (0, 0), Fraction(1, 2))
    noise.scheme.draw(CipherTape())
    releaser = JointReleaser(noise, ln.Privacy(1), (ONE, ONE), (True, True))
    copy = pickle.loads(pickle.dumps(releaser))
    assert copy == releaser
    assert len(copy.prepare((1, 2))()) == 2


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (((ONE,), (1, 1), (0, 0), Fraction(1, 2)), "a positive step and shift"),
        (((), (), (), Fraction(1, 2)), "a positive step and shift"),
        (((Fraction(0),), (1,), (0,), Fraction(1, 2)), "a positive step and shift"),
        (((ONE,), (0,), (0,), Fraction(1, 2)), "a positive step and shift"),
        (((ONE,), (1,), (-1,), Fraction(1, 2)), "a positive step and shift"),
        (((ONE,), (1,), (0,), ONE), "must be between 0 and 1"),
    ],
)
def test_malformed_joint_noise_is_rejected(fields: Any, message: str) -> None:
    with pytest.raises(InvalidParameter, match=message):
        JointStaircase(*fields)


def test_noise_that_would_take_too_long_is_rejected() -> None:
    with pytest.raises(Unsupported, match="at most 256 numbers"):
        JointStaircase((ONE,) * 300, (1,) * 300, (0,) * 300, Fraction(1, 2))
    with pytest.raises(Unsupported, match="digits of the ratio"):
        JointStaircase((ONE,) * 200, (1,) * 200, (0,) * 200, Fraction(3**500, 3**500 + 1))
    with pytest.raises(Unsupported, match="at most 4096 boxes"):
        find_joint(ln.Privacy("1e-4", "1e-9"), (ONE, ONE), (True, True), bounded=True)
    with pytest.raises(Unsupported, match="must be at least 2⁻³⁰"):
        find_joint(ln.Privacy("1e-12"), (ONE, ONE), (True, True))
    with pytest.raises(InvalidParameter, match="epsilon must be positive"):
        find_joint(ln.Privacy(0, "1e-6"), (ONE, ONE), (True, True))
    with pytest.raises(InvalidParameter, match="requires δ > 0"):
        find_joint(ln.Privacy(1), (ONE, ONE), (True, True), bounded=True)
