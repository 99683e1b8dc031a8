"""Results as tables. The same results always give the same text."""

from collections.abc import Callable

from benchmarks.tables import calls, noise, releases, run
from benchmarks.timing import Row


def make_table(name: str, results: Row) -> str:
    """Return one table by its name."""
    part, maker = TABLES[name]
    if part and part not in results["parts"]:
        return f"Not measured in this run ({part})."
    shown = maker(results["parts"][part] if part else results)
    later = results.get("updated", {}).get(part)
    return shown if later is None else f"{shown}\n\n{run.machine(later)}"


# For each table, the part of the results that it shows (all parts if empty), and its function.
TABLES: dict[str, tuple[str, Callable[[Row], str]]] = {
    "machine": ("", run.machine),
    "targets": ("", run.targets),
    "draws_bulk": ("draws", noise.draws_bulk),
    "draws_single": ("draws", noise.draws_single),
    "draws_short": ("draws", noise.draws_short),
    "draws_rounds": ("draws", noise.draws_rounds),
    "draws_omitted": ("draws", noise.draws_omitted),
    "accuracy": ("accuracy", noise.accuracy),
    "accuracy_short": ("accuracy", noise.accuracy_short),
    "accuracy_omitted": ("accuracy", noise.accuracy_omitted),
    "calibrations": ("calibrations", calls.calibrations),
    "solves": ("solves", calls.solves),
    "starting": ("starting", calls.starting),
    "installing": ("installing", calls.installing),
    "growth_n": ("growth", calls.growth_n),
    "growth_delta": ("growth", calls.growth_delta),
    "growth_m": ("growth", calls.growth_m),
    "ledgers": ("ledgers", releases.ledgers),
    "querying": ("querying", releases.querying),
    "querying_growth": ("querying", releases.querying_growth),
    "quantiles": ("quantiles", releases.quantiles),
    "many_counts": ("many_answers", releases.many_counts),
    "many_groups": ("many_answers", releases.many_groups),
    "joint_errors": ("joint", releases.joint_errors),
    "joint_times": ("joint", releases.joint_times),
}
