"""The contents of Sections 4 and 5 of the paper: costs, and the comparison with Gaussian noise."""

from leastnoise.paper.claim_type import Status
from leastnoise.paper.content_item import Item

_CORRECTED: Status = "holds with a correction"

COSTS: tuple[Item, ...] = (
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
