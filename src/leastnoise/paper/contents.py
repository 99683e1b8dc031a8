"""The contents of the paper in its order, each with the call that computes or shows it.

docs/theory/from-definitions-to-calls.md shows this list, and tests evaluate every call.
"""

from dataclasses import dataclass
from typing import Literal

from leastnoise.paper.claim_type import Status


@dataclass(frozen=True)
class Item:
    """A definition, equation, statement, table or figure of the paper, and its call.

    Attributes:
        place: The place in the paper, with the number that the paper prints.
        statement: The statement, in the words of these pages.
        call: A Python expression, after the lines of :data:`IMPORTS`.
        result: The ``repr`` of its value.
        status: "definition", or the status of the claims.
        page: The page with the proof, the erratum or more on the subject, from docs/theory and
            without ".md"; "" if there is none.
        claims: The places of the claims that ``paper.claims()`` recomputes for it.
    """

    place: str
    statement: str
    call: str
    result: str
    status: Status | Literal["definition"]
    page: str = ""
    claims: tuple[str, ...] = ()


# The lines that the calls need.
IMPORTS = (
    "from fractions import Fraction",
    "import leastnoise as ln",
    "from leastnoise import paper",
    "from leastnoise.tables import census",
)
_CORRECTED: Status = "holds with a correction"

CONTENTS: tuple[Item, ...] = (
    Item(
        "Abstract, concentration",
        "the optimal noise for |x|ᵖ has a point mass at 0 if δ > p/(p+1) (also Section 1.1); here "
        "α at p = 2",
        "[ln.calibrate(ln.Privacy(delta=d), sensitivity=1, cost=ln.l2).noise.atom "
        "for d in ('0.6', '2/3', '0.7')]",
        "[Fraction(0, 1), Fraction(0, 1), Fraction(1, 10)]",
        "holds",
        "theorem-3",
        ("Abstract, concentration",),
    ),
    Item(
        "Section 1, cited mechanisms",
        "the mechanisms that the paper cites; the page has a call and the costs of each",
        "[cited.name for cited in paper.cited_mechanisms()][:4]",
        "['optimal (0, δ) noise', 'Laplace', 'Gaussian, classic', 'Gaussian, analytic']",
        "definition",
        "cited-systems",
    ),
    Item(
        "Section 1, “except with probability δ”",
        "(ε, δ) is ε-differential privacy except with probability δ; here the probability of a "
        "revealing output, which is δ for uniform noise and 0 for Gaussian noise",
        "[ln.Profile(noise, sensitivity=1).infinity_mass "
        "for noise in (ln.noise.Uniform(5), ln.noise.Gaussian(5))]",
        "[Fraction(1, 10), Fraction(0, 1)]",
        "definition",
        "cited-systems",
    ),
    Item(
        "Section 1, Gaussian noise",
        "the analytic Gaussian mechanism calibrates σ by the Gaussian distribution function",
        "ln.calibrate(ln.Privacy(1, '1e-6'), sensitivity=1, family='gaussian').noise",
        "Gaussian(sigma=≈4.22467889)",
        "definition",
        "families",
    ),
    Item(
        "Section 1, truncated Laplace noise",
        "truncated Laplace noise is asymptotically optimal in various high privacy regimes",
        "round(float(paper.truncated_laplace_ratio(Fraction('1e-4'), Fraction('1e-4'), ln.l1)), 6)",
        "1.0",
        "holds",
        "cited-systems",
        ("Section 1, truncated Laplace noise",),
    ),
    Item(
        "Footnote 1",
        "the condition that noise is unimodal can be dropped",
        "(paper.COUNTER_EXAMPLE.expected(ln.l2), "
        "ln.calibrate(ln.Privacy(delta='1/2'), sensitivity=1, cost=ln.l2).cost)",
        "(Fraction(5, 16), Fraction(1, 3))",
        "false",
        "errata",
        ("Footnote 1",),
    ),
    Item(
        "Section 1.1, ε = δ",
        "at ε = δ → 0, (0, δ) yields a higher utility than (ε, 0)",
        "[round(float(paper.numbers.staircase_cost(Fraction('1e-6'), cost) "
        "/ paper.numbers.least(Fraction('1e-6'), cost)), 6) for cost in (ln.l1, ln.l2)]",
        "[4.0, 24.0]",
        _CORRECTED,
        "errata",
        ("Contributions, ε = δ → 0 (l1)", "Contributions, ε = δ → 0 (l2)"),
    ),
    Item(
        "Section 1.1, integers",
        "discrete uniform noise is optimal at Δ = 1, and asymptotically as δ → 0 for other Δ",
        "(ln.calibrate(ln.Privacy(delta='1/5'), sensitivity=1, integer=True).noise, "
        "[round(float(paper.numbers.discrete_uniform_cost(d, Fraction('1e-4'), ln.l1) "
        "/ paper.numbers.discrete_least(d, Fraction('1e-4'), ln.l1)), 6) for d in range(2, 9)])",
        "(DiscreteUniform(step=1, radius=2, points=5), "
        "[1.00005, 1.000033, 1.000025, 1.00002, 1.000017, 1.000014, 1.000012])",
        _CORRECTED,
        "integers",
        ("Consistency, Δ = 1", "Consistency, Δ = 2 … 8"),
    ),
    Item(
        "Section 2, neighboring datasets",
        "datasets that differ in at most one element; here the largest change of a sum if one "
        "person is added or removed, or replaced",
        "[ln.protect(census(), unit='person_id', max_rows=1, neighbors=relation, "
        "ledger=ln.UNRECORDED).explain(ln.Sum('income', bounds=(-1000, 3000)), "
        "privacy=ln.Privacy(1)).to_dict()['questions'][0]['numbers'][0]['sensitivity'] "
        "for relation in ('add_remove', 'replace')]",
        "['3000', '4000']",
        "definition",
        "../units-and-bounds",
    ),
    Item(
        "Definition 1",
        "ε-differential privacy",
        "ln.Profile(ln.noise.Laplace(2), sensitivity=1).delta('0.5')",
        "Fraction(0, 1)",
        "definition",
        "profile",
    ),
    Item(
        "Equation 1",
        "the inequality of Definition 1; below ε it fails, by at most this δ",
        "[round(float(ln.Profile(ln.noise.Laplace(2), sensitivity=1).delta(e)), 6) "
        "for e in ('0.25', '0.49', '0.5')]",
        "[0.117503, 0.004988, 0.0]",
        "definition",
        "profile",
    ),
    Item(
        "Definition 2",
        "the sensitivity Δ of a query",
        "ln.protect(census(), unit='person_id', max_rows=1, ledger=ln.UNRECORDED)"
        ".explain(ln.Sum('income', bounds=(0, 150_000)), privacy=ln.Privacy(1))"
        ".to_dict()['questions'][0]['numbers'][0]['sensitivity']",
        "'150000'",
        "definition",
        "../sensitivity",
    ),
    Item(
        "Definition 3",
        "(ε, δ)-differential privacy",
        "ln.Profile(ln.noise.Uniform(5), sensitivity=1).delta('0.5')",
        "Fraction(1, 10)",
        "definition",
        "profile",
    ),
    Item(
        "Equation 2",
        "the inequality at ε = 0: δ bounds the additive distance",
        "ln.Profile(ln.noise.Uniform(5), sensitivity=1).advantage",
        "Fraction(1, 10)",
        "definition",
        "profile",
    ),
    Item(
        "Equation 3",
        "the mechanism adds noise that does not depend on the true answer",
        "ln.calibrate(ln.Privacy(delta='0.1'), sensitivity=1, integer=True).release(42).max_error",
        "Fraction(5, 1)",
        "definition",
        "rounding",
    ),
    Item(
        "Equation 4",
        "P(S) ≤ P(S + d) + δ for every S and every shift |d| ≤ Δ",
        "ln.Profile(paper.COUNTER_EXAMPLE, sensitivity=1).advantage",
        "Fraction(1, 2)",
        "holds",
        "profile",
        ("Equations 4 and 7",),
    ),
    Item(
        "Equation 5",
        "the expected cost of noise",
        "ln.noise.Uniform(5).expected(ln.l2)",
        "Fraction(25, 3)",
        "definition",
    ),
    Item(
        "Equation 6",
        "minimize the expected cost",
        "ln.calibrate(ln.Privacy(delta='0.1'), sensitivity=1, cost=ln.l2).cost",
        "Fraction(25, 3)",
        "definition",
        "theorem-2",
    ),
    Item(
        "Equation 7",
        "the constraint |P(S) − P(S + d)| ≤ δ, the same as Equation 4",
        "[ln.Profile(ln.Steps(*noise), sensitivity=1).advantage for noise in "
        "(([-1, 0, 2], ['1/2', '1/4']), ([-2, 0, 1], ['1/4', '1/2']))]",
        "[Fraction(1, 2), Fraction(1, 2)]",
        "holds",
        "profile",
        ("Equations 4 and 7",),
    ),
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
    Item(
        "Section 4, V(P)",
        "the expected cost",
        "ln.noise.Uniform(1, '1/2').expected(ln.l1)",
        "Fraction(1, 4)",
        "definition",
    ),
    Item(
        "Theorem 3",
        "the optimal α and the minimum cost for |x|ᵖ; here at p = 3, δ = 0.5 and 0.9",
        "[(found.noise, found.cost) for d in ('0.5', '0.9') for found in "
        "[ln.calibrate(ln.Privacy(delta=d), sensitivity=1, cost=ln.lp(3))]]",
        "[(Uniform(radius=1, atom=0), Fraction(1, 4)), "
        "(Uniform(radius=2/3, atom=0.6), Fraction(4, 135))]",
        _CORRECTED,
        "theorem-3",
        tuple(f"Theorem 3, p = {p}" for p in ("1/3", "1/2", "1", "3/2", "2", "3", "4")),
    ),
    Item(
        "Section 4, V(P_α)",
        "the cost of P_α as a function of α, which the proof of Theorem 3 minimizes",
        "[ln.noise.Uniform(delta='0.8', sensitivity=1, atom=alpha).expected(ln.l2) "
        "for alpha in ('0.3', '0.4', '0.5')]",
        "[Fraction(343, 3000), Fraction(9, 80), Fraction(25, 216)]",
        "definition",
        "theorem-3",
    ),
    Item(
        "Section 4, f(α)",
        "f(α) = (1−α)ᵖ⁺¹/(δ−α)ᵖ, so V(P_α) = Δᵖ·f(α)/((p+1)2ᵖ); here at p = 2 and δ = 0.8",
        "[paper.numbers.f(Fraction(a, 10), Fraction('0.8'), 2) for a in (3, 4, 5)]",
        "[Fraction(343, 250), Fraction(27, 20), Fraction(25, 18)]",
        "definition",
        "theorem-3",
    ),
    Item(
        "Section 4, f′(α)",
        "f′(α) = (1−α)ᵖ(α − (p+1)δ + p)/(δ−α)ᵖ⁺¹, which is 0 at α = (p+1)δ − p; here at p = 2 and "
        "δ = 0.8",
        "[paper.numbers.f_slope(Fraction(a, 10), Fraction('0.8'), 2) for a in (3, 4, 5)]",
        "[Fraction(-49, 125), Fraction(0, 1), Fraction(25, 27)]",
        "definition",
        "theorem-3",
    ),
    Item(
        "Equation 8",
        "δᵖ(1−δ) ≤ pᵖ/(p+1)ᵖ⁺¹; here the right side minus the left one, at p = 2",
        "[Fraction(4, 27) - d**2 * (1 - d) for d in map(Fraction, ('1/2', '2/3', '3/4'))]",
        "[Fraction(5, 216), Fraction(0, 1), Fraction(13, 1728)]",
        "holds",
        "theorem-3",
        ("Equation 8",),
    ),
    Item(
        "Corollary 4",
        "ℓ1: α* = max(0, 2δ − 1)",
        "ln.calibrate(ln.Privacy(delta='0.8'), sensitivity=1).noise",
        "Uniform(radius=1, atom=0.6)",
        _CORRECTED,
        "errata",
        ("Corollary 4 (ℓ1)",),
    ),
    Item(
        "Equation 9",
        "ℓ1: Δ/4δ for δ ≤ 1/2, else (1−δ)Δ",
        "[ln.calibrate(ln.Privacy(delta=d), sensitivity=1).cost for d in ('0.1', '0.8')]",
        "[Fraction(5, 2), Fraction(1, 5)]",
        _CORRECTED,
        "errata",
        ("Corollary 4 (ℓ1)",),
    ),
    Item(
        "Corollary 5",
        "ℓ2: α* = max(0, 3δ − 2)",
        "ln.calibrate(ln.Privacy(delta='0.8'), sensitivity=1, cost=ln.l2).noise",
        "Uniform(radius=0.75, atom=0.4)",
        _CORRECTED,
        "errata",
        ("Corollary 5 (ℓ2)",),
    ),
    Item(
        "Equation 10",
        "ℓ2: Δ²/12δ² for δ ≤ 2/3, else (9/16)(1−δ)Δ²",
        "[ln.calibrate(ln.Privacy(delta=d), sensitivity=1, cost=ln.l2).cost "
        "for d in ('0.1', '0.8')]",
        "[Fraction(25, 3), Fraction(9, 80)]",
        _CORRECTED,
        "errata",
        ("Corollary 5 (ℓ2)",),
    ),
    Item(
        "Section 5, classic Gaussian noise",
        "σ = (Δ/ε)√(2 log(1.25/δ)) satisfies (ε, δ) for ε and δ between 0 and 1",
        "ln.calibrate(ln.Privacy('0.5', '0.01'), sensitivity=1, family='classic_gaussian').noise",
        "Gaussian(sigma=≈6.21502292)",
        "holds",
        "families",
        ("Section 5, classic Gaussian noise",),
    ),
    Item(
        "Section 5, ε = 0",
        "classic Gaussian noise does not apply to (0, δ): its σ would be infinite; here σ at "
        "δ = 0.1",
        "[round(float(ln.calibrate(ln.Privacy(epsilon, '0.1'), sensitivity=1, "
        "family='classic_gaussian').noise.sigma), 2) for epsilon in ('0.1', '0.001', '0.00001')]",
        "[22.48, 2247.54, 224754.47]",
        "holds",
        "families",
        ("Section 5, ε = 0",),
    ),
    Item(
        "Theorem 6",
        "Gaussian noise with σ = Δ/2δ is (0, δ)-private; here its distance at δ = 0.1",
        "round(float(ln.Profile(ln.noise.Gaussian(5), sensitivity=1).advantage), 6)",
        "0.079656",
        "holds",
        "errata",
        ("Theorem 6",),
    ),
    Item(
        "Section 5, amplitude",
        "E|X| of Gaussian noise is σ",
        "round(float(ln.noise.Gaussian(1).expected(ln.l1)), 6)",
        "0.797885",
        "false",
        "errata",
        ("Section 5, amplitude",),
    ),
    Item(
        "Section 5, power",
        "E X² of Gaussian noise is σ², which is Δ²/4δ² for σ = Δ/2δ; here at δ = 0.1",
        "ln.noise.Gaussian(5).expected(ln.l2) == 1 / (4 * Fraction('0.1')**2)",
        "True",
        "holds",
    ),
    Item(
        "Table 1",
        "E|X|: Gaussian noise and the optimum, a gain of 2 as δ → 0",
        "[round(paper.numbers.table(ln.l1)[0][gain], 3) for gain in "
        "('gain as stated', 'gain, true E|X|', 'gain over the tight one')]",
        "[2.0, 1.596, 1.273]",
        "false",
        "errata",
        ("Table 1, δ → 0 (l1)",),
    ),
    Item(
        "Table 2",
        "E X²: Gaussian noise and the optimum, a gain of 3 as δ → 0",
        "[round(paper.numbers.table(ln.l2)[0][gain], 3) for gain in "
        "('gain as stated', 'gain over the tight one')]",
        "[3.0, 1.91]",
        _CORRECTED,
        "errata",
        ("Table 2, δ → 0 (l2)",),
    ),
    Item(
        "Section 5, δ → 1 (ℓ1)",
        "E|X| of Gaussian noise tends to Δ/2; here with σ = Δ/2δ and with the smallest σ",
        "[round(float(paper.numbers.gaussian_cost(sigma(Fraction('0.999999')), ln.l1)), 3) "
        "for sigma in (paper.numbers.papers_sigma, paper.numbers.tight_sigma)]",
        "[0.399, 0.082]",
        "false",
        "errata",
        ("Section 5, δ → 1 (l1)",),
    ),
    Item(
        "Section 5, δ → 1 (ℓ2)",
        "E X² of Gaussian noise tends to Δ²/4; here with σ = Δ/2δ and with the smallest σ",
        "[round(float(paper.numbers.gaussian_cost(sigma(Fraction('0.999999')), ln.l2)), 3) "
        "for sigma in (paper.numbers.papers_sigma, paper.numbers.tight_sigma)]",
        "[0.25, 0.01]",
        _CORRECTED,
        "errata",
        ("Section 5, δ → 1 (l2)",),
    ),
    Item(
        "Section 5, δ → 1, optimal noise",
        "the cost of the optimal noise tends to 0 in proportion to 1 − δ; here cost/(1 − δ)",
        "[[paper.numbers.least(d, cost) / (1 - d) for d in map(Fraction, ('0.8', '0.99', "
        "'0.999999'))] for cost in (ln.l1, ln.l2)]",
        "[[Fraction(1, 1), Fraction(1, 1), Fraction(1, 1)], "
        "[Fraction(9, 16), Fraction(9, 16), Fraction(9, 16)]]",
        "holds",
        "theorem-3",
        ("Section 5, δ → 1, optimal noise",),
    ),
    Item(
        "Section 5, low privacy regime",
        "the gain is more pronounced in the low privacy regime (also the abstract and Section "
        "1.1); here over the smallest σ, at δ = 0.001, 0.5, 0.8 and 0.99",
        "[[round(row['gain over the tight one'], 3) for row in paper.numbers.table(cost) "
        "if row['δ'] in (0.001, 0.5, 0.8, 0.99)] for cost in (ln.l1, ln.l2)]",
        "[[1.273, 1.183, 1.556, 15.488], [1.91, 1.649, 1.353, 6.699]]",
        _CORRECTED,
        "errata",
        ("Section 5, low privacy regime",),
    ),
    Item(
        "Figure 5",
        "the cost of the optimum over that of Gaussian noise; false for the magnitude, and for the "
        "power right with σ = Δ/2δ",
        "{row['curve']: round(row['value'], 3) for row in paper.numbers.ratios() "
        "if row['δ'] == 0.5}",
        "{'magnitude, as the paper has it': 0.5, 'magnitude, σ = Δ/2δ': 0.627, "
        "'magnitude, tight Gaussian': 0.845, "
        "'power, as the paper has it': 0.333, 'power, tight Gaussian': 0.607}",
        "false",
        "errata",
        ("Table 1, δ → 0 (l1)", "Table 2, δ → 0 (l2)"),
    ),
)
