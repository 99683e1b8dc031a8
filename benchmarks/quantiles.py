"""The rank errors of released medians, compared with a textbook exponential mechanism.

442 values and 400 bins, as in docs/tables.md. The textbook mechanism selects an edge e with
probability proportional to exp(−ε·|below(e) − n/2|), because one row changes |below(e) − n/2| by
1/2. Its error is |below(e) − n/2|; ours is the rank error of the selected bin.
"""

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
import pyarrow as pa

import leastnoise as ln
from benchmarks.plan import Plan
from benchmarks.progress import say
from benchmarks.timing import Row, short

EPSILONS = ("0.2", "1")
_ROWS, _BINS, _HIGH = 442, 400, 400
# The number of medians per round of a plan.
_MEDIANS = 200


def measure(plan: Plan) -> Row:
    """Return the mean rank errors at each ε, with their standard errors, and their ratio."""
    rows = []
    for epsilon in EPSILONS:
        say(f"quantiles: ε = {epsilon}")
        medians = _MEDIANS * plan.rounds
        errors = {
            "leastnoise": _release_medians(epsilon, medians),
            "textbook": _select_edges(epsilon, medians),
        }
        rows.append(
            {
                "epsilon": epsilon,
                "medians": medians,
                "errors": {name: _mean(sample) for name, sample in errors.items()},
                "ratio": short(sum(errors["leastnoise"]) / sum(errors["textbook"])),
            }
        )
    return {"rows": rows}


def _values() -> list[float]:
    """Return normal quantiles, which are always the same values."""
    normal = NormalDist(150, 50)
    return [normal.inv_cdf((place + 0.5) / _ROWS) for place in range(_ROWS)]


def _ranks() -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Return below(e) − n/2 at all edges, the bounds included."""
    counts, _ = np.histogram(np.clip(_values(), 0, _HIGH), bins=_BINS, range=(0, _HIGH))
    return np.concatenate([[0], np.cumsum(counts)]) - _ROWS / 2


def _release_medians(epsilon: str, medians: int) -> list[float]:
    """Return the rank errors of released medians, one per group of a table."""
    table = pa.table({"value": _values() * medians, "group": np.repeat(np.arange(medians), _ROWS)})
    people = ln.protect(table, unit=None, ledger=ln.UNRECORDED)
    medians_by_group = people.median(
        "value",
        bounds=(0, _HIGH),
        bins=_BINS,
        by="group",
        groups=range(medians),
        privacy=ln.Privacy(epsilon),
    )
    ranks = _ranks()
    errors = np.maximum(0, np.maximum(ranks[:-1], -ranks[1:]))
    return [float(errors[answer.bin]) for answer in medians_by_group.answers]


def _select_edges(epsilon: str, medians: int) -> list[float]:
    """Return the rank errors of edges that the exponential mechanism selects."""
    errors = np.abs(_ranks()[:-1])
    weights = np.exp(-float(epsilon) * errors)
    chosen = np.random.default_rng().choice(errors, size=medians, p=weights / weights.sum())
    return [float(error) for error in chosen]


def _mean(errors: Sequence[float]) -> Row:
    mean = sum(errors) / len(errors)
    spread = math.sqrt(sum((error - mean) ** 2 for error in errors)) / len(errors)
    return {"mean": short(mean), "standard_error": short(spread)}
