"""Write the tables of results.md, and those between the marks of other documents."""

import re

from benchmarks.tables import make_table
from benchmarks.timing import Row

_MARKED = re.compile(r"(?s)<!-- bench: (\w+) -->\n.*?\n<!-- bench end -->")

SECTIONS = {
    "Benchmark targets": ("targets",),
    "Sampling arrays, time per value": ("draws_bulk",),
    "Releasing a single number": ("draws_single",),
    "Sampling times with quartiles": ("draws_rounds", "draws_omitted"),
    "Accuracy, as multiples of the proved lower bound": ("accuracy", "accuracy_omitted"),
    "Closed forms, comparisons and compositions": ("calibrations",),
    "Certified solves": ("solves",),
    "Starting": ("starting",),
    "Installing": ("installing",),
    "Growth with the number of samples": ("growth_n",),
    "Growth with 1/δ": ("growth_delta",),
    "Growth with m": ("growth_m",),
    "Ledgers": ("ledgers",),
    "Tables": ("querying", "querying_growth"),
    "Quantiles": ("quantiles",),
    "Many answers": ("many_counts", "many_groups"),
    "Joint noise": ("joint_errors", "joint_times"),
}


def results_page(results: Row) -> str:
    """Return results.md."""
    parts = ["# Results of `python3 go bench`", make_table("machine", results)]
    parts.append(
        "Generated from results.json, which contains every round. "
        "[docs/performance.md](../docs/performance.md) explains what is measured and how."
    )
    for title, names in SECTIONS.items():
        parts += [f"## {title}", *(make_table(name, results) for name in names)]
    return "\n\n".join(parts) + "\n"


def fill_marks(text: str, results: Row) -> str:
    """Return a document with the tables between its marks replaced."""

    def replace(mark: re.Match[str]) -> str:
        name = mark[1]
        return f"<!-- bench: {name} -->\n\n{make_table(name, results)}\n\n<!-- bench end -->"

    return _MARKED.sub(replace, text)


def find_marks(text: str) -> list[str]:
    """Return the names of the tables that a document marks."""
    return _MARKED.findall(text)
