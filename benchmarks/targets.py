"""The benchmark targets, and whether the results meet them."""

from collections.abc import Iterator
from typing import Any

from benchmarks.timing import Row

# Arrays: the time as a multiple of numpy's for the most similar noise that it has.
TIMES_NUMPY = {
    "uniform": 1.0,
    "steps": 3.0,
    "staircase": 5.0,
    "laplace": 5.0,
    "truncated_laplace": 5.0,
    "gaussian": 5.0,
}
SINGLE_RELEASE = 6e-6
CLOSED, COMPARE, COMPOSE, SOLVE = 1e-3, 0.2, 1.0, 1.0
IMPORT, COMMAND, TABLE_COMMAND = 0.1, 0.3, 1.0
TIMES_FSYNC, OPENING, VERIFYING = 2.0, 0.2, 10.0
TIMES_SQL, TIMES_BOUNDED, TIMES_MEMORY, TIMES_OPENDP = 1.5, 1.2, 1.3, 1.0
TIMES_CHOOSING = 1.3
DISCRETIZED_ABOVE = 1e-3
TIMES_TEXTBOOK = 1.05
TIMES_PEER_ERROR, JOINT_SAMPLE, TIMES_NUMPY_JOINT = 1.0, 20e-6, 3.0
TIMES_OPENDP_ERROR, TIMES_PREVIOUS_ERROR, TIMES_PLAIN_RELEASE = 1.0, 1.02, 1.2
# The memory beyond the result, for any length.
MEGABYTES = 32.0
_LONG = 10**6


def compare_with_targets(parts: Row) -> list[Row]:
    """Return each target of the measured parts: its name, the result, the limit, whether met."""
    targets: list[Row] = []
    for name, find_targets in _PARTS.items():
        if name in parts:
            targets += [
                {"name": target, "measured": number, "limit": limit, "unit": unit}
                for target, number, limit, unit in find_targets(parts[name])
            ]
    return [target | {"met": target["measured"] <= target["limit"]} for target in targets]


# The name, the result, the limit and the unit.
Target = tuple[str, float, float, str]


def _draws(part: Row) -> Iterator[Target]:
    for row in part["rows"]:
        family = row["family"]
        if row["mode"] == "single":
            yield (
                f"release of one number, {family}",
                _median(row, "leastnoise"),
                SINGLE_RELEASE,
                "s",
            )
        elif family in TIMES_NUMPY:
            times = row["ratios"]["numpy"]["median"]
            yield f"array, {family}", times, TIMES_NUMPY[family], f"× numpy's {row['like']}"


def _calibrations(part: Row) -> Iterator[Target]:
    for name in part["seconds"]:
        for start, limit in (("calibrate, l", CLOSED), ("compare", COMPARE), ("compose", COMPOSE)):
            if name.startswith(start):
                yield name, _median(part, name), limit, "s"
    for cost, above in part["discretized_above"].items():
        yield (
            f"relative cost of discretized above continuous noise, {cost}",
            above,
            DISCRETIZED_ABOVE,
            "",
        )


def _solves(part: Row) -> Iterator[Target]:
    yield "certified solve, median", part["seconds"]["median"], SOLVE, "s"


def _starting(part: Row) -> Iterator[Target]:
    ours = part["minus_bare"]["import leastnoise"]["median"]
    yield "import leastnoise, minus bare Python", ours, IMPORT, "s"
    yield "leastnoise calibrate, whole command", _median(part, "leastnoise calibrate"), COMMAND, "s"
    counting = "leastnoise count"
    if counting in part["seconds"]:
        yield f"{counting}, whole command", _median(part, counting), TABLE_COMMAND, "s"


def _growth(part: Row) -> Iterator[Target]:
    rows = part["n"]["rows"]
    most = max(row["n"] for row in rows)
    if most >= _LONG:
        above = max(row["above_mb"] for row in rows if row["n"] == most)
        yield f"memory beyond the result, {most:,} samples", above, MEGABYTES, "MB"


def _ledgers(part: Row) -> Iterator[Target]:
    times = part["ratios"]["charge"]["median"]
    yield "charge in a ledger", times, TIMES_FSYNC, "× fsync"
    many = f"ledger of {part['rows']:,} rows"
    yield f"{many}, opening", part["opening"]["median"], OPENING, "s"
    yield f"{many}, verifying", part["verifying"]["median"], VERIFYING, "s"
    if "allocated" in part:
        own = part["allocated"]
        many = f"ledger of {own['rows']:,} rows and {own['allocations']} allocations"
        yield f"{many}, opening in a new process", own["opening"]["median"], OPENING, "s"
        few = f"ledger of {own['allocations']} allocations"
        name = f"{few}, opening and reading one in a new process"
        yield name, own["reading"]["median"], OPENING, "s"


def _querying(part: Row) -> Iterator[Target]:
    if part["rows"] < _LONG:
        return
    limits = {"by_row": TIMES_SQL, "by_unit": TIMES_BOUNDED, "choosing": TIMES_CHOOSING}
    for unit, limit in limits.items():
        if unit not in part:  # results of version 0.5.0
            continue
        own = part[unit]
        ours, sql = own["ours"], own["sql"]
        yield ours, own["times_sql"][ours]["median"], limit, f"× {sql}"
        megabytes = part["megabytes"][ours] / part["megabytes"][sql]
        yield f"{ours}, memory", megabytes, TIMES_MEMORY, f"× {sql}"
        if "times_opendp" in own:
            yield ours, own["times_opendp"]["median"], TIMES_OPENDP, "× opendp with Polars"


def _quantiles(part: Row) -> Iterator[Target]:
    for row in part["rows"]:
        name = f"mean rank error of a median, ε = {row['epsilon']}"
        yield name, row["ratio"], TIMES_TEXTBOOK, "× a textbook exponential mechanism"


def _many_answers(part: Row) -> Iterator[Target]:
    for row in part["counts"]:
        if row["opendp"] is not None:
            ratio = min(row["basic"], row["gaussian"]) / row["opendp"]
            yield f"error of {row['counts']:,} counts", ratio, TIMES_OPENDP_ERROR, "× opendp"
    for row in part["discovered"]:
        if row["opendp"] is not None:
            name = f"groups that opendp finds, max_groups = {row['max_groups']}"
            yield name, row["opendp"] / row["leastnoise"], TIMES_OPENDP_ERROR, "× ours"
    yield (
        "release from an allocation",
        part["allocated"]["times_plain"],
        TIMES_PLAIN_RELEASE,
        "× a plain recorded release",
    )
    before, after = part["public"]
    name = f"error at max_groups = {after['max_groups']}"
    yield (
        name,
        after["leastnoise"] / before["leastnoise"],
        TIMES_PREVIOUS_ERROR,
        f"× {before['max_groups']}",
    )


def _joint(part: Row) -> Iterator[Target]:
    for row in part["errors"]:
        theirs = [error for error in row["peers"].values() if error is not None]
        if theirs:
            name = f"error of {row['counts']:,} counts at once"
            yield name, row["leastnoise"] / min(theirs), TIMES_PEER_ERROR, "× the best peer"
    yield "joint sample of 10 numbers", part["sample"]["median"], JOINT_SAMPLE, "s"
    name = f"joint samples of 3 numbers, {part['groups']:,} groups"
    yield name, part["times_numpy"]["median"], TIMES_NUMPY_JOINT, "× three arrays of numpy"


def _median(row: Row, name: str) -> float:
    return float(row["seconds"][name]["median"])


_PARTS: dict[str, Any] = {
    "draws": _draws,
    "calibrations": _calibrations,
    "solves": _solves,
    "starting": _starting,
    "growth": _growth,
    "ledgers": _ledgers,
    "querying": _querying,
    "quantiles": _quantiles,
    "many_answers": _many_answers,
    "joint": _joint,
}
