"""The contents of Section 3 of the paper: the class of noise, and the optimal noise."""

from leastnoise.paper.claim_type import Status
from leastnoise.paper.content_item import Item

_CORRECTED: Status = "holds with a correction"

THEOREMS: tuple[Item, ...] = (
    Item(
        "Property 1",
        "the cost is symmetric and non-decreasing in |x|; here the costs of the claims, at 40 "
        "sizes",
        "all(cost(-x) == cost(x) <= cost(x + Fraction(1, 8)) for cost in "
        "paper.random_checks.NAMED_COSTS for x in [Fraction(i, 8) for i in range(40)])",
        "True",
        "holds",
        "",
        ("Property 1",),
    ),
    Item(
        "Lemma 1",
        "symmetrizing preserves privacy and cost",
        "[(noise.expected(ln.l2), ln.Profile(noise, sensitivity=1).advantage) for skew in "
        "[ln.Steps([-1, 0, 2], ['1/2', '1/4'])] for noise in (skew, paper.symmetrize(skew))]",
        "[(Fraction(5, 6), Fraction(1, 2)), (Fraction(5, 6), Fraction(3, 8))]",
        _CORRECTED,
        "lemma-1",
        ("Lemma 1",),
    ),
    Item(
        "Section 3, P_sym",
        "the symmetric noise distributions",
        "[noise.is_symmetric for noise in (paper.COUNTER_EXAMPLE, ln.Steps([0, 1], [1]))]",
        "[True, False]",
        "definition",
        "lemma-1",
    ),
    Item(
        "Property 2",
        "noise is unimodal: its density is non-increasing in |x|",
        "(paper.COUNTER_EXAMPLE.is_decreasing, "
        "paper.symmetrize(ln.Steps([0, 1], [1])).is_decreasing)",
        "(False, True)",
        "holds",
        "lemma-2",
        ("Property 2",),
    ),
    Item(
        "Section 3, P_sym,mon",
        "the symmetric noise distributions that are monotonically decreasing: unimodal noise",
        "[noise.is_unimodal for noise in (ln.noise.Uniform(1), ln.noise.Gaussian(1), "
        "paper.COUNTER_EXAMPLE)]",
        "[True, True, False]",
        "definition",
        "lemma-2",
    ),
    Item(
        "Lemma 2",
        "unimodal noise has no point mass except at 0",
        "[ln.Steps([-1, 1], ['1/4'], atoms).rise() "
        "for atoms in ({-1: '1/4', 1: '1/4'}, {0: '1/2'})]",
        "['it has an atom of 0.25 at -1, away from 0: every point nearer to 0 would need one as "
        "large (GDGK19, Lemma 2)', None]",
        "holds",
        "lemma-2",
        ("Lemma 2",),
    ),
    Item(
        "Theorem 1",
        "unimodal noise is (0, δ)-private iff P([−Δ/2, Δ/2]) ≤ δ; here this probability, and the "
        "smallest δ over every shift",
        "[(noise.between(Fraction(-1, 2), Fraction(1, 2)), ln.Profile(noise, sensitivity=1)"
        ".advantage) for noise in (ln.noise.Uniform(1, '1/2'), ln.noise.Uniform(5))]",
        "[(Fraction(3, 4), Fraction(3, 4)), (Fraction(1, 10), Fraction(1, 10))]",
        "holds",
        "theorem-1",
        ("Theorem 1",),
    ),
    Item(
        "Section 3, proof of Theorem 1",
        "P(S) − P(S + d) is largest for S = [−d/2, ∞), where it is P([−d/2, d/2)); here this and "
        "the largest over every S at d = 1, for unimodal noise and noise that is not",
        "[(noise.between(Fraction(-1, 2), Fraction(1, 2)), paper.random_checks.distance(noise, "
        "Fraction(1))) for noise in (ln.noise.Uniform(1, '1/2'), "
        "ln.Steps([-1, '-1/2', '1/2', 1], ['3/4', '1/4', '3/4']))]",
        "[(Fraction(3, 4), Fraction(3, 4)), (Fraction(1, 4), Fraction(3, 4))]",
        "holds",
        "theorem-1",
        ("Theorem 1, worst set",),
    ),
    Item(
        "Section 3, P_α",
        "mass α at 0, and a constant density (δ − α)/Δ elsewhere",
        "paper.p_alpha(Fraction('0.4'), Fraction('0.8'), Fraction(1))",
        "Uniform(radius=0.75, atom=0.4)",
        "holds",
        "theorem-1",
        ("Section 3, P_α",),
    ),
    Item(
        "Figure 1",
        "P_α: its radius and its mass within Δ/2 of 0 (chart: paper.figures.draw_p_alpha().chart)",
        "{name: (noise.radius, noise.total_variation(Fraction(1))) "
        "for name, noise in paper.numbers.p_alphas().items()}",
        "{'α = 0': (Fraction(5, 8), Fraction(4, 5)), 'α = 0.3': (Fraction(7, 10), Fraction(4, 5)), "
        "'α = 0.6': (Fraction(1, 1), Fraction(4, 5))}",
        "holds",
        "theorem-1",
        ("Section 3, P_α",),
    ),
    Item(
        "Section 3, SP",
        "the unimodal noise distributions that are (0, δ)-private; here at δ = 1/2",
        "[noise.is_unimodal and ln.Profile(noise, sensitivity=1).advantage <= Fraction(1, 2) "
        "for noise in (ln.noise.Uniform(1), ln.noise.Uniform('1/2'), paper.COUNTER_EXAMPLE)]",
        "[True, False, False]",
        "definition",
        "theorem-1",
    ),
    Item(
        "Theorem 2",
        "the infimum of the cost among unimodal (0, δ)-private noise is that among the P_α; here "
        "a proved lower bound of the first, and the minimum over 75 α, for ℓ1 at δ = 0.75",
        "(ln.calibrate(ln.Privacy(delta='0.75'), sensitivity=1).certificate.lower_bound, "
        "min(paper.p_alpha(Fraction(a, 100), Fraction('0.75'), Fraction(1)).expected(ln.l1) "
        "for a in range(75)))",
        "(Fraction(1, 4), Fraction(1, 4))",
        _CORRECTED,
        "theorem-2",
        ("Theorem 2", "Theorem 2, other densities"),
    ),
    Item(
        "Figure 2",
        "noise cut into cells: E X² of Gaussian noise with σ = 1, cut into cells of width Δ/2i "
        "(chart: paper.figures.draw_discretization().chart)",
        "{i: round(float(paper.rearrange(ln.noise.Gaussian(1), ln.Privacy(delta='1/2'), "
        "sensitivity=1, cost=ln.l2, cells=i).stages[0].cost.upper), 6) for i in (1, 3, 9)}",
        "{1: 1.041665, 3: 1.004629, 9: 1.000514}",
        _CORRECTED,
        "errata",
        ("Theorem 2", "Theorem 2, other densities"),
    ),
    Item(
        "Figure 3",
        "the density beyond Δ/2 becomes one step",
        "paper.numbers.proof().stages[1].cost.upper <= paper.numbers.proof().stages[0].cost.upper",
        "True",
        "holds",
        "theorem-2",
    ),
    Item(
        "Figure 4",
        "the density within Δ/2 becomes constant, and the rest of its mass moves to 0",
        "paper.numbers.proof().stages[2].cost.upper <= paper.numbers.proof().stages[1].cost.upper",
        "True",
        "holds",
        "theorem-2",
    ),
    Item(
        "Section 3, last step of Theorem 2's proof",
        "P([−Δ/2, Δ/2]) should be exactly δ: otherwise mass moved to 0 reduces the cost; here the "
        "probability and E X² before and after, at δ = 0.6",
        "[(stage.noise.between(Fraction(-3, 2), Fraction(3, 2)), stage.cost.upper) "
        "for stage in paper.numbers.proof().stages[2:]]",
        "[(Fraction(11, 20), Fraction(27, 10)), (Fraction(3, 5), Fraction(12, 5))]",
        _CORRECTED,
        "theorem-2",
        ("Theorem 2, last step",),
    ),
    Item(
        "Algorithm 1",
        "X = B·U is distributed as P_α",
        "paper.algorithm_1(delta='0.75', sensitivity=1, alpha='0.5').noise",
        "Uniform(radius=1, atom=0.5)",
        "holds with a correction",
        "algorithm-1",
        ("Algorithm 1", "Algorithm 1, in floats"),
    ),
)
