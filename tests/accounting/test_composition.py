"""Several releases together: proved bounds, against enumeration, closed forms and dp-accounting."""

import math
from collections.abc import Callable, Iterable
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution
from hypothesis import given, settings
from hypothesis import strategies as st

import leastnoise as ln
from leastnoise.accounting.composition import Composition
from leastnoise.core.exact import Interval
from leastnoise.errors import InvalidParameter
from leastnoise.mechanism import calibrate_pair
from leastnoise.noise import DiscreteSteps, DiscreteUniform, LatticeNoise, Rounded, Run

ONE = Fraction(1)
Distribution = dict[int, Fraction]

# Small distributions on the integers. The first three never rise away from 0.
PEAK = DiscreteSteps(ONE, (Run(-2, 1, 1), Run(-1, 1, 3), Run(0, 1, 7), Run(1, 1, 3), Run(2, 1, 1)))
FLAT = DiscreteUniform(reach=2, level=3, rim=1)
ATOM = DiscreteUniform(reach=1, level=2, rim=1, atom=5)
COMB = DiscreteSteps(ONE, (Run(-2, 1, 5), Run(-1, 1, 2), Run(0, 1, 6), Run(1, 1, 2), Run(2, 1, 5)))
SKEW = DiscreteSteps(ONE, (Run(0, 1, 5), Run(1, 1, 3), Run(2, 1, 1), Run(3, 1, 2)))


def grown(epsilon: Fraction) -> Fraction:
    """Return e^ε to fifty digits."""
    context = Context(prec=50)
    return Fraction(context.exp(context.divide(epsilon.numerator, Decimal(epsilon.denominator))))


def law_of(noise: LatticeNoise) -> Distribution:
    reach = int(noise.farthest)
    weights = {i: Fraction(noise.weight(i)) for i in range(-reach, reach + 1)}
    total = sum(weights.values())
    return {i: weight / total for i, weight in weights.items() if weight}


def hockey_stick(pairs: Iterable[tuple[Distribution, Distribution]], factor: Fraction) -> Fraction:
    """List every output of the releases together: the sum of (P − e^ε·Q)₊ over all of them."""
    listed = list(pairs)
    places = [sorted({*p, *q}) for p, q in listed]
    total = Fraction(0)
    for output in product(*places):
        one = other = Fraction(1)
        for (p, q), x in zip(listed, output, strict=True):
            one, other = one * p.get(x, Fraction(0)), other * q.get(x, Fraction(0))
        total += max(one - factor * other, Fraction(0))
    return total


def enumerated(distributions: Iterable[tuple[LatticeNoise, int]], factor: Fraction) -> Fraction:
    """Return the largest hockey stick over all moves of all releases, each on its own."""
    choices = []
    for noise, most in distributions:
        distribution = law_of(noise)
        moves = [d for d in range(-most, most + 1) if d]
        choices.append(
            [(distribution, {i + d: mass for i, mass in distribution.items()}) for d in moves]
        )
    return max(hockey_stick(pairs, factor) for pairs in product(*choices))


SMALL: dict[str, list[tuple[LatticeNoise, int]]] = {
    "two peaks": [(PEAK, 1), (PEAK, 1)],
    "three flats": [(FLAT, 1), (FLAT, 1), (FLAT, 2)],
    "peak, flat, atom": [(PEAK, 1), (FLAT, 1), (ATOM, 1)],
    "three atoms": [(ATOM, 1), (ATOM, 1), (ATOM, 1)],
    "two combs": [(COMB, 2), (COMB, 2)],
    "comb and peak": [(COMB, 1), (PEAK, 2)],
    "skew and peak": [(SKEW, 1), (PEAK, 1)],
    "two skews": [(SKEW, 2), (SKEW, 1)],
}


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 3), Fraction(2)])
def test_every_output_enumerated_lies_within_the_enclosure(name: str, epsilon: Fraction) -> None:
    distributions = SMALL[name]
    together = ln.compose([ln.Profile(noise, sensitivity=move) for noise, move in distributions])
    found = together.enclose(epsilon)
    truth = enumerated(distributions, grown(epsilon))
    assert found.lower <= truth * (1 + Fraction(1, 10**40))
    assert found.upper >= truth * (1 - Fraction(1, 10**40))
    if all(
        noise not in (COMB, SKEW) for noise, _ in distributions
    ):  # else one move is not always the worst
        assert found.upper - found.lower <= truth / 200


@pytest.mark.parametrize("count", [2, 3, 10])
def test_multiples_of_one_loss_compose_exactly(count: int) -> None:
    """Geometric noise: the grid hits all its losses, so nothing is lost but the last digits."""
    mechanism = ln.calibrate(ln.Privacy("0.5"), sensitivity=1, integer=True)
    found = ln.compose([(mechanism, count)]).enclose("0.7")
    assert found.is_narrow(100)


def randomised(epsilon: Fraction, delta: Fraction, count: int, level: Fraction) -> Fraction:
    """Return Kairouz, Oh and Viswanath's formula (2015, Theorem 3.3), from the outputs themselves.

    Of count answers j tell the truth; the likelihood ratio is e^((2j − count)·ε).
    """
    with localcontext() as context:
        context.prec = 150

        def decimal(number: Fraction) -> Decimal:
            return Decimal(number.numerator) / Decimal(number.denominator)

        each = decimal(epsilon)
        lie = 1 / (1 + each.exp())
        told = Decimal(0)
        for j in range(count + 1):
            hints = (2 * j - count) * each - decimal(level)
            if hints > 0:
                chance = math.comb(count, j) * (j * each).exp() * lie**count
                told += chance * (1 - (-hints).exp())
        return 1 - (1 - delta) ** count * (1 - Fraction(told))


@pytest.mark.parametrize(
    ("delta", "count", "level"),
    [("0", 30, "1"), ("0.01", 12, "0.4"), ("1e-9", 100, "6"), ("0", 400, "21"), ("0", 100, "9.9")],
)
def test_promises_compose_as_kairouz_oh_and_viswanath_say(
    delta: str, count: int, level: str
) -> None:
    guarantee = ln.Privacy("0.1", delta)
    found = ln.compose([(guarantee, count)]).enclose(level)
    truth = randomised(guarantee.epsilon, guarantee.delta, count, Fraction(level))
    slack = Fraction(1, 10**140)  # the formula's own rounding
    assert found.lower - slack <= truth <= found.upper + slack
    assert found.upper - found.lower <= truth / 10**6


def test_delta_far_below_any_float_noise() -> None:
    """At δ of about 1e-25 the bound is as tight as anywhere else."""
    guarantee = ln.Privacy("0.1")
    together = ln.compose([(guarantee, 400)])
    epsilon = together.epsilon("1e-25")
    truth = randomised(guarantee.epsilon, Fraction(0), 400, epsilon)
    assert truth <= Fraction(1, 10**25)
    assert randomised(guarantee.epsilon, Fraction(0), 400, epsilon - Fraction(1, 10**6)) > Fraction(
        1, 10**25
    )


def test_a_gaussian_beside_a_small_promise_is_squeezed_at_1e_25() -> None:
    """δ(ε) ≤ δ(ε of both) ≤ δ(ε − ε₀): one release of (ε₀, 0) moves every loss by ε₀ at most."""
    small = Fraction(1, 10_000)
    profile = ln.Profile(ln.noise.Gaussian(10), sensitivity=1)
    together = ln.compose([(profile, 16), ln.Privacy(small), ln.Privacy(small)])
    one = ln.Profile(ln.noise.Gaussian(10), sensitivity=4)
    for epsilon in (Fraction(0), Fraction(1), Fraction(3), Fraction("4.3")):
        found = together.enclose(epsilon)
        assert found.upper >= one.enclose(epsilon).lower
        level = max(Fraction(0), epsilon - 2 * small)
        assert found.lower <= one.delta(level) + (2 * small if not epsilon else 0)
        assert found.upper <= (one.delta(level) + (2 * small if not epsilon else 0)) * Fraction(
            101, 100
        )
    assert together.delta("4.3") < Fraction(1, 10**24)


@pytest.mark.parametrize("count", [1, 4, 9])
def test_gaussians_compose_to_one_gaussian(count: int) -> None:
    """k releases moved by Δ are one moved by √k·Δ, whatever their scales."""
    root = math.isqrt(count)
    parts = [ln.Profile(ln.noise.Gaussian(3 * i), sensitivity=i) for i in range(1, count + 1)]
    for epsilon in (0, 1, 5):
        found = ln.compose(parts).enclose(epsilon)
        one = ln.Profile(ln.noise.Gaussian(3), sensitivity=root).enclose(epsilon)
        assert max(found.lower, one.lower) <= min(found.upper, one.upper)
        assert found.is_narrow(60)


def dp_laplace(scale: float, *, up: bool) -> object:
    return privacy_loss_distribution.from_laplace_mechanism(
        scale, value_discretization_interval=1e-3, pessimistic_estimate=up
    )


def dp_gaussian(sigma: float, *, up: bool) -> object:
    return privacy_loss_distribution.from_gaussian_mechanism(
        sigma, value_discretization_interval=1e-3, pessimistic_estimate=up
    )


def dp_geometric(epsilon: float, *, up: bool) -> object:
    return privacy_loss_distribution.from_discrete_laplace_mechanism(
        epsilon, value_discretization_interval=1e-3, pessimistic_estimate=up
    )


def dp_promise(epsilon: float, delta: float, *, up: bool) -> object:
    """The worst mechanism that satisfies a guarantee: two outputs that hint, and one that tells."""
    lie = math.log((1 - delta) / (1 + math.exp(epsilon)))
    tells = math.log(delta)
    return privacy_loss_distribution.from_two_probability_mass_functions(
        {0: lie + epsilon, 1: lie, 2: tells},
        {0: lie, 1: lie + epsilon, 3: tells},
        value_discretization_interval=1e-3,
        pessimistic_estimate=up,
    )


def dp_law(distribution: Distribution, *, up: bool) -> object:
    """A distribution on the integers against itself moved by one."""
    near = {i: math.log(mass) for i, mass in distribution.items()}
    moved = {i + 1: log for i, log in near.items()}
    return privacy_loss_distribution.from_two_probability_mass_functions(
        near, moved, value_discretization_interval=1e-3, pessimistic_estimate=up
    )


GEOMETRIC = ln.calibrate(ln.Privacy("0.3"), sensitivity=1, integer=True)
DP: dict[str, tuple[list[tuple[object, int]], list[tuple[Callable[..., object], int]]]] = {
    "Laplace": (
        [(ln.Profile(ln.noise.Laplace(4), sensitivity=1), 20)],
        [(lambda up: dp_laplace(4.0, up=up), 20)],
    ),
    "geometric": ([(GEOMETRIC, 15)], [(lambda up: dp_geometric(0.3, up=up), 15)]),
    "a law with ends": (
        [(ln.Profile(PEAK, sensitivity=1), 5)],
        [(lambda up: dp_law(law_of(PEAK), up=up), 5)],
    ),
    "mixed": (
        [
            (ln.Profile(ln.noise.Laplace(4), sensitivity=1), 6),
            (ln.Profile(ln.noise.Gaussian(5), sensitivity=1), 3),
            (GEOMETRIC, 2),
            (ln.Privacy("0.2", "1e-5"), 4),
            (ln.Profile(FLAT, sensitivity=1), 1),
        ],
        [
            (lambda up: dp_laplace(4.0, up=up), 6),
            (lambda up: dp_gaussian(5.0, up=up), 3),
            (lambda up: dp_geometric(0.3, up=up), 2),
            (lambda up: dp_promise(0.2, 1e-5, up=up), 4),
            (lambda up: dp_law(law_of(FLAT), up=up), 1),
        ],
    ),
}


@pytest.mark.parametrize("name", DP)
def test_dp_accounting_agrees_within_its_own_error(name: str) -> None:
    ours, theirs = DP[name]
    together = ln.compose(ours)

    def composed(up: bool) -> privacy_loss_distribution.PrivacyLossDistribution:
        parts = [make(up=up).self_compose(count) for make, count in theirs]  # type: ignore[attr-defined]
        total = parts[0]
        for part in parts[1:]:
            total = total.compose(part)
        return total

    most, least = composed(True), composed(False)
    for epsilon in (0.0, 0.5, 1.0, 2.0):
        found = together.enclose(Fraction(epsilon))
        high, low = most.get_delta_for_epsilon(epsilon), least.get_delta_for_epsilon(epsilon)
        # Its floats carry some 1e-12, and it spares 1e-15 of the tails.
        assert found.upper >= low * (1 - 1e-9) - 1e-12
        assert found.lower <= high * (1 + 1e-9) + 1e-12
        assert found.upper <= high * 1.001 + 1e-9, "no looser than theirs"


@pytest.mark.parametrize("epsilon", [0, 1, 30])
def test_uniform_releases_are_told_by_one_product(epsilon: int) -> None:
    together = ln.compose([(ln.Profile(ln.noise.Uniform(5), sensitivity=1), 7)])
    truth = 1 - Fraction(9, 10) ** 7
    assert together.enclose(epsilon) == Interval.exact(truth)
    mechanism = ln.calibrate(ln.Privacy(delta="0.1"), sensitivity=1)
    drawn = ln.compose([(mechanism, 7)]).enclose(epsilon)
    assert truth * (1 - Fraction(1, 10**5)) <= drawn.lower <= drawn.upper <= truth


def test_ten_thousand_different_promises() -> None:
    numbers = [10**9 + 7 * i for i in range(10_000)]
    kept = math.prod(10**15 - n for n in numbers)
    truth = 1 - Fraction(kept, 10 ** (15 * len(numbers)))
    together = ln.compose([ln.Privacy(delta=Fraction(n, 10**15)) for n in numbers])
    for bound in (together.delta(0), together.simple.delta, together.delta(5)):
        assert truth <= bound <= truth * (1 + Fraction(1, 10**30))
    assert together.basic == ln.Privacy(0, Fraction(sum(numbers), 10**15))


MECHANISMS = [
    ln.calibrate(ln.Privacy(1, "1e-6"), sensitivity=1, family="gaussian"),
    ln.calibrate(ln.Privacy("0.5"), sensitivity=2, family="laplace"),
    ln.calibrate(ln.Privacy("0.25", "1e-7"), sensitivity=1, family="truncated_laplace"),
    ln.calibrate(ln.Privacy("0.3"), sensitivity=1, family="staircase"),
    ln.calibrate(ln.Privacy("0.4", "1e-4"), sensitivity=1, integer=True),
    ln.calibrate(ln.Privacy(delta="0.001"), sensitivity=1),
    ln.calibrate(ln.Privacy("0.5", "0.01"), sensitivity=1, gap="0.05"),
]


@pytest.mark.parametrize(
    "mechanism", MECHANISMS, ids=lambda each: type(each.discretized.noise).__name__
)
def test_every_family_keeps_within_what_is_known_of_it(mechanism: ln.Mechanism) -> None:
    """One alone is its profile; several never pass the sums, and more never tell less."""
    profile = ln.Profile(mechanism.discretized.noise, sensitivity=mechanism.effective_sensitivity)
    one = ln.compose([mechanism])
    for epsilon in (Fraction(0), Fraction(1, 10), Fraction(1)):
        alone = profile.enclose(epsilon)
        found = one.enclose(epsilon)
        assert found.lower <= alone.upper
        assert alone.lower <= found.upper
        two = ln.compose([(mechanism, 2)]).enclose(epsilon)
        three = ln.compose([(mechanism, 3)]).enclose(epsilon)
        assert alone.lower <= two.upper
        assert two.lower <= three.upper
        assert three.upper - three.lower <= three.upper / 1000 + Fraction(1, 10**30)
    many = ln.compose([(mechanism, 5)])
    assert many.simple.delta <= many.basic.delta
    assert many.delta(many.simple.epsilon) <= many.simple.delta


def test_the_order_of_the_parts_does_not_matter() -> None:
    forward = ln.compose([(each, i + 1) for i, each in enumerate(MECHANISMS)])
    backward = ln.compose([(each, i + 1) for i, each in reversed([*enumerate(MECHANISMS)])])
    for epsilon in (0, 1, 4):
        assert forward.delta(epsilon) == backward.delta(epsilon)


def test_epsilon_is_found_from_delta_and_suffices() -> None:
    together = ln.compose([(each, 3) for each in MECHANISMS])
    for delta in ("0.2", "0.07"):
        epsilon = together.epsilon(delta)
        assert together.delta(epsilon) <= Fraction(delta) < together.delta(epsilon * 999 / 1000)
    assert together.epsilon("0.9999") == 0
    pure = ln.compose([(MECHANISMS[1], 4)])
    assert pure.epsilon(0) == 2, "the sum always suffices"


def test_the_advantage_is_delta_at_zero_and_never_above_the_sum() -> None:
    together = ln.compose([ln.Privacy(epsilon=1), ln.Privacy(delta="0.1")])
    odds = grown(ONE)
    truth = 1 - Fraction(9, 10) * (1 - (odds - 1) / (odds + 1))
    assert abs(together.advantage - truth) < Fraction(1, 10**40)


def test_answers_mechanisms_and_compositions_are_read_as_what_they_are() -> None:
    laplace = MECHANISMS[1]
    answer = laplace.release(3)
    array = laplace.release(np.arange(3.0))
    twice = laplace.release(np.arange(3.0), contributions=2)
    assert ln.compose([answer]).parts == ln.compose([laplace]).parts == ((laplace, 1),)
    assert ln.compose([array]).parts == ((laplace, 1),)
    assert ln.compose([twice]).parts == ((ln.Privacy(1), 1),)
    pair = calibrate_pair(ln.Privacy(2), sensitivity=1)
    assert ln.compose([pair, pair.release((1, 2))]).parts == ((ln.Privacy(2), 1),) * 2
    nested = ln.compose([(ln.compose([(laplace, 2), ln.Privacy(1)]), 3), answer])
    assert nested.parts == ((laplace, 6), (ln.Privacy(1), 3), (laplace, 1))
    assert nested.releases == 10
    assert nested.basic == ln.Privacy("6.5")


def test_nothing_composed_tells_nothing() -> None:
    nothing = ln.compose([])
    assert nothing.enclose(0) == Interval.exact(0)
    assert nothing.basic == ln.Privacy(0, 0)
    assert str(nothing) == "0 releases together: ε = 0, δ = 0"


def test_it_prints_one_honest_line() -> None:
    together = ln.compose([(ln.Privacy("0.1"), 100)])
    line = str(together)
    printed = Fraction(line.split("ε = ")[1].split(",", maxsplit=1)[0])
    assert line.startswith("100 releases together: ε = ")
    assert "\n" not in line
    assert together.epsilon("1e-6") <= printed
    assert "fixed beforehand" in " ".join(together.explain().split())
    assert repr(together) == "Composition(100 releases, 1 kinds)"
    certain = ln.compose([(ln.Privacy(delta="0.5"), 3)])
    assert str(certain) == ("3 releases together: ε = 0, δ = 0.875 (the same as added up)")


def test_it_is_compared_with_the_sum_at_the_same_delta() -> None:
    gaussian = ln.calibrate(ln.Privacy(1, "1e-6"), sensitivity=1, family="gaussian")
    together = ln.compose([(gaussian, 10)])
    before, _, after = str(together).partition(" (added up: ")
    shown = Fraction(before.split("δ = ")[1])
    assert shown == Fraction(after.split("δ = ")[1].rstrip(")"))
    assert shown >= 1 - (1 - Fraction(1, 10**6)) ** 10
    assert together.epsilon(shown) <= Fraction(before.split("ε = ")[1].split(",")[0]) < 10
    # Where nothing is promised, as of a profile, there is no such δ, and 1e-6 is shown.
    profile = ln.Profile(ln.noise.Gaussian(5), sensitivity=1)
    assert ", δ = 1e-6 (added up" in str(ln.compose([(profile, 10)]))
    assert str(ln.compose([gaussian])).endswith("ε = 1, δ = 1e-6 (the same as added up)")


@pytest.mark.parametrize(
    ("parts", "match"),
    [
        (3, r"parts must be a list of releases, got 3\. Use"),
        ("mechanism", r"parts must be a list of releases, got 'mechanism'\. Use"),
        ([3], r"A part must be a mechanism.* got 3\. Use"),
        # Only what the library releases counts, not whatever has the attribute.
        (
            [SimpleNamespace(composed_as=ln.Privacy(1), privacy=ln.Privacy(1))],
            r"A part must be .*, got an object of type SimpleNamespace\. Use",
        ),
        ([ln.noise.Gaussian(1)], r"got an object of type Gaussian\. Use"),
        ([(ln.Privacy(1), 0)], r"must be an integer of at least 1, got 0\. Use"),
        ([(ln.Privacy(1), "x")], r"the count of a part must be a finite number"),
        ([(ln.compose([]), "0.5")], r"must be an integer of at least 1, got '0\.5'\. Use"),
    ],
)
def test_what_cannot_be_composed_is_refused(parts: list[object], match: str) -> None:
    with pytest.raises(InvalidParameter, match=match):
        ln.compose(parts)


def test_questions_without_an_answer_are_refused() -> None:
    certain = ln.compose([(ln.Privacy(1, "0.5"), 2)])
    with pytest.raises(InvalidParameter, match=r"epsilon must be 0 or more, got -1\. Use"):
        certain.delta(-1)
    with pytest.raises(
        InvalidParameter, match=r"delta must be at least 0 and less than 1, got 1\. Use"
    ):
        certain.epsilon(1)
    with pytest.raises(
        InvalidParameter, match=r"No ε is proved to suffice .* at least δ = 0\.75 at"
    ):
        certain.epsilon("0.7")
    with pytest.raises(InvalidParameter, match=r"no total guarantee, because their δ add"):
        certain.basic  # noqa: B018
    assert certain.simple == ln.Privacy(2, "0.75")


@given(st.integers(1, 64), st.integers(1, 40), st.integers(0, 40))
@settings(deadline=None, max_examples=30)
def test_rounded_noise_lies_between_two_moves_on_the_line(
    steps: int, scale: int, tenths: int
) -> None:
    """What a composition takes for it: H(f; d − step) ≤ H of the rounded ≤ H(f; d)."""
    epsilon = Fraction(tenths, 10)
    for noise in (
        ln.noise.Laplace(scale),
        ln.noise.Gaussian(scale),
        ln.noise.TruncatedLaplace(scale, 3 * scale),
    ):
        rounded = ln.Profile(Rounded(ONE, noise), sensitivity=steps).enclose(epsilon)
        assert rounded.lower <= ln.Profile(noise, sensitivity=steps).delta(epsilon)
        if steps > 1:
            assert rounded.upper >= ln.Profile(noise, sensitivity=steps - 1).enclose(epsilon).lower


def test_it_is_the_same_from_the_root() -> None:
    assert isinstance(ln.compose([ln.Privacy(1)]), Composition)
