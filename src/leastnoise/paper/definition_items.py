"""The contents of Sections 1 and 2 of the paper: the introduction and the problem."""

from leastnoise.paper.claim_type import Status
from leastnoise.paper.content_item import Item

_CORRECTED: Status = "holds with a correction"

DEFINITIONS: tuple[Item, ...] = (
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
)
