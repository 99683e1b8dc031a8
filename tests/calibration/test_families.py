"""Noises by name: each at its theorem's parameters, refused outside it, and drawn privately."""

import math
from fractions import Fraction

import mpmath
import pytest

from leastnoise.accounting.profile import Profile
from leastnoise.calibration import FAMILIES, Problem, find_noise
from leastnoise.calibration.problem import Effort
from leastnoise.certificate import CanonicalBound, Certificate, canonical_bound
from leastnoise.core.noise.steps import Steps
from leastnoise.core.privacy import Privacy
from leastnoise.costs.cost import Cost
from leastnoise.costs.piecewise import threshold
from leastnoise.costs.power import l1, l2, lp
from leastnoise.errors import InvalidParameter, NotPrivate, Unsupported
from leastnoise.mechanism import Mechanism
from leastnoise.mechanism.factory import calibrate
from leastnoise.noise import (
    DiscreteStaircase,
    Gaussian,
    Laplace,
    Rounded,
    Smooth,
    Staircase,
    TruncatedLaplace,
    Uniform,
)

GUARANTEES = [
    ("1", "1e-6"),
    ("0.5", "1e-9"),
    ("0.1", "1e-3"),
    ("4", "0.3"),
    ("0.9", "0.45"),
    ("0", "0.1"),
    ("2", "0"),
]


def _exact(number: Fraction) -> mpmath.mpf:
    return mpmath.mpf(number.numerator) / number.denominator


# ---------------------------------------------------------------- the analytic Gaussian


def _needed(sigma: mpmath.mpf, epsilon: mpmath.mpf) -> mpmath.mpf:
    """Balle and Wang 2018, Theorem 8, at Δ = 1, in mpmath alone."""
    above, below = 1 / (2 * sigma) - epsilon * sigma, -1 / (2 * sigma) - epsilon * sigma
    return mpmath.ncdf(above) - mpmath.exp(epsilon) * mpmath.ncdf(below)


@pytest.mark.parametrize(
    ("epsilon", "delta", "digits"),
    [
        ("1", "1e-6", 60),
        ("0.01", "1e-15", 60),
        ("8", "1e-5", 60),
        ("1", "0.9", 60),
        ("1", "0." + "9" * 15, 60),
        ("1", "0." + "9" * 45, 120),
        ("0", "0." + "9" * 38, 120),
        ("0", "0.3", 60),
        ("1e-12", "1e-9", 80),
        ("1", "1e-300", 60),
        ("0.1", "1e-300", 80),
        ("1e-12", "1e-300", 90),
        ("700", "1e-300", 700),
        ("700", "0.5", 700),
        ("0", "1e-300", 660),
    ],
)
def test_the_gaussian_is_tight_on_the_safe_side(epsilon: str, delta: str, digits: int) -> None:
    """σ agrees with arithmetic of 50 digits or more to 1e-12, and is never below it."""
    privacy = Privacy(epsilon, delta)
    found = calibrate(privacy, sensitivity=1, family="gaussian").noise
    assert isinstance(found, Gaussian)
    with mpmath.workdps(digits):
        sigma, smaller = _exact(found.sigma), _exact(found.sigma) / (1 + mpmath.mpf("1e-12"))
        assert _needed(sigma, _exact(privacy.epsilon)) <= _exact(privacy.delta)
        assert _needed(smaller, _exact(privacy.epsilon)) > _exact(privacy.delta)


def test_sigma_of_the_published_example() -> None:
    """(1, 1e-5): σ = 3.730632 by Balle and Wang's own program; the textbook's is not allowed."""
    found = calibrate(Privacy(1, "1e-5"), sensitivity=1, family="gaussian").noise
    assert isinstance(found, Gaussian)
    assert math.isclose(found.sigma, 3.730632, rel_tol=1e-6)


def test_the_classic_gaussian_is_the_textbook_formula() -> None:
    found = calibrate(Privacy("0.5", "1e-5"), sensitivity=3, family="classic_gaussian").noise
    assert isinstance(found, Gaussian)
    assert math.isclose(found.sigma, 3 * math.sqrt(2 * math.log(1.25e5)) / 0.5, rel_tol=1e-13)
    tight = calibrate(Privacy("0.5", "1e-5"), sensitivity=3, family="gaussian")
    assert tight.cost < found.expected(l1)


@pytest.mark.parametrize("epsilon", ["0", "1", "1.5", "700"])
def test_the_classic_gaussian_is_refused_outside_its_theorem(epsilon: str) -> None:
    with pytest.raises(InvalidParameter, match="requires 0 < ε < 1 and δ > 0"):
        calibrate(Privacy(epsilon, "1e-6"), sensitivity=1, family="classic_gaussian")


# ---------------------------------------------------------------- the others


def test_tight_laplace() -> None:
    """mathematics: the least scale is Δ/(ε − 2 ln(1−δ)); the textbook's Δ/ε is more."""
    for epsilon, delta in (("1", "0.01"), ("0", "0.3"), ("3", "1e-9")):
        privacy = Privacy(epsilon, delta)
        noise = calibrate(privacy, sensitivity=2, family="laplace").noise
        assert isinstance(noise, Laplace)
        with mpmath.workdps(50):
            wanted = 2 / (_exact(privacy.epsilon) - 2 * mpmath.log(1 - _exact(privacy.delta)))
            assert 1 <= _exact(noise.scale) / wanted <= 1 + mpmath.mpf("1e-15")
        with pytest.raises(NotPrivate, match="does not satisfy"):
            Mechanism.from_noise(
                Laplace(noise.scale * (1 - Fraction(1, 10**12))), privacy, sensitivity=2
            )
    assert calibrate(Privacy(2), sensitivity=1, family="laplace").noise == Laplace("1/2")


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-3"), ("0.1", "1e-6"), ("5", "0.4")])
def test_truncated_laplace_is_that_of_its_paper(epsilon: str, delta: str) -> None:
    """Geng, Ding, Guo and Kumar 2020: radius, E|X| and variance in closed form."""
    privacy = Privacy(epsilon, delta)
    mechanism = calibrate(privacy, sensitivity=1, family="truncated_laplace")
    noise = mechanism.noise
    assert isinstance(noise, TruncatedLaplace)
    eps, dlt = float(epsilon), float(delta)
    r = math.expm1(eps) / (2 * dlt)
    log = math.log1p(r)
    assert math.isclose(noise.radius, log / eps, rel_tol=1e-13)
    assert math.isclose(mechanism.cost, (1 - log / r) / eps, rel_tol=1e-13)
    variance = 2 / eps**2 * (1 - (log**2 / 2 + log) / r)
    assert math.isclose(noise.variance(), variance, rel_tol=1e-12)
    if (epsilon, delta) == ("1", "1e-3"):  # as printed in mathematics.md §5
        assert (round(float(noise.radius), 4), round(noise.var(), 4)) == (6.7571, 1.9311)


def test_staircases_of_the_literature() -> None:
    """Geng and Viswanath 2016: γ and cost for ℓ1, cost for ℓ2 (as in mathematics.md §5)."""
    for epsilon in (0.3, 1.0, 4.0):
        b = math.exp(-epsilon)
        first = calibrate(Privacy(epsilon), sensitivity=1, cost=l1, family="staircase")
        assert isinstance(first.noise, Staircase)
        assert math.isclose(first.noise.gamma, 1 / (1 + math.exp(epsilon / 2)), rel_tol=1e-3)
        assert math.isclose(first.cost, math.exp(epsilon / 2) / math.expm1(epsilon), rel_tol=1e-9)
        second = calibrate(Privacy(epsilon), sensitivity=1, cost=l2, family="staircase")
        wanted = (2 ** (-2 / 3) * b ** (2 / 3) * (1 + b) ** (2 / 3) + b) / (1 - b) ** 2
        assert math.isclose(second.cost, wanted, rel_tol=1e-9)


def test_the_geometric_is_for_whole_numbers() -> None:
    """Ghosh et al. 2012: P(0) = (1−α)/(1+α) with α = e^−ε; for larger Δ, α = e^(−ε/Δ)."""
    for moved in (1, 3):
        noise = calibrate(Privacy(1), sensitivity=moved, integer=True, family="geometric").noise
        assert isinstance(noise, DiscreteStaircase)
        alpha = math.exp(-1 / moved)
        assert math.isclose(noise.pmf(0), (1 - alpha) / (1 + alpha), rel_tol=1e-12)
    with pytest.raises(InvalidParameter, match="requires integer answers and ε > 0"):
        calibrate(Privacy(1), sensitivity=1, family="geometric")
    with pytest.raises(InvalidParameter, match="requires integer answers and ε > 0"):
        calibrate(Privacy(delta="0.1"), sensitivity=1, integer=True, family="geometric")


COUNTS = [
    ("0", "0.1", "2.5", "8.5"),
    ("0", "0.3", "0.8", "1.0"),
    ("0.5", "0.01", "1.702653", "5.486083"),
    ("1", "0.001", "0.842984", "1.773900"),
    ("2", "0.1", "0.216536", "0.220479"),
    ("0.1", "0.05", "3.148600", "14.261262"),
]


@pytest.mark.parametrize(("epsilon", "delta", "first", "second"), COUNTS)
def test_canonical_counts(epsilon: str, delta: str, first: str, second: str) -> None:
    """mathematics.md §5: equals the linear program, for ℓ1 and ℓ2 at once."""
    asked = Privacy(epsilon, delta)
    noises = []
    for cost, value in ((l1, first), (l2, second)):
        named = calibrate(asked, sensitivity=1, cost=cost, integer=True, family="canonical")
        assert round(float(named.cost), 6) == float(value)
        assert calibrate(asked, sensitivity=1, cost=cost, integer=True).cost == named.cost
        noises.append(named.noise)
    assert noises[0] == noises[1]


# ---------------------------------------------------------------- all of them


def _kept(name: str, privacy: Privacy, **question: object) -> Mechanism | None:
    """Return the mechanism of a family, or None where its theorem does not reach."""
    try:
        return calibrate(privacy, family=name, **question)  # type: ignore[arg-type]
    except InvalidParameter as refused:
        if "requires" not in str(refused):
            raise
        return None


@pytest.mark.parametrize("integer", [False, True])
@pytest.mark.parametrize(("epsilon", "delta"), GUARANTEES)
def test_every_family_keeps_its_promise(epsilon: str, delta: str, integer: bool) -> None:
    """On the line, as drawn, and in its certificate; the bound lies below every cost."""
    privacy = Privacy(epsilon, delta)
    kept = {}
    for name in FAMILIES:
        mechanism = _kept(name, privacy, sensitivity=2, cost=l2, integer=integer)
        if mechanism is None:
            continue
        kept[name] = mechanism
        mechanism.verify()
        assert Profile(mechanism.noise, sensitivity=2).delta(epsilon) <= privacy.delta
        assert mechanism.certificate.lower_bound <= mechanism.cost
        if not integer:
            assert mechanism.cost <= mechanism.discretized.cost * (1 + Fraction(1, 10**5))
            assert mechanism.discretized.cost <= mechanism.cost * (1 + Fraction(1, 1000))
        mechanism.release(10, allow_exact=True)
    assert len(kept) >= 2
    cheapest = calibrate(privacy, sensitivity=2, cost=l2, integer=integer, solve=False)
    assert cheapest.cost <= min(mechanism.cost for mechanism in kept.values())


def test_what_is_cheapest_is_not_called_least() -> None:
    certificate = calibrate(Privacy(1, "0.01"), sensitivity=1, solve=False).certificate
    assert not certificate.exact
    assert str(certificate).startswith("within ")
    assert "cheapest of the known families" in certificate.source
    assert "not proved least" in certificate.source


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "0.6"), ("2", "0.9"), ("0.3", "0.7")])
def test_beyond_a_half_the_radius_of_truncated_laplace_noise_is_not_the_smallest(
    epsilon: str, delta: str
) -> None:
    """docs/theory/families.md, Proposition 2: it needs δ − e^−ε(e^ε − E)²/2(E−1), E = e^(εA)."""
    factor, stated = math.exp(float(epsilon)), float(delta)
    grown = 1 + (factor - 1) / (2 * stated)
    radius = Fraction(math.log(grown)) / Fraction(epsilon)
    needed = Profile(TruncatedLaplace(1 / Fraction(epsilon), radius), sensitivity=1).delta(epsilon)
    expected = stated - (factor - grown) ** 2 / (2 * factor * (grown - 1))
    assert radius < 1
    assert float(needed) == pytest.approx(expected, rel=1e-9)
    assert needed < Fraction(delta)
    # At δ = 1/2 the radius is Δ, and nothing is spare.
    edge = Profile(TruncatedLaplace(1 / Fraction(epsilon), 1), sensitivity=1).delta(epsilon)
    assert float(edge) == pytest.approx(0.5, rel=1e-12)


@pytest.mark.parametrize("name", ["laplace", "truncated_laplace", "gaussian"])
@pytest.mark.parametrize("integer", [False, True])
def test_certificates_of_smooth_noises_are_read_and_proved_again(name: str, integer: bool) -> None:
    mechanism = calibrate(Privacy(1, "0.01"), sensitivity=1, integer=integer, family=name)
    again = Certificate.from_json(mechanism.certificate.to_json())
    assert again == mechanism.certificate
    again.verify()
    forged = Certificate.from_json(mechanism.certificate.to_json())
    noise = forged.noise.noise if isinstance(forged.noise, Rounded) else forged.noise
    assert isinstance(noise, Smooth)
    # Rounded to integers a noise is a little more private than on the line.
    narrow = noise.scaled(Fraction(9, 10) if integer else Fraction(999_999, 1_000_000))
    distribution = Rounded(Fraction(1), narrow) if integer else narrow
    object.__setattr__(forged, "noise", distribution)
    with pytest.raises(NotPrivate, match="does not satisfy"):
        forged.verify()


@pytest.mark.parametrize(
    ("epsilon", "delta"), [("1e-12", "1e-300"), ("700", "1e-300"), ("1e-12", "0"), ("700", "0")]
)
@pytest.mark.parametrize("integer", [False, True])
def test_extreme_promises(epsilon: str, delta: str, integer: bool) -> None:
    """Nothing hangs or overflows, and the least noise is bracketed."""
    mechanism = calibrate(
        Privacy(epsilon, delta), sensitivity=1, integer=integer, solve=False, cost=l1
    )
    mechanism.verify()
    if epsilon == "1e-12":  # the least E|X| is 1/ε, but for a part of ε
        assert math.isclose(mechanism.cost, 1e12, rel_tol=1e-6)
        assert mechanism.certificate.gap < Fraction(1, 1000)
    assert mechanism.release(0, allow_exact=True).index in range(-(10**40), 10**40)


def test_small_epsilons_are_bracketed_without_a_list_of_steps() -> None:
    """Between 1e-2 and 1e-6 the bound by closed form meets the truncated Laplace noise."""
    for epsilon, delta in (("1e-2", "1e-9"), ("1e-3", "1e-6"), ("1e-5", "1e-9"), ("1e-6", "1e-7")):
        for integer in (False, True):
            mechanism = calibrate(
                Privacy(epsilon, delta), sensitivity=1, cost=l1, integer=integer, solve=False
            )
            assert mechanism.certificate.gap < Fraction(1, 1000)


def test_a_family_must_be_one() -> None:
    with pytest.raises(InvalidParameter, match=r"family must be one of uniform.*got 'cauchy'"):
        calibrate(Privacy(1), sensitivity=1, family="cauchy")
    with pytest.raises(InvalidParameter, match=r"family must be one of"):
        calibrate(Privacy(1), sensitivity=1, family=3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "privacy", "condition"),
    [
        ("uniform", Privacy(1), "requires δ > 0"),
        ("comb", Privacy(delta="0.9"), "requires the cost l2"),
        ("staircase", Privacy(delta="0.1"), "requires ε > 0"),
        ("cut_staircase", Privacy(1), "requires ε > 0 and δ > 0"),
        ("truncated_laplace", Privacy(1), "requires ε > 0 and 0 < δ ≤ 1/2"),
        ("truncated_laplace", Privacy(1, "0.501"), "requires ε > 0 and 0 < δ ≤ 1/2"),
        ("truncated_laplace", Privacy(delta="0.1"), "requires ε > 0 and 0 < δ ≤ 1/2"),
        ("gaussian", Privacy(1), "requires δ > 0"),
    ],
)
def test_outside_their_theorems_families_say_so(
    name: str, privacy: Privacy, condition: str
) -> None:
    with pytest.raises(InvalidParameter, match=condition):
        calibrate(privacy, sensitivity=1, family=name)


def test_the_comb_by_name() -> None:
    """comb.md: (1−δ)·0.5444126747 for ℓ2 at δ = 0.9."""
    mechanism = calibrate(Privacy(delta="0.9"), sensitivity=1, cost=l2, family="comb")
    assert math.isclose(mechanism.cost, 0.05444126747, rel_tol=1e-9)


def test_uniform_by_name_keeps_its_own_certificate() -> None:
    mechanism = calibrate(Privacy(delta="0.1"), sensitivity=1, family="uniform")
    assert mechanism.noise == Uniform(5)
    assert mechanism.certificate.exact
    assert mechanism.certificate.source == "GDGK19, Theorem 3"


def test_costs_that_a_family_has() -> None:
    """Any cost works for bounded noise; unbounded noise needs one known at every size."""
    privacy = Privacy(1, "1e-3")
    for cost in (lp("3/2"), threshold(2), Cost(math.log1p)):
        bounded = calibrate(privacy, sensitivity=1, cost=cost, family="truncated_laplace")
        bounded.verify()
    with pytest.raises(Unsupported, match="needs a cost with a formula"):
        calibrate(privacy, sensitivity=1, cost=Cost(math.log1p), family="gaussian")
    found = calibrate(privacy, sensitivity=1, cost=Cost(math.log1p), solve=False)
    assert isinstance(found.noise, Steps | TruncatedLaplace)


def test_find_reads_the_family_last() -> None:
    """The finder itself refuses (0, 0) for every family."""
    problem = Problem(Privacy(0, 0), Fraction(1), l1, integer=False, shape="unimodal")
    for name in FAMILIES:
        with pytest.raises(InvalidParameter, match="No noise satisfies ε = 0, δ = 0"):
            find_noise(problem, Effort(), name)


@pytest.mark.parametrize("cost", [l1, l2, lp(3)], ids=repr)
@pytest.mark.parametrize(("epsilon", "delta"), [("0.02", "1e-6"), ("0.03", "1e-9"), ("0.04", "0")])
def test_the_bound_by_closed_form_is_below_the_bound_step_by_step(
    epsilon: str, delta: str, cost: Cost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two ways to one number: the closed form may be a little less, and never more."""
    privacy, bound = Privacy(epsilon, delta), CanonicalBound(integer=False)
    closed = bound.prove(cost, privacy, Fraction(1))
    canonical_bound._prove_cached.cache_clear()
    monkeypatch.setattr(canonical_bound, "_MANY", 10**6)
    monkeypatch.setattr(canonical_bound, "_MOST", 10**6)
    listed = bound.prove(cost, privacy, Fraction(1))
    canonical_bound._prove_cached.cache_clear()
    assert closed <= listed
    assert listed - closed <= listed / 1000 + cost.largest_sag(Fraction(1), Fraction(10**5))


def test_an_epsilon_that_protects_nobody_is_refused() -> None:
    for name in (None, *FAMILIES):
        with pytest.raises(Unsupported, match="protects nobody"):
            calibrate(Privacy(20_000, "1e-6"), sensitivity=1, integer=True, family=name)


def test_delta_near_1_is_told_from_1() -> None:
    """At 1 − δ = 1e-45 the tight Laplace scale is known, and the cheapest noise is found."""
    privacy = Privacy(1, "0." + "9" * 45)
    noise = calibrate(privacy, sensitivity=1, family="laplace").noise
    assert isinstance(noise, Laplace)
    assert math.isclose(noise.scale, 1 / (1 + 90 * math.log(10)), rel_tol=1e-12)
    calibrate(privacy, sensitivity=1, solve=False).verify()


def test_certificates_of_integer_staircases_with_irrational_costs() -> None:
    certificate = calibrate(
        Privacy("0.7", "1e-5"), sensitivity=3, cost=lp("1.5"), integer=True, family="staircase"
    ).certificate
    Certificate.from_json(certificate.to_json()).verify()


def test_intervals_of_very_wide_noise() -> None:
    """Where a step is far below the accuracy of an enclosure, steps are not taken one by one."""
    mechanism = calibrate(
        Privacy(30, "1e-3"), sensitivity=10**100, integer=True, family="truncated_laplace"
    )
    low, high = mechanism.release(5).interval("0.95")
    assert math.isclose(high - low, 2 * 10**100 / 30 * math.log(20), rel_tol=1e-9)


@pytest.mark.parametrize(
    "delta", ["1e-30", "1e-50", pytest.param("1e-300", marks=pytest.mark.long)]
)
@pytest.mark.parametrize(("epsilon", "moved", "integer"), [("1", 1, False), ("1", 2, True)])
def test_tiny_deltas_are_solved_for(delta: str, epsilon: str, moved: int, integer: bool) -> None:
    """Below what a solver can see of δ, its bounds still hold; the noise is a closed form."""
    mechanism = calibrate(
        Privacy(epsilon, delta), sensitivity=moved, integer=integer, gap=Fraction(1, 100)
    )
    mechanism.verify()
    assert mechanism.certificate.gap <= Fraction(1, 100)
    # What less δ allows costs no less, and the staircase keeps it at δ = 0.
    pure = calibrate(Privacy(epsilon), sensitivity=moved, integer=integer, solve=False)
    assert mechanism.certificate.lower_bound <= mechanism.cost <= pure.cost


def test_without_a_bound_no_percentage_is_claimed() -> None:
    """At (0.5, 0.9) the bound known at once is 0: 'within 8 % of the least' would be false."""
    certificate = calibrate(
        Privacy("0.5", "0.9"), sensitivity=1, cost=l2, family="gaussian"
    ).certificate
    assert certificate.lower_bound == 0
    assert certificate.gap == math.inf
    assert "no lower bound is known" in str(certificate)
    assert "%" not in str(certificate)


def test_only_decreasing_noise_is_returned_where_only_that_was_asked_for() -> None:
    """The comb rises away from 0 and is cheaper; it is returned only if any shape may be."""
    privacy = Privacy("0.5", "0.9")
    plain = calibrate(privacy, sensitivity=1, cost=l2, solve=False)
    free = calibrate(privacy, sensitivity=1, cost=l2, solve=False, shape="any")
    assert plain.noise.is_unimodal
    assert not free.noise.is_unimodal
    assert free.cost < plain.cost


def test_gamma_is_fine_enough_for_large_epsilon() -> None:
    """Geng and Viswanath 2016: Δe^(ε/2)/(e^ε−1), also where γ is about e^−25."""
    for epsilon in (30, 50, 100):
        cost = calibrate(Privacy(epsilon), sensitivity=1, family="staircase").cost
        assert math.isclose(cost, math.exp(-epsilon / 2), rel_tol=1e-4)


def test_a_misspelt_family_is_guessed() -> None:
    with pytest.raises(InvalidParameter, match=r"got 'gausian'\. Did you mean gaussian\?"):
        calibrate(Privacy(1), sensitivity=1, family="gausian")
