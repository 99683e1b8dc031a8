"""Write the paper's tables, figures and claims into a folder: PNG, SVG, CSV and one page."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from leastnoise import plots
from leastnoise.core.exact import as_float, format_rounded
from leastnoise.costs import l1, l2
from leastnoise.errors import InvalidParameter
from leastnoise.files import write_text
from leastnoise.paper import numbers
from leastnoise.paper.statements import Claim, claims
from leastnoise.plots import _laws, library, styled, titled

if TYPE_CHECKING:
    from altair.typing import ChartType

    from leastnoise.paper.rearrangement import Rearrangement


def rearrangement(proof: "Rearrangement") -> "ChartType":
    """Draw the stages of the proof of Theorem 2 side by side on one scale, with their costs."""
    alt = library()
    top = max(as_float(max(stage.noise.heights)) for stage in proof.stages)
    reach = 1.08 * max(as_float(stage.noise.radius) for stage in proof.stages)
    panels = []
    for stage in proof.stages:
        label = f"{stage.name}: cost {format_rounded(stage.cost.upper, 5)}"
        panel = _laws([("", stage.noise, 0.0)], "", top=top * 1.6, reach=reach)
        title = alt.Title(label, fontSize=12, fontWeight="normal", offset=4)
        panels.append(panel.properties(width=250, height=120, title=title))
    chart = alt.concat(*panels, columns=2)
    return styled(chart.properties(title=titled("Theorem 2's proof, stage by stage", "")))


_HEAD = """# The paper, recomputed

Geng, Ding, Guo and Kumar, *Optimal Noise-Adding Mechanism in Additive Differential Privacy*,
AISTATS 2019. Everything below was computed and drawn by `leastnoise paper`; Δ = 1 unless said.

"""


def write(folder: str | Path) -> Path:
    """Write the recomputed tables, figures and claims of the paper as files.

    Args:
        folder: The folder to write to; it is created if necessary.

    Returns:
        The path of the page, ``paper.md``.

    Raises:
        InvalidParameter: If the folder cannot be created or written.
        Unsupported: If Altair is not installed.
    """
    target = Path(folder)
    if target.exists() and not target.is_dir():
        raise InvalidParameter(
            "folder must be a folder",
            got=f"the file {target.name!r}",
            fix="Use a folder, or a new name.",
        )
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidParameter(
            f"The folder {target.name!r} cannot be created ({type(error).__name__})",
            fix="Use a folder where you can write.",
        ) from error
    parts = [_HEAD, _claims_table(claims())]
    for name, title, cost in (
        ("table-1", "Table 1: noise magnitude", l1),
        ("table-2", "Table 2: noise power", l2),
    ):
        compared = numbers.table(cost)
        _write_csv(target / f"{name}.csv", compared)
        parts.append(f"## {title}\n\n{_markdown(compared)}\n")
    for name, (chart, rows, words) in _figures().items():
        for ending in (".png", ".svg"):
            plots.save(chart, target / (name + ending))
        if rows:
            _write_csv(target / f"{name}.csv", rows)
        parts.append(f"![{words}]({name}.png)\n\n{words}\n")
    page = target / "paper.md"
    write_text(page, "\n".join(parts))
    return page


def _figures() -> dict[str, tuple["ChartType", Sequence[numbers.Row], str]]:
    """Return each figure with its data and its caption."""
    ratio, discrete, both = numbers.ratios(), numbers.consistency(), numbers.readings()
    return {
        "ratio": (
            plots.curves(
                ratio,
                numbers.RATIO_LOOKS,
                x="δ",
                y="cost ratio",
                title="Optimum over Gaussian",
            ),
            ratio,
            "The paper's last figure: the optimum's cost over the Gaussian's. Dashed as the paper "
            "has it (σ = Δ/2δ, and σ for E|X|), solid against the smallest private Gaussian.",
        ),
        "p-alpha": (
            plots.laws(
                numbers.p_alphas(),
                "P_α at δ = 0.8, Δ = 1",
                "all are (0, 0.8)-private; bars: the mass at 0, not to scale",
            ),
            [],
            "P_α for three masses at the origin. The mass within half of Δ is δ for each.",
        ),
        "rearrangement": (
            rearrangement(numbers.proof()),
            [],
            "Theorem 2's proof as a program, from a staircase, for ℓ2 at δ = 0.6 and Δ = 3: no "
            "stage after the first costs more than the one before, and all are private.",
        ),
        "consistency": (
            plots.curves(
                discrete,
                numbers.CONSISTENCY_LOOKS,
                x="δ",
                y="relative excess",
                title="Discrete uniform noise above the integer optimum (ℓ1)",
                log="xy",
            ),
            discrete,
            "For integer queries of sensitivity Δ, plain discrete uniform noise tends to the "
            "optimum as δ falls: what it costs more, relative to the optimum. At δ = 1/n for even "
            "n; between them the excess has teeth, and vanishes where a uniform noise fits.",
        ),
        "readings": (
            plots.curves(
                both,
                numbers.READING_LOOKS,
                x="ε",
                y="cost ratio",
                title="Least cost of ε-privacy over that of (0, δ)",
                log="y",
            ),
            both,
            "Two readings of ε = δ: at equal numbers, and at equal distance in total variation.",
        ),
    }


def _claims_table(rows: Sequence[Claim]) -> str:
    lines = ["| | claimed | recomputed | agrees |", "|---|---|---|---|"]
    lines += [
        f"| {_cell(c.where)} | {_cell(c.claimed)} | {_cell(c.recomputed)} "
        f"| {'yes' if c.agrees else '**no**'} |"
        for c in rows
    ]
    remarks = [f"- **{c.where}.** {c.remark}" for c in rows if c.remark]
    return "\n".join([*lines, "", "Remarks:", "", *remarks, ""])


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _markdown(rows: Sequence[numbers.Row]) -> str:
    names = list(rows[0])
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(f"{row[name]:.6g}" for name in names) + " |" for row in rows]
    return "\n".join(lines)


def _write_csv(path: Path, rows: Sequence[numbers.Row]) -> None:
    lines = io.StringIO(newline="")
    writer = csv.DictWriter(lines, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    write_text(path, lines.getvalue())
