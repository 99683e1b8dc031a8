"""The figures of the paper, recomputed: P_α, the stages of Theorem 2's proof, and cost ratios."""

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from leastnoise import plots
from leastnoise.core.exact import format_exact, format_rounded
from leastnoise.core.noise import Gaussian, Laplace, Steps
from leastnoise.costs import l2
from leastnoise.paper import numbers
from leastnoise.paper.discretization import discretize
from leastnoise.paper.rearrangement import Rearrangement, Stage
from leastnoise.paper.sections import Figure
from leastnoise.plots import Mass, Panel, Piece, draw_panels

if TYPE_CHECKING:
    from altair.typing import ChartType

_ZERO = Fraction(0)
# The number of points of a smooth density on each side.
_POINTS = 64
_STAYS, _MOVES = "density that stays", "density that the step moves"
_STEPS = (
    "cut into cells",
    "one step beyond Δ/2",
    "one level, the rest at 0",
    "exactly δ within Δ/2",
)
_CELLS, _DENSITY, _MASS = "averaged over cells", "the density", "point mass at 0"


def draw_p_alpha() -> Figure:
    """Draw P_α for three masses at 0."""
    half = Fraction(1, 2)
    inside, outside = "within Δ/2 of 0: δ = 0.8 together", "beyond: 0.2 together"
    panels = []
    for name, noise in numbers.p_alphas().items():
        level = noise.pieces[0][2]
        edges = [-noise.radius, -half, half, noise.radius]
        left, middle, right = (Piece(a, b, _ZERO, level) for a, b in pairwise(edges))
        gap = Piece(-half, half, _ZERO, _ZERO)
        panels.append(
            Panel(
                f"{name}: density {format_exact(level)} up to {format_exact(noise.radius)}",
                {inside: [middle], outside: [left, gap, right]},
                [Mass(_MASS, _ZERO, noise.atom)] if noise.atom else [],
                marks={"−Δ/2": -half, "Δ/2": half},
            )
        )
    chart = draw_panels(
        panels,
        {inside: 0, outside: 1, _MASS: 2},
        title="P_α at δ = 0.8, Δ = 1",
        columns=3,
        reach=Fraction(6, 5),
    )
    return Figure(
        "p-alpha",
        "Figure 1",
        chart,
        "The distribution P_α: a point mass α at 0, and density (δ − α)/Δ up to "
        "(1 − α)/(δ − α)·Δ/2. A bar shows the point mass on the right axis. In each panel, the "
        "area within Δ/2 of 0 and the bar add up to δ. So each P_α is (0, δ)-private.",
        "Three panels with uniform densities. With a larger point mass at 0 the density is lower "
        "and wider: 0.8 up to 0.625, 0.5 up to 0.7, and 0.2 up to 1.",
    )


def draw_discretization() -> Figure:
    """Draw three densities and their averages over cells of two sizes."""
    half, reach = Fraction(1, 2), Fraction(4)
    panels = []
    for parts in (1, 3):
        for name, noise in numbers.densities().items():
            cells = discretize(noise, half, parts)
            before, after = (format_rounded(shape.enclose(l2).upper, 5) for shape in (noise, cells))
            panels.append(
                Panel(
                    f"{name}, i = {parts}: E X² {before} → {after}",
                    {_CELLS: _fill(cells)},
                    [Mass(_MASS, _ZERO, _mass_at_zero(cells))] if cells.atoms else [],
                    {_DENSITY: _curve(noise, reach)},
                )
            )
    chart = draw_panels(
        panels,
        {_CELLS: 0, _DENSITY: 1, _MASS: 2},
        title="Stage 0: densities cut into cells of width Δ/2i, Δ = 1",
        columns=3,
        reach=reach,
    )
    return Figure(
        "discrete",
        "Figure 2",
        chart,
        "Discretization: the density is replaced by its average over each cell of width Δ/2i. "
        "A point mass at 0 stays. Upper row: i = 1; lower row: i = 3. The mass within Δ/2 of 0 "
        "does not grow, so the guarantee is still satisfied. The cost E X² changes by an amount "
        "that vanishes as the cells shrink.",
        "Six panels: a Gaussian density, a Laplace density, and steps with a point mass at 0, "
        "each cut into broad cells and into narrow cells that follow the density closely.",
    )


def draw_steps(proof: Rearrangement, half: Fraction) -> list[Figure]:
    """Draw each step of Theorem 2's proof: the density before and after it."""
    first, levelled, with_mass, last = proof.stages
    reach = format_exact(levelled.noise.breaks[-1])
    inside = format_exact(with_mass.noise.between(-half, half))
    return [
        Figure(
            "t-star",
            "Figure 3",
            _draw_step(first, levelled, half, 1),
            "The mass beyond Δ/2 moves inward. It becomes one step up to t*, at the density just "
            f"inside Δ/2. Here δ = 0.6, Δ = 3 and t* = {reach}. The mass within Δ/2 of 0 does "
            "not change, so the guarantee is still satisfied.",
            "Two panels. Before: a staircase density from −5 to 5. After: the same steps within "
            f"Δ/2 of 0, then one level step up to t* = {reach}.",
        ),
        Figure(
            "zero-mass",
            "Figure 4",
            _draw_step(levelled, with_mass, half, 2),
            "The density within Δ/2 of 0 falls to its level at Δ/2. The mass above that level "
            "moves to 0, where it is a point mass. The bar has the height of its mass on the right "
            "axis, and the color of point masses in all figures.",
            "Two panels. Before: a density with a higher step around 0. After: a uniform density "
            "and a bar for the point mass 0.1 at 0.",
        ),
        Figure(
            "last-step",
            "The last step (no figure in the paper)",
            _draw_step(with_mass, last, half, 3),
            f"The mass within Δ/2 of 0 is {inside}, less than δ = 0.6. So the "
            "density falls, and the point mass grows until the mass within Δ/2 is exactly δ. The "
            "result is a P_α.",
            "Two panels. Before: a uniform density and a point mass 0.1 at 0. After: a lower "
            "uniform density and a point mass 0.2.",
        ),
    ]


def draw_proof(proof: Rearrangement, name: str, half: Fraction) -> Figure:
    """Draw all stages of Theorem 2's proof for smooth noise, with their costs."""
    panels = [
        Panel(
            f"Stage {i}, {_STEPS[i]}: E X² = {format_rounded(stage.cost.upper, 4)}",
            {name: _fill(stage.noise)},
            [Mass(_MASS, _ZERO, _mass_at_zero(stage.noise))] if stage.noise.atoms else [],
            marks={"−Δ/2": -half, "Δ/2": half, **_mark_end(stage.noise, half)},
        )
        for i, stage in enumerate(proof.stages)
    ]
    chart = draw_panels(
        panels,
        {name: 0, _MASS: 2},
        title=f"Theorem 2's proof for {name} noise of E X² = {format_rounded(proof.start.upper)}",
        columns=2,
        reach=Fraction(3),
    )
    return Figure(
        "rearrangement",
        "All stages (not in the paper)",
        chart,
        f"All stages of the proof of Theorem 2 for {name} noise with σ = 1, at δ = 0.5 and Δ = 1, "
        "with 8 cells in half of Δ. No stage after stage 0 increases the cost, and the noise of "
        "every stage is (0, 0.5)-private.",
        f"Four panels: {name} noise cut into cells, its tails moved inward, the rest moved to a "
        "point mass at 0, and the final P_α.",
    )


def draw_ratios() -> Figure:
    """Draw the optimal cost relative to Gaussian noise."""
    rows = numbers.ratios()
    chart = plots.curves(
        rows,
        numbers.RATIO_LOOKS,
        x="δ",
        y="optimal cost / Gaussian cost",
        title="Optimal cost relative to Gaussian noise",
    )
    return Figure(
        "ratio",
        "Figure 5",
        chart,
        "The optimal cost divided by the cost of Gaussian noise; lower means a larger gain. "
        "Dashed: as in the paper, with σ = Δ/2δ. For the power this is right for that σ. For the "
        "magnitude the paper takes σ in place of E|X|: the curve “magnitude, σ = Δ/2δ” has the "
        "true E|X|. “Tight Gaussian”: against the smallest private Gaussian noise. The optimum is "
        "the one among unimodal noise.",
        "Five curves against δ. The paper's start at 1/2 for the magnitude and 1/3 for the power. "
        "With the true E|X|, the magnitude starts at 0.627. Against the tight Gaussian the curves "
        "start at 0.785 and 0.524 and first rise. All fall towards 0 as δ approaches 1.",
        rows,
    )


def draw_consistency() -> Figure:
    """Draw how much more discrete uniform noise costs than the integer optimum."""
    rows = numbers.consistency()
    chart = plots.curves(
        rows,
        numbers.CONSISTENCY_LOOKS,
        x="δ",
        y="cost / optimum − 1",
        title="Excess cost of discrete uniform noise, E|X|",
        log="xy",
    )
    return Figure(
        "consistency",
        "Integer queries (not in the paper)",
        chart,
        "For integer queries of sensitivity Δ, the cost of discrete uniform noise approaches the "
        "integer optimum as δ falls. The points are at δ = 1/n for even n. Between them the excess "
        "is not monotone: it is 0 where uniform noise fits exactly.",
        "Seven curves, one for each sensitivity from 2 to 8, on logarithmic axes. The excess is "
        "nearly proportional to δ, and smaller for larger sensitivities.",
        rows,
    )


def draw_readings() -> Figure:
    """Draw the minimal cost under ε relative to the minimal cost under (0, δ)."""
    rows = numbers.readings()
    chart = plots.curves(
        rows,
        numbers.READING_LOOKS,
        x="ε",
        y="minimal cost under ε / under (0, δ)",
        title="Cost of ε-privacy relative to (0, δ)",
        log="y",
    )
    return Figure(
        "readings",
        "ε and δ (not in the paper)",
        chart,
        "Two ways to compare ε with δ. Dashed: δ = ε, as in the paper. Solid: δ = tanh(ε/2), the "
        "total variation distance that ε-privacy allows.",
        "Four curves against ε. At δ = ε the ratios start at 4 for E|X| and 24 for E X², and grow "
        "without limit. At equal distance they fall slowly from 2 and 6.",
        rows,
    )


def _draw_step(before: Stage, after: Stage, half: Fraction, number: int) -> "ChartType":
    """Draw two stages on the same axes, with the mass that moves in another color."""
    panels = []
    for name, shown, other in (("before", before, after), ("after", after, before)):
        panels.append(
            Panel(
                f"{name}: E X² = {format_rounded(shown.cost.upper, 5)}",
                _split(shown.noise, other.noise),
                [Mass(_MASS, _ZERO, _mass_at_zero(shown.noise))] if shown.noise.atoms else [],
                marks={"−Δ/2": -half, "Δ/2": half, **_mark_end(shown.noise, half)},
            )
        )
    colors = {_STAYS: 0, _MOVES: 1}
    if any(stage.noise.atoms for stage in (before, after)):
        colors[_MASS] = 2
    title = f"Stage {number}: {_STEPS[number]}"
    return draw_panels(panels, colors, title=title, columns=2, reach=Fraction(27, 5))


def _mark_end(noise: Steps, half: Fraction) -> dict[str, Fraction]:
    """Return the marks ±t* if the density is one step beyond Δ/2."""
    beyond = {noise.pdf_before(x) for x in noise.breaks if x > half}
    reach = noise.breaks[-1]
    return {"−t*": -reach, "t*": reach} if len(beyond) == 1 else {}


def _split(shown: Steps, other: Steps) -> dict[str, list[Piece]]:
    """Return the part of a density below another one, and the part above it."""
    stays, moves = [], []
    for a, b in pairwise(sorted({*shown.breaks, *other.breaks})):
        high, limit = (noise.pdf_before((a + b) / 2) for noise in (shown, other))
        common = min(high, limit)
        stays.append(Piece(a, b, _ZERO, common))
        moves.append(Piece(a, b, common, high))
    return {_STAYS: stays, _MOVES: moves}


def _fill(noise: Steps) -> list[Piece]:
    pieces = zip(pairwise(noise.breaks), noise.heights, strict=True)
    return [Piece(a, b, _ZERO, height) for (a, b), height in pieces]


def _curve(noise: Gaussian | Laplace | Steps, reach: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Return the corners of a density, or many points of a smooth one."""
    if isinstance(noise, Steps):
        corners = [(x, piece.high) for piece in _fill(noise) for x in piece[:2]]
        return [(noise.breaks[0], _ZERO), *corners, (noise.breaks[-1], _ZERO)]
    places = [reach * i / _POINTS for i in range(-_POINTS, _POINTS + 1)]
    return [(x, noise.density(abs(x), 40).middle) for x in places]


def _mass_at_zero(noise: Steps) -> Fraction:
    return noise.atoms.get(_ZERO, _ZERO)
