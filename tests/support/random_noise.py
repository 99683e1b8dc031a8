"""Random distributions that several tests share."""

from fractions import Fraction
from itertools import pairwise

from hypothesis import strategies as st

from leastnoise.noise import Steps


@st.composite
def steps(draw: st.DrawFn) -> Steps:
    """Random distributions on a lattice of quarters or thirds, with atoms."""
    unit = draw(st.sampled_from([Fraction(1, 4), Fraction(1, 3), Fraction(1)]))
    spans = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    weights = draw(st.lists(st.integers(0, 5), min_size=len(spans), max_size=len(spans)))
    places = draw(st.lists(st.integers(-5, 5), max_size=2, unique=True))
    atoms = {unit * x: draw(st.integers(1, 4)) for x in places}
    start = draw(st.integers(-6, 3))
    breaks = [unit * (start + sum(spans[:i])) for i in range(len(spans) + 1)]
    spread = (w * (b - a) for (a, b), w in zip(pairwise(breaks), weights, strict=True))
    total = sum(spread, Fraction(0)) + sum(atoms.values())
    if not total:
        return Steps([-1, 1], ["1/2"])
    return Steps(breaks, [w / total for w in weights], {x: m / total for x, m in atoms.items()})


@st.composite
def decreasing(draw: st.DrawFn) -> Steps:
    """Random symmetric unimodal noise."""
    drops = draw(st.lists(st.integers(0, 6), min_size=1, max_size=6))
    spans = draw(st.lists(st.integers(1, 4), min_size=len(drops), max_size=len(drops)))
    heights = [sum(drops[i:]) + 1 for i in range(len(drops))]
    edges = [Fraction(sum(spans[:i]), 3) for i in range(len(spans) + 1)]
    atom = draw(st.integers(0, 5))
    pairs = zip(edges, edges[1:], heights, strict=False)
    total = 2 * sum(h * (b - a) for a, b, h in pairs) + atom
    return Steps(
        [-x for x in reversed(edges[1:])] + edges,
        [h / total for h in heights[::-1] + heights],
        {0: atom / total},
    )
