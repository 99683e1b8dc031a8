"""Noises side by side: against formulas and numbers from elsewhere, printed on the safe side."""

import itertools
import json
import math
import re
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

import leastnoise as ln
from leastnoise import plots
from leastnoise.calibration import FAMILIES
from leastnoise.core.basic_composition import joint_sensitivity, split_evenly
from leastnoise.core.privacy import format_guarantee
from leastnoise.errors import InvalidParameter, Unsupported
from leastnoise.noise import Gaussian, Rounded
from leastnoise.planning import Comparison
from leastnoise.planning.closed_forms import MOST_RELEASES, find_first_count

HAIR = 1 + Fraction(1, 1 << 60)
BOTH = ln.compare(ln.Privacy(1, "1e-6"), sensitivity=1, solve=False)


def only_closed(privacy: ln.Privacy, **asked: object) -> Comparison:
    return ln.compare(privacy, **{"sensitivity": 1, "solve": False, **asked})  # type: ignore[arg-type]


# ------------------------------------------------------------------- what is compared

ASKED = [
    (ln.Privacy(delta="0.1"), {}),
    (ln.Privacy(delta="0.75"), {"cost": ln.l2, "shape": "any"}),
    (ln.Privacy(delta="0.1"), {"cost": ln.threshold(3), "integer": True, "sensitivity": 2}),
    (ln.Privacy(1), {"sensitivity": "1/3"}),
    (ln.Privacy(1, "1e-6"), {"cost": ln.l2}),
    (ln.Privacy("1/2", "0.01"), {"integer": True}),
    (
        ln.Privacy(2, "0.05"),
        {"cost": ln.piecewise_linear([(0, 0), (1, 1), (4, 2)]), "sensitivity": 2},
    ),
]


@pytest.mark.parametrize(("privacy", "asked"), ASKED)
def test_every_row_keeps_the_promise_and_the_rows_rise(
    privacy: ln.Privacy, asked: dict[str, object]
) -> None:
    comparison = only_closed(privacy, **asked)
    assert {row.family for row in comparison} | set(comparison.excluded) == set(FAMILIES)
    assert [row.cost for row in comparison] == sorted(row.cost for row in comparison)
    for row in comparison:
        assert row.mechanism is not None
        row.mechanism.verify()
        assert row.mechanism.privacy == privacy
        assert row.cost == row.mechanism.cost
        assert row.cost * HAIR >= comparison.lower_bound
        assert row.ratio == row.cost / comparison.lower_bound
        assert row.infinity_mass <= privacy.delta


def test_the_certified_optimum_comes_first() -> None:
    comparison = ln.compare(ln.Privacy(2, "0.05"), sensitivity=1, cost=ln.l2)
    least, *others = comparison
    assert least.family == "certified"
    assert least.mechanism is not None
    assert least.mechanism.certificate.gap <= Fraction(1, 1000)
    # Certified elsewhere: the least of any shape is at least 0.32456.
    assert Fraction("0.32456") < comparison.lower_bound <= least.cost < Fraction("0.333")
    assert all(row.cost >= least.cost for row in others)


@pytest.mark.parametrize("delta", [0.01, 0.1, 0.5])
def test_costs_at_epsilon_0_are_the_textbooks(delta: float) -> None:
    comparison = only_closed(ln.Privacy(delta=delta))
    sigma = 1 / (2 * norm.ppf((1 + delta) / 2))
    expected = {
        "uniform": 1 / (4 * delta),
        "gaussian": sigma * math.sqrt(2 / math.pi),
        "laplace": -1 / (2 * math.log(1 - delta)),
    }
    for family, cost in expected.items():
        assert float(comparison[family].cost) == pytest.approx(cost, rel=1e-9)


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-3), (0.5, 1e-6), (2.0, 0.1)])
def test_costs_at_other_promises_are_the_theorems(epsilon: float, delta: float) -> None:
    comparison = only_closed(ln.Privacy(epsilon, delta))
    r = (math.exp(epsilon) - 1) / (2 * delta)
    expected = {
        "truncated_laplace": (1 - math.log(1 + r) / r) / epsilon,
        "staircase": math.exp(epsilon / 2) / (math.exp(epsilon) - 1),
        "laplace": 1 / (epsilon - 2 * math.log(1 - delta)),
    }
    for family, cost in expected.items():
        assert float(comparison[family].cost) == pytest.approx(cost, rel=1e-9)
    assert comparison["truncated_laplace"].radius == pytest.approx(
        math.log(1 + r) / epsilon, rel=1e-5
    )
    assert comparison["laplace"].radius == math.inf


def test_half_widths_are_the_quantiles_of_what_is_drawn() -> None:
    """Stretched by a millionth and rounded to a millionth of Δ: nearly the quantiles of the
    distribution."""
    assert BOTH["gaussian"].mechanism is not None
    sigma = float(BOTH["gaussian"].mechanism.noise.std())
    assert float(BOTH["gaussian"].half_width) == pytest.approx(sigma * norm.ppf(0.975), rel=1e-5)
    scale = float(BOTH["laplace"].cost)
    assert float(BOTH["laplace"].half_width) == pytest.approx(scale * math.log(20), rel=1e-5)


def test_bounded_noise_can_prove_who_it_was_and_unbounded_noise_cannot() -> None:
    for family in ("truncated_laplace", "uniform", "cut_staircase"):  # they use all of δ
        assert float(BOTH[family].infinity_mass) == pytest.approx(1e-6, rel=1e-3)
    for family in ("laplace", "gaussian", "staircase"):
        assert BOTH[family].infinity_mass == 0


def test_where_mass_lies_at_0_the_exact_value_leaves() -> None:
    """GDGK19, Theorem 3: for l2 the mass is 3δ − 2, and with all of δ the output proves it."""
    comparison = only_closed(ln.Privacy(delta="0.9"), cost=ln.l2)
    assert float(comparison["uniform"].exact_probability) == pytest.approx(0.7, rel=1e-5)
    assert float(comparison["uniform"].infinity_mass) == pytest.approx(0.9, rel=1e-5)
    assert comparison["gaussian"].exact_probability == 0


def test_a_noise_that_rises_is_compared_only_when_asked_for() -> None:
    asked = {"cost": ln.l2, "sensitivity": 1}
    refused = only_closed(ln.Privacy(delta="0.75"), **asked).excluded
    assert "its density is not unimodal" in refused["comb"]
    free = only_closed(ln.Privacy(delta="0.75"), shape="any", **asked)
    assert free.rows[0].family == "comb"
    beta = math.sinh(math.asinh(1) / 3)  # docs/theory/comb.md
    assert float(free["comb"].cost) == pytest.approx(0.25 * (1 + beta**2) / 2, rel=1e-6)


def test_a_cost_that_a_noise_cannot_have_is_no_crash() -> None:
    comparison = only_closed(ln.Privacy(1, "1e-3"), cost=ln.Cost(lambda x: x**1.5))
    for family in ("laplace", "gaussian", "staircase"):
        assert "needs a cost with a formula" in comparison.excluded[family]
    assert float(comparison["uniform"].cost) == pytest.approx(500**1.5 / 2.5, rel=1e-3)


def test_a_least_noise_that_does_not_exist_leaves_the_others() -> None:
    """No width is the best for this cost (docs/theory/critical-width.md)."""
    comparison = ln.compare(ln.Privacy(delta="0.9"), sensitivity=1, cost=ln.threshold("0.1"))
    assert "in the limit" in comparison.excluded["certified"]
    assert float(comparison["laplace"].cost) == pytest.approx(math.exp(0.2 * math.log(0.1)))


# ------------------------------------------------------------------- several releases


@given(
    st.fractions(0, 20, max_denominator=100),
    st.fractions(0, Fraction(999, 1000), max_denominator=10**7),
    st.integers(1, 10**4),
)
def test_releases_split_a_promise_without_exceeding_it(
    epsilon: Fraction, delta: Fraction, releases: int
) -> None:
    each = split_evenly(ln.Privacy(epsilon, delta), releases)
    assert each.epsilon * releases == epsilon
    assert each.delta * releases >= delta
    together = -math.expm1(releases * math.log1p(-float(each.delta)))
    assert together == pytest.approx(float(delta), rel=1e-9)
    if releases <= 12:
        assert 1 - (1 - each.delta) ** releases <= delta


@given(st.fractions(Fraction(1, 1000), 1000), st.integers(1, 10**6))
def test_shared_moves_are_rounded_up(sensitivity: Fraction, releases: int) -> None:
    move = joint_sensitivity(sensitivity, releases)
    assert 1 <= (move / sensitivity) ** 2 / releases < HAIR


@given(st.integers(1, 2 * MOST_RELEASES))
def test_the_first_of_many_releases_is_found(first: int) -> None:
    found = find_first_count(lambda k: k >= first)
    assert found == (first if first <= MOST_RELEASES else None)


def test_at_epsilon_0_a_gaussian_beats_uniform_noise_from_two_releases_on() -> None:
    """In units of 1/δ as δ → 0, per Δ: √2/π = 0.450 against 1/2."""
    two = only_closed(ln.Privacy(delta="1e-6"), releases=2)
    assert float(two["gaussian"].cost) * 1e-6 == pytest.approx(math.sqrt(2) / math.pi, rel=1e-5)
    assert float(two["uniform"].cost) * 1e-6 == pytest.approx(0.5, rel=1e-5)
    assert two.gaussian_wins_from == 2
    assert two["gaussian"].mechanism is None


@pytest.mark.parametrize(("delta", "first"), [("0.0985", "gaussian"), ("0.0988", "uniform")])
def test_in_l2_two_releases_cross_at_a_delta_of_986_in_10000(delta: str, first: str) -> None:
    two = only_closed(ln.Privacy(delta=delta), releases=2, cost=ln.l2)
    costs = {name: two[name].cost for name in ("gaussian", "uniform")}
    assert min(costs, key=lambda name: costs[name]) == first


@pytest.mark.parametrize(("cost", "crossing"), [(ln.l1, 12), (ln.l2, 9)])
def test_a_gaussian_overtakes_laplace_noise_of_epsilon_1(cost: ln.Cost, crossing: int) -> None:
    """Split evenly, k Laplace noises have the scale k: E|X| = k and E X² = 2k²."""
    ahead = []
    for releases in (crossing - 1, crossing):
        rows = only_closed(ln.Privacy(1, "1e-6"), cost=cost, releases=releases)
        laplace = releases if cost == ln.l1 else 2 * releases**2
        assert float(rows["laplace"].cost) == pytest.approx(laplace, rel=1e-5)
        ahead.append(rows["gaussian"].cost < laplace)
    assert ahead == [False, True]
    assert rows.gaussian_wins_from == crossing
    assert f"\nGaussian   the cheapest closed form for {crossing} or more releases\n" in str(rows)


@pytest.mark.parametrize("integer", [False, True])
def test_gaussians_of_several_releases_use_up_the_whole_promise(integer: bool) -> None:
    """Balle and Wang's δ of the k noises together, which is that of one moved by √k·Δ."""
    row = only_closed(ln.Privacy("1/2", "1e-3"), releases=3, integer=integer)["gaussian"]
    smooth = row.noise.noise if isinstance(row.noise, Rounded) else row.noise
    assert isinstance(smooth, Gaussian)
    sigma = float(smooth.sigma)
    move = math.sqrt(3) / sigma
    a, b = move / 2 - 0.5 / move, -move / 2 - 0.5 / move
    assert norm.cdf(a) - math.exp(0.5) * norm.cdf(b) == pytest.approx(1e-3, rel=1e-9)
    assert row.infinity_mass == 0


def test_without_delta_no_gaussian_overtakes() -> None:
    assert only_closed(ln.Privacy(1)).gaussian_wins_from is None
    told = str(only_closed(ln.Privacy(1), releases=2))
    assert "\nGaussian   not the cheapest closed form for up to 10000 releases\n" in told


# ------------------------------------------------------------------- how it is shown

THIRDS = only_closed(ln.Privacy("1/3", "1/7000"), cost=ln.l2, releases=2, sensitivity="1/3")


@pytest.mark.parametrize("comparison", [BOTH, THIRDS])
def test_the_table_is_aligned_and_on_the_safe_side(comparison: Comparison) -> None:
    title, table, facts = str(comparison).split("\n\n")
    assert max(map(len, str(comparison).splitlines())) <= 80
    head, *lines = table.splitlines()
    assert len(lines) == len(comparison)
    ends = [
        match.end()
        for match in re.finditer(r"E\|error\||E error²|× bound|within|max error|P\S+", head)
    ]
    for line, row in zip(lines, comparison, strict=True):
        assert line.startswith(row.family)
        assert len(line) == len(head)
        assert all(line[end - 1] != " " for end in ends)
        cost, times, usual = re.split(r" {2,}", line)[1:4]
        assert row.cost <= Fraction(cost) <= row.cost * Fraction("1.00001")
        assert row.ratio <= Fraction(times) * HAIR
        assert row.half_width <= Fraction(usual.removeprefix("± "))
        reveal, exact = re.split(r" {2,}", line)[-2:]
        assert row.infinity_mass <= Fraction(reveal) <= row.infinity_mass * Fraction("1.01")
        assert row.exact_probability <= Fraction(exact)
    assert [line.split()[0] for line in facts.splitlines() if line[0] != " "] == [
        "P(reveal)",
        "P(exact)",
        *(["Split", "Gaussian"] if comparison is THIRDS else []),
        "Excluded",
    ]
    bound = Fraction(re.findall(r"Lower bound for E[^:]+: ([\d.]+\d),", title)[0])
    assert comparison.lower_bound * Fraction("0.99999") <= bound <= comparison.lower_bound


def test_the_split_is_told() -> None:
    told = " ".join(str(THIRDS).split())
    each = format_guarantee(split_evenly(THIRDS.privacy, 2))
    assert f"each answer satisfies {each}. " in told
    assert "Gaussian noise is calibrated once, at sensitivity √2·Δ" in told
    assert "each answer" not in str(BOTH)


def test_html_shows_the_same_numbers() -> None:
    shown = BOTH._repr_html_()
    assert shown.count("<tr>") == 1 + len(BOTH) + 2 + len(BOTH.excluded)
    assert "<caption>Noise for ε = 1, δ = 1e-6 at sensitivity 1, real answers</caption>" in shown
    assert all(f"<td>{row.family}</td>" in shown for row in BOTH)
    assert "&lt; 1" in shown  # of "0 < ε < 1": everything is escaped


def test_json_is_exact() -> None:
    found = json.loads(json.dumps(THIRDS.to_dict()), parse_constant=pytest.fail)
    assert Fraction(found["lower_bound"]) == THIRDS.lower_bound
    assert found["gaussian_overtakes_at"] == THIRDS.gaussian_wins_from
    for row, told in zip(THIRDS, found["rows"], strict=True):
        assert (told["family"], Fraction(told["cost"])) == (row.family, row.cost)
        assert Fraction(told["half_width_95"]) == row.half_width
        assert (told["radius"] is None) == (row.radius == math.inf)


def test_the_promise_is_explained_by_a_comparison_too() -> None:
    assert BOTH.explain(people=10) == BOTH.privacy.explain(people=10)


# ------------------------------------------------------------------- what is refused


def test_no_promise_is_no_comparison() -> None:
    with pytest.raises(InvalidParameter, match="No noise satisfies ε = 0, δ = 0"):
        only_closed(ln.Privacy(0, 0))
    with pytest.raises(Unsupported, match="needs a cost with a formula"):
        only_closed(ln.Privacy(1), cost=ln.Cost(math.log1p))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"releases": 0}, "releases must be an integer of at least 1, got 0"),
        ({"releases": 1.5}, "releases must be an integer of at least 1, got 1.5"),
        ({"sensitivity": 0}, "sensitivity must be greater than 0"),
        ({"shape": "all"}, 'shape must be "unimodal" or "any"'),
        ({"solve": "no"}, "solve must be True or False"),
        ({"seconds": -1}, "seconds must be greater than 0"),
        ({"cost": ln.Cost(lambda x: -x)}, "never fall"),
    ],
)
def test_wrong_questions_are_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidParameter, match=re.escape(message)):
        only_closed(ln.Privacy(1, "1e-3"), **wrong)


def test_a_row_that_is_not_there_says_why() -> None:
    with pytest.raises(InvalidParameter, match="classic Gaussian noise requires 0 < ε < 1"):
        _ = BOTH["classic_gaussian"]
    with pytest.raises(InvalidParameter, match=r"family must be one of .*, got 'nothing'"):
        _ = BOTH["nothing"]


# ------------------------------------------------------------------- pictures


@pytest.mark.parametrize(
    "comparison", [BOTH, only_closed(ln.Privacy(delta="0.3"), integer=True, releases=2)]
)
def test_pictures_show_every_family_or_say_why_not(comparison: Comparison) -> None:
    drawn = [plots.density_by_family, plots.cost_by_delta, plots.cost_by_epsilon]
    noises, by_delta, by_epsilon = (draw(comparison).to_dict() for draw in drawn)
    for picture in (noises, by_delta, by_epsilon):
        assert all(row.family in json.dumps(picture) for row in comparison)
    for picture, asked in zip((by_delta, by_epsilon), ("delta", "epsilon"), strict=True):
        curves = picture["layer"][1]["data"]["values"]
        there = float(getattr(comparison.privacy, asked))
        costs = {row["curve"]: row["value"] for row in curves if row["x"] == there}
        for row in comparison:
            assert costs.get(row.family, float(row.cost)) == pytest.approx(float(row.cost))
            assert costs.get("lower bound", 0) <= row.cost * HAIR
        assert len(costs) >= 4 or not there
    areas: dict[str, float] = {}
    for one, two in itertools.pairwise(noises["data"]["values"]):
        if one["curve"] == two["curve"]:
            area = (two["error"] - one["error"]) * (one["density"] + two["density"]) / 2
            areas[one["curve"]] = areas.get(one["curve"], 0) + area
    assert all(0.4 < area < 1.01 for area in areas.values())  # as far as the picture goes


def test_pictures_are_saved_as_png_and_svg(tmp_path: Path) -> None:
    saved = plots.save_comparison(only_closed(ln.Privacy(delta="0.1")), tmp_path / "new" / "folder")
    assert {path.suffix for path in saved} == {".png", ".svg"}
    assert all(path.stat().st_size > 5000 for path in saved)
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidParameter, match="The folder 'file' cannot be created"):
        plots.save_comparison(BOTH, tmp_path / "file")
