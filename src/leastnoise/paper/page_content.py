"""The content of the page of the paper: its sections, in the order of the paper."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from leastnoise.core.exact import format_up
from leastnoise.costs import Cost, l1, l2
from leastnoise.paper import figures, numbers
from leastnoise.paper.cited import (
    PATHS,
    cited_mechanisms,
    truncated_laplace_chart,
    truncated_laplace_ratios,
)
from leastnoise.paper.claim_type import Claim, Status
from leastnoise.paper.content_item import IMPORTS
from leastnoise.paper.contents import CONTENTS
from leastnoise.paper.float_noise import FORMULAS, algorithm_1
from leastnoise.paper.proofs import PROOFS, read_proof
from leastnoise.paper.sections import Badge, Code, Figure, Items, Proof, Section, Table
from leastnoise.paper.statements import claims
from leastnoise.rendering import Progress

TITLE = "The paper, recomputed"
REFERENCE = (
    "Geng, Ding, Guo and Kumar, “Optimal Noise-Adding Mechanism in Additive Differential "
    "Privacy”, AISTATS 2019"
)
_BADGES: dict[Status, Badge] = {
    "holds": Badge("holds", "good"),
    "holds with a correction": Badge("holds with a correction", "corrected"),
    "false": Badge("false", "bad"),
}


def sections() -> list[Section]:
    """Recompute the paper and return the sections of the page.

    To add a table or figure, add a block to a section; to add a topic, add a section.
    """
    parts = {
        "checking the claims": _summarize,
        "listing the claims": _list_claims,
        "drawing the distribution P_α": _show_p_alpha,
        "drawing the proof of Theorem 2": _show_proof,
        "running Algorithm 1": _run_algorithm_1,
        "comparing with Gaussian noise": _compare_with_gaussian,
        "comparing with other noise": _compare_further,
        "comparing with the systems that the paper cites": _compare_cited,
        "listing the calls": _list_calls,
        "listing the remarks": _list_remarks,
        "adding the proofs": _add_proofs,
    }
    content = []
    with Progress() as report:
        for step, part in parts.items():
            report(step)
            content.append(part())
    return content


def count_by_status(recomputed: Sequence[Claim]) -> str:
    """Return how many claims there are of each status, as a sentence without a period."""
    counts = Counter(claim.status for claim in recomputed)
    return (
        f"{len(recomputed)} claims recomputed: {counts['holds']} hold, "
        f"{counts['holds with a correction']} hold with a correction, {counts['false']} are false"
    )


def _summarize() -> Section:
    return Section(
        "result",
        "Result",
        [
            f"{count_by_status(claims())}.",
            "This page recomputes the claims, tables and figures of the paper. Its subject is the "
            "noise of minimal expected cost that satisfies (0, δ)-differential privacy for a "
            "real-valued query of sensitivity Δ. The optimum is among symmetric unimodal noise: "
            "its density never rises with the distance from 0. The paper calls it decreasing.",
            "Probabilities and costs are computed in rational numbers, or enclosed between two of "
            "them. Δ = 1 unless another value is given. E|X| is the noise magnitude (ℓ1), and "
            "E X² the noise power (ℓ2).",
        ],
    )


def _list_claims() -> Section:
    rows = [
        (claim.where, claim.claimed, claim.recomputed, _BADGES[claim.status], claim.evidence)
        for claim in claims()
    ]
    header = ("place", "claimed", "recomputed", "status", "evidence")
    table = Table("claims", "The claims, in the order of the paper", header, rows, is_wide=True)
    return Section(
        "claims",
        "Claims",
        [
            "“Proved” links to the proof. “No counterexample in N” "
            "means that N inputs were checked. The section Remarks explains each claim that is "
            "false or needs a correction.",
            table,
        ],
    )


def _show_p_alpha() -> Section:
    return Section("p-alpha", "Section 3: the distribution P_α", [figures.draw_p_alpha()])


def _show_proof() -> Section:
    return Section(
        "theorem-2",
        "Section 3: the proof of Theorem 2",
        [
            "Theorem 2: among symmetric unimodal (0, δ)-private noise, no noise costs less than "
            "the best P_α. The proof cuts a density into cells and rearranges it three times. "
            "The figures show each stage, computed from the noise that is named.",
            figures.draw_discretization(),
            *figures.draw_steps(numbers.proof(), Fraction(3, 2)),
            figures.draw_proof(numbers.smooth_proofs()["Gaussian"], "Gaussian", Fraction(1, 2)),
        ],
    )


def _run_algorithm_1() -> Section:
    """Show Algorithm 1 in real numbers, in floats, and as leastnoise samples it."""
    rows: list[tuple[str, ...]] = []
    data: list[numbers.Row] = []
    for delta in (Fraction(1, 100), Fraction(1, 10), Fraction(3, 10)):
        algorithm = algorithm_1(delta, 1)
        distances = {formula: algorithm.float_distance(formula) for formula in FORMULAS}
        lattice = format_up(algorithm.lattice_distance, 4)
        bounds = [
            f"{measured.estimate:.2f}, at least {measured.lower_bound:.2f}"
            for measured in distances.values()
        ]
        exact = format_up(algorithm.exact_distance, 4)
        rows.append((format_up(delta), exact, *bounds, lattice))
        data.append(
            {
                "δ": float(delta),
                "real numbers": float(algorithm.exact_distance),
                **{
                    f"{formula}, {kind}": getattr(measured, name)
                    for formula, measured in distances.items()
                    for kind, name in (("estimate", "estimate"), ("at least", "lower_bound"))
                },
                "leastnoise": float(algorithm.lattice_distance),
            }
        )
    samples, alarm = distances[FORMULAS[0]].samples, distances[FORMULAS[0]].false_alarm
    header = ("δ", "real numbers", *(f"floats, U = {formula}" for formula in FORMULAS))
    return Section(
        "algorithm-1",
        "Section 3: Algorithm 1",
        [
            "Algorithm 1 samples X = B·U. B is 0 with probability α and 1 otherwise. U is uniform "
            "on [−w, w] with w = (1−α)Δ/(2(δ−α)), computed from a random r in [0, 1). In real "
            "numbers X is distributed as P_α.",
            Code(
                (
                    "from leastnoise import paper",
                    "algorithm = paper.algorithm_1(delta='0.75', sensitivity=1, alpha='0.5')",
                    f"algorithm.noise             # {algorithm_1('0.75', 1, '0.5').noise!r}",
                    "algorithm.product(1, '0.75')  # X for B = 1 and r = 0.75: "
                    f"{algorithm_1('0.75', 1, '0.5').product(1, '0.75')}",
                    "algorithm.float_distance()  # how much its outputs reveal in floats",
                    "algorithm.mechanism         # what leastnoise samples instead",
                )
            ),
            "In floating-point numbers it is not private. Floats represent only some results, and "
            "the true value decides which. So an output can reveal the true value, whatever δ is.",
            Table(
                "algorithm-1-distances",
                "Distance between the outputs for the true values 0 and Δ = 1, at α = 0; "
                "(0, δ) allows δ",
                (*header, "leastnoise"),
                rows,
                data,
            ),
            f"The estimates are from {samples} outputs. Each lower bound is wrong with probability "
            f"at most {alarm:g}. The other distances are exact.",
            "leastnoise samples P_α on a lattice instead: one uniform integer decides between the "
            "point mass at 0 and the multiples of a small step. Answers are rounded to the same "
            "lattice before noise is added. So the outputs for all true values have the same "
            "spacing, and the guarantee is verified in integers (docs/theory/algorithm-1.md). One "
            "integer decides both parts, so the time of a release does not reveal B.",
        ],
    )


def _add_proofs() -> Section:
    return Section(
        "proofs",
        "Proofs",
        [
            "The pages of the documentation that the claims name, without their figures.",
            *(Proof(name, read_proof(name)) for name in PROOFS),
        ],
    )


def _compare_with_gaussian() -> Section:
    return Section(
        "gaussian",
        "Section 5: comparison with Gaussian noise",
        [
            "The paper compares with Gaussian noise of σ = Δ/2δ, which is private but wider than "
            "necessary. The smallest private σ is Δ/(2Φ⁻¹((1+δ)/2)); noise with this σ is called "
            "tight. Φ is the standard normal distribution function.",
            _formulas("table-1-formulas", "Table 1: noise magnitude, E|X|", _MAGNITUDE),
            _costs("table-1", "Table 1 at a few δ: E|X| for Δ = 1", l1),
            _formulas("table-2-formulas", "Table 2: noise power, E X²", _POWER),
            _costs("table-2", "Table 2 at a few δ: E X² for Δ = 1", l2),
            figures.draw_ratios(),
        ],
    )


def _compare_further() -> Section:
    return Section(
        "further",
        "Further figures: integer queries and ε-privacy",
        [figures.draw_consistency(), figures.draw_readings()],
    )


def _compare_cited() -> Section:
    data = truncated_laplace_ratios()
    rows = [
        (
            cited.name,
            cited.source,
            str(cited.privacy),
            cited.answers,
            cited.call,
            format_up(cited.amplitude),
            "" if cited.power is None else format_up(cited.power),
        )
        for cited in cited_mechanisms()
    ]
    header = ("mechanism", "source", "guarantee", "answers", "call", "E|X|", "E X²")
    return Section(
        "cited",
        "Cited systems",
        [
            "The mechanisms that the paper cites, each with the call that returns its cost at "
            "Δ = 1. Costs are rounded up. The paper also cites applications that use such noise, "
            "from logistic regression to deep learning and principal components. They have no "
            "rows, except for the binomial noise of cpSGD. The calls need these lines:",
            Code((*IMPORTS, "from leastnoise.mechanism import calibrate_pair", "cost = ln.l1")),
            Table("cited", "Mechanisms that the paper cites", header, rows, is_wide=True),
            "Truncated Laplace noise is asymptotically optimal as ε and δ tend to 0, among noise "
            "of any shape (docs/theory/cited-systems.md has a proof). The next table and figure "
            "recompute it along three paths.",
            _tabulate_truncated_laplace(),
            Figure(
                "truncated-laplace",
                "Truncated Laplace noise",
                truncated_laplace_chart(),
                "By how much truncated Laplace noise costs more than a proved lower bound for all "
                "noise, relative to the bound, along three paths (ε, δ) → (0, 0). The excess tends "
                "to 0 on each: truncated Laplace noise is asymptotically optimal, as its authors "
                "state. The kinks are those of the lower bound.",
                "Curves of relative excess costs that fall to 0 as ε and δ tend to 0.",
                data,
            ),
        ],
    )


def _tabulate_truncated_laplace() -> Table:
    """Return the ratios of the figure at some ε, in the order of the paths."""
    ratios = {(row["curve"], row["ε"]): row for row in truncated_laplace_ratios()}
    places = sorted({float(epsilon) for _, epsilon in ratios}, reverse=True)[::2]
    rows, data = [], []
    for path in PATHS:
        for epsilon in places:
            ell_1, ell_2 = (ratios[f"{name}, {path}", epsilon] for name in ("ℓ1", "ℓ2"))
            values = {
                "path": path,
                "ε": epsilon,
                "δ": ell_1["δ"],
                "E|X|": 1 + float(ell_1["value"]),
                "E X²": 1 + float(ell_2["value"]),
            }
            data.append(values)
            rows.append(
                [path, *(f"{values[name]:.4g}" for name in ("ε", "δ"))]
                + [f"{values[name]:.8f}" for name in ("E|X|", "E X²")]
            )
    title = "Cost of truncated Laplace noise divided by a lower bound for noise of any shape"
    return Table("truncated-laplace-ratios", title, list(data[0]), rows, data, is_numeric=True)


def _list_calls() -> Section:
    rows = [(item.place, item.statement, item.call, item.result, item.status) for item in CONTENTS]
    header = ("place", "statement", "call", "result", "status")
    return Section(
        "calls",
        "From definitions to calls",
        [
            "Every definition, equation, result, table and figure of the paper, with the call that "
            "computes or shows it, and the result of the call. The calls need these imports:",
            Code(IMPORTS),
            Table("calls", "The contents of the paper as calls", header, rows, is_wide=True),
        ],
    )


def _list_remarks() -> Section:
    remarks = [(f"{c.where} ({c.status})", c.remark) for c in claims() if c.remark]
    text = "The page docs/theory/errata.md has the details."
    return Section("remarks", "Remarks and errata", [Items(remarks), text])


_MAGNITUDE = (
    ("Gaussian, σ = Δ/2δ", "Δ/2δ", "√(2/π)·Δ/2δ"),
    ("tight Gaussian", "not in the paper", "√(2/π)·Δ/(2Φ⁻¹((1+δ)/2))"),
    ("optimal, δ ≤ 1/2", "Δ/4δ", "Δ/4δ"),
    ("optimal, δ > 1/2", "(1−δ)Δ", "(1−δ)Δ"),
)
_POWER = (
    ("Gaussian, σ = Δ/2δ", "Δ²/4δ²", "Δ²/4δ²"),
    ("tight Gaussian", "not in the paper", "Δ²/(2Φ⁻¹((1+δ)/2))²"),
    ("optimal, δ ≤ 2/3", "Δ²/12δ²", "Δ²/12δ²"),
    ("optimal, δ > 2/3", "(9/16)(1−δ)Δ²", "(9/16)(1−δ)Δ²"),
)


def _formulas(name: str, title: str, rows: Sequence[tuple[str, str, str]]) -> Table:
    return Table(name, title, ("noise", "in the paper", "recomputed"), rows)


def _costs(name: str, title: str, cost: Cost) -> Table:
    data = numbers.table(cost)
    header = list(data[0])
    rows = [[f"{row[column]:.6g}" for column in header] for row in data]
    return Table(name, title, header, rows, data, is_numeric=True)
