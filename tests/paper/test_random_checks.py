"""Statements of the paper on many inputs, and false statements that the same checks catch."""

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from scipy.integrate import quad
from scipy.optimize import minimize_scalar
from scipy.stats import norm

import leastnoise as ln
from leastnoise.core.exact import Interval
from leastnoise.costs import Cost
from leastnoise.noise import Steps, Uniform
from leastnoise.paper import grid_checks, proof_checks
from leastnoise.paper import random_checks as checks
from leastnoise.paper.discretization import discretize
from leastnoise.paper.random_noise import Sample, p_alpha
from leastnoise.paper.rearrangement import Rearrangement, rearrange, symmetrize

HUMP = Cost(lambda x: x * (9 - x), name="hump")


class Lopsided(Cost):
    """A cost that is not symmetric."""

    def __call__(self, error: Any) -> float:
        return float(error)


def mirror(noise: Steps) -> Steps:
    return Steps(
        [-x for x in reversed(noise.breaks)],
        noise.heights[::-1],
        {-x: m for x, m in noise.points},
    )


def narrow(noise: Steps) -> Steps:
    return symmetrize(noise).scaled("1/2")


STATEMENTS: dict[str, Callable[[Sample], str | None]] = {
    "equations": checks.check_equations,
    "property 1": checks.check_property_1,
    "lemma 1": checks.check_lemma_1,
    "property 2": checks.check_property_2,
    "lemma 2": checks.check_lemma_2,
    "theorem 1": checks.check_theorem_1,
    "p alpha": checks.check_p_alpha,
    "worst set": checks.check_worst_set,
    "theorem 2": proof_checks.check_theorem_2,
    "other densities": proof_checks.check_other_densities,
    "last step": proof_checks.check_last_step,
    "algorithm 1": checks.check_algorithm_1,
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_no_counterexample_among_other_inputs_than_those_of_the_claims(name: str) -> None:
    result = checks.search(f"test of {name}", STATEMENTS[name], inputs=100)
    assert str(result) == "no counterexample in 100"
    assert result.holds


FALSE: dict[str, Callable[[Sample], str | None]] = {
    "e^ε = 2 in both directions": lambda s: checks.check_equations(s, factor=Fraction(2)),
    "a cost that falls from 9/2 on": lambda s: checks.check_property_1(s, (ln.l1, HUMP)),
    "a cost that is not symmetric": lambda s: checks.check_property_1(s, (Lopsided(abs),)),
    "every symmetric noise is decreasing": lambda s: checks.check_property_2(s, Sample.symmetric),
    "symmetrizing lowers the cost": lambda s: checks.check_lemma_1(s, holds=lambda a, b: a < b),
    "mirror images are symmetric": lambda s: checks.check_lemma_1(s, mirror),
    "narrower noise is as private": lambda s: checks.check_lemma_1(
        s, narrow, holds=lambda a, b: a <= b
    ),
    "symmetric noise has no atom but at 0": lambda s: checks.check_lemma_2(s, lambda _: None),
    "decreasing noise has no atom": lambda s: checks.check_lemma_2(s, allowed=()),
    "noise that decreases on coarse cells has no atom but at 0": lambda s: checks.check_lemma_2(
        s, rises_on_coarse_cells
    ),
    "noise that is decreasing without its atoms": lambda s: checks.check_property_2(
        s, with_outer_atoms
    ),
    "P([−d/2, d/2)) is the largest for all symmetric noise": lambda s: checks.check_worst_set(
        s, Sample.symmetric
    ),
    "cells raise a cost by a hundredth of the bound": lambda s: proof_checks.check_other_densities(
        s, Fraction(1, 100)
    ),
    "the last step always lowers the cost": lambda s: proof_checks.check_last_step(
        s, strictly=True
    ),
    "private iff P([−Δ/4, Δ/4]) ≤ δ": lambda s: checks.check_theorem_1(s, share=Fraction(1, 4)),
    "private iff P([−Δ, Δ]) ≤ δ": lambda s: checks.check_theorem_1(s, share=Fraction(1)),
    "Theorem 1 for all symmetric noise": lambda s: checks.check_theorem_1(s, draw=Sample.symmetric),
    "P_0 is the best for every cost and δ": lambda s: proof_checks.check_theorem_2(s, p_zero),
    "the noise scaled by 1/2 is as private": lambda s: proof_checks.check_theorem_2(s, too_narrow),
}


def rises_on_coarse_cells(noise: Steps) -> str | None:
    """Return whether the mass rises from one cell of length 3 to the next."""
    ends = [noise.probability_up_to(Fraction(3 * i)) for i in range(12)]
    masses = [b - a for a, b in pairwise(ends)]
    return "rises" if any(b > a for a, b in pairwise(masses)) else None


def with_outer_atoms(sample: Sample) -> Steps:
    noise = sample.unimodal()
    return Steps(
        noise.breaks,
        [h / 2 for h in noise.heights],
        {**{x: m / 2 for x, m in noise.points}, 1: "1/4", -1: "1/4"},
    )


def p_zero(
    noise: Steps, privacy: ln.Privacy, sensitivity: Fraction, cost: Cost, cells: int
) -> Uniform:
    return p_alpha(Fraction(0), privacy.delta, sensitivity)


def too_narrow(
    noise: Steps, privacy: ln.Privacy, sensitivity: Fraction, cost: Cost, cells: int
) -> Uniform:
    proof = rearrange(noise, privacy, sensitivity=sensitivity, cost=cost, cells=cells)
    return proof.result.scaled("1/2")


@pytest.mark.parametrize("name", FALSE)
def test_a_false_statement_is_caught_by_the_same_check(name: str) -> None:
    result = checks.search(name, FALSE[name], inputs=100)
    assert not result.holds
    assert str(result).startswith("counterexample: ")
    assert 1 <= result.checked <= 100


def test_a_stage_that_moves_mass_outward_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leastnoise.paper.rearrangement.moves_inward", lambda a, b: a == b)
    result = checks.search("outward", proof_checks.check_theorem_2, inputs=20)
    assert "a stage moves mass outward" in str(result)


def test_a_stage_0_that_changes_too_much_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: cells four times as broad as the proof has them."""

    def coarse(noise: Any, half: Fraction, parts: int) -> Steps:
        return discretize(noise, half, max(1, parts // 4))

    monkeypatch.setattr("leastnoise.paper.rearrangement.discretize", coarse)
    result = checks.search("coarse", proof_checks.check_theorem_2, inputs=100)
    assert not result.holds


def test_half_of_the_inputs_of_theorem_2_exercise_stage_0() -> None:
    changed = []

    def record(*given: Any) -> Rearrangement:
        noise, privacy, sensitivity, cost, cells = given
        found = rearrange(noise, privacy, sensitivity=sensitivity, cost=cost, cells=cells)
        changed.append(found.change.upper > 0)
        return found

    checks.search("theorem 2", lambda s: proof_checks.check_theorem_2(s, record), inputs=60)
    assert 15 <= sum(changed) <= 45


def test_the_inputs_of_lemma_2_are_decreasing_and_not() -> None:
    """The distribution function alone finds exactly the noise that has a rise or an outer atom."""
    found = [checks.draw_symmetric(Sample("lemma 2", i)) for i in range(200)]
    without_rise = [noise for noise in found if checks.find_rise(noise) is None]
    assert 30 <= len(without_rise) <= 150
    for noise in found:
        outer = any(noise.atoms.keys() - {0})
        heights = [h for h, x in zip(noise.heights, noise.breaks, strict=False) if x >= 0]
        rises = any(b > a for a, b in pairwise(heights))
        assert (checks.find_rise(noise) is None) == (not outer and not rises)
    by_hand = Steps([-1, 1], ["1/4"], {-1: "1/4", 1: "1/4"})
    # Cells of 1/3: the atom at 1 makes the last one more probable than the one before.
    assert checks.find_rise(by_hand) == "(2/3, 1]"


def test_property_2_is_checked_on_sets_that_touch_0() -> None:
    """An atom at 0 in S counts; its control is noise whose point 0 lost its mass to (0, 1)."""
    seen = set()

    class Probe(Sample):
        def choice(self, items: Any) -> Any:
            chosen = super().choice(items)
            seen.add(chosen if isinstance(chosen, Fraction | int) else type(chosen))
            return chosen

    for number in range(200):
        assert checks.check_property_2(Probe("touching", number)) is None
    assert Fraction(0) in seen


def test_distances_are_those_of_the_profile() -> None:
    """The checks use their own sweep over every shift; the profile is another implementation."""
    for number in range(60):
        sample = Sample("distances", number)
        noise, sensitivity = sample.steps(), sample.size()
        profile = ln.Profile(noise, sensitivity=sensitivity)
        assert checks.largest_distance(noise, sensitivity) == profile.advantage
    # By hand: half of the mass of [−1, 1] moves beyond itself at a shift of 1.
    assert checks.distance(Uniform(1), Fraction(1)) == Fraction(1, 2)
    assert checks.distance(Uniform(1), Fraction(1), Fraction(2)) == Fraction(1, 2)
    # The density on [2, 3] moves away entirely; of the atom at 1, an eighth meets the one at 0.
    atoms = Steps([2, 3], ["1/2"], {0: "1/8", 1: "3/8"})
    assert checks.distance(atoms, Fraction(1)) == Fraction(1, 2) + Fraction(1, 8) + Fraction(1, 4)


def test_inputs_never_change_and_have_the_shapes_they_claim() -> None:
    # The first 8 bytes of SHA-256 of "fixed/0/0", by another program, modulo 100.
    assert [Sample("fixed", 0).integer(0, 99) for _ in range(2)] == [49, 49]
    shapes = [Sample("shapes", i) for i in range(80)]
    assert all(sample.unimodal().is_decreasing for sample in shapes)
    symmetric = [sample.symmetric(atoms=1) for sample in shapes]
    assert all(noise.is_symmetric and any(noise.atoms) for noise in symmetric)
    steps = [sample.steps() for sample in shapes]
    assert sum(not noise.is_symmetric for noise in steps) > 70
    assert len({noise.breaks for noise in steps}) > 60
    assert sum(bool(noise.atoms) for noise in steps) > 40


@pytest.mark.parametrize("p", ["1/2", "1", "2", "7/2"])
@pytest.mark.parametrize("delta", ["0.1", "0.55", "0.95"])
def test_theorem_3_against_numerical_integration(p: str, delta: str) -> None:
    """Minimize a numerical integral over α with scipy, and compare with formula and search."""
    power, level, shift = float(Fraction(p)), float(delta), 2.5

    def integrate(atom: float) -> float:
        density = (level - atom) / shift
        radius = (1 - atom) / (level - atom) * shift / 2
        return 2 * density * float(quad(lambda x: x**power, 0, radius)[0])

    found = minimize_scalar(integrate, bounds=(0, level * 0.999), method="bounded").x
    exact = (Fraction(p), Fraction(delta), Fraction(5, 2))
    formula = grid_checks.theorem_3_cost(*exact)
    atom, least = grid_checks.minimize_over_alpha(ln.lp(p), *exact[1:])
    assert float(atom) == pytest.approx(found, abs=2e-4)
    assert float(formula.upper) == pytest.approx(min(integrate(found), integrate(0)), rel=1e-5)
    assert float(least.upper) == pytest.approx(float(formula.lower), rel=1e-7)
    assert grid_checks.check_theorem_3(*exact) is None


def wrong_cost(p: Fraction, delta: Fraction, sensitivity: Fraction) -> Interval:
    """Return the first case of Theorem 3 for p = 2, whatever δ is."""
    return Interval.exact(sensitivity**2 / (12 * delta**2))


def test_false_formulas_are_caught() -> None:
    half, one, two = Fraction(1, 2), Fraction(1), Fraction(2)
    found = grid_checks.check_theorem_3(two, Fraction(9, 10), one, wrong_cost)
    assert found == "p = 2, δ = 9/10, Δ = 1"
    assert grid_checks.check_theorem_3(two, half, one, wrong_cost) is None
    assert grid_checks.check_equation_8(two, Fraction(2, 3)) is None
    assert grid_checks.check_equation_8(two, Fraction(2, 3), Fraction(99, 100)) == "p = 2, δ = 2/3"
    assert grid_checks.check_corollary(two, Fraction(3, 5), one) is None
    assert (
        grid_checks.check_corollary(two, Fraction(3, 5), one, border=half)
        == "p = 2, δ = 3/5, Δ = 1"
    )
    assert grid_checks.check_corollary(one, Fraction(3, 5), one, border=Fraction(2, 3)) is not None
    assert grid_checks.check_theorem_6(half, two) is None
    # 2Φ(δ) − 1 = 0.3829 at δ = 1/2: σ may be smaller by this factor, and by no smaller one.
    factor = Fraction(0.5 / norm.ppf(0.75)).limit_denominator(10**6)
    assert grid_checks.check_theorem_6(half, two, factor + Fraction(1, 10**5)) is None
    assert grid_checks.check_theorem_6(half, two, factor - Fraction(1, 10**5)) == "δ = 1/2, Δ = 2"
    border = Fraction(2, 3)
    assert grid_checks.check_concentration(two, border) is None
    assert grid_checks.check_concentration(two, border, border=half) == "p = 2, δ = 2/3"
    assert grid_checks.check_concentration(two, border + Fraction(1, 10**6), border=one) is not None
    assert grid_checks.check_optimal_for_any_shape(half) is None
    assert grid_checks.check_optimal_for_any_shape(Fraction(7, 20)) == "δ = 7/20"
    assert checks.check_grid([None, "here", None, "there"]) == checks.SearchResult(4, "here")


def test_every_named_cost_is_checked() -> None:
    names = {repr(cost) for cost in checks.NAMED_COSTS}
    assert {"l1", "l2", "lp('0.5')", "threshold(0.5)", "log(1+x)"} <= names
    assert math.isclose(checks.NAMED_COSTS[-1](1), math.log(2))
