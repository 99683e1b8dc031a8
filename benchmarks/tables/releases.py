"""Tables about ledgers, table queries, quantiles, many answers and joint noise."""

from benchmarks.formatting import NONE, digits, duration, guarantee, spread, table
from benchmarks.timing import Row


def ledgers(part: Row) -> str:
    """Return the times of a charge, a release and an fsync, and of ledgers with many rows."""
    rows = [
        [name, spread(series), NONE if name not in part["ratios"] else _fsyncs(part, name)]
        for name, series in part["seconds"].items()
    ]
    many = (
        f"A ledger of {part['rows']:,} rows ({part['megabytes']:g} MB) opens in "
        f"{duration(part['opening']['median'])}. Verifying all of it takes "
        f"{duration(part['verifying']['median'])}."
    )
    if "allocated" in part:
        own = part["allocated"]
        many += (
            f" With {own['allocations']} allocations it opens in a new process in "
            f"{duration(own['opening']['median'])}. With few other rows, opening it and reading "
            f"one allocation take {duration(own['reading']['median'])}."
        )
    return f"{table(['', 'time', '× fsync'], rows)}\n\n{many}"


def _fsyncs(part: Row, name: str) -> str:
    return digits(part["ratios"][name]["median"])


def querying(part: Row) -> str:
    """Return the times of table queries, compared with the same in SQL."""
    rows = [
        [name, spread(times), _ratio(own, name), _megabytes(part, name)]
        for unit in ("by_row", "by_unit", "choosing")
        if unit in part
        for own in (part[unit],)
        for name, times in own["seconds"].items()
    ]
    heads = ["", "time (quartiles)", "× SQL", "memory"]
    first = (
        f"{part['rows']:,} rows of Parquet, {part['groups']:,} groups, measured {part['date']} "
        f"in a {part['run']} run. "
        f"(ε, δ) = {guarantee(part['guarantee'])}. In the upper rows the privacy unit is a row. In "
        f"the lower rows it is a person, with at most {part['max_rows']} rows per group and "
        "one group. Each query runs repeatedly in one process. The first run, which finds the "
        "noise and compiles the query, does not count."
    )
    omitted = [f"Omitted: {name}, {reason}." for name, reason in part["omitted"].items()]
    return "\n\n".join([first, table(heads, rows), *omitted])


def _megabytes(part: Row, name: str) -> str:
    used = part["megabytes"].get(name)
    return NONE if used is None else f"{used:.0f} MB"


def _ratio(own: Row, name: str) -> str:
    if name == own["sql"]:
        return "1"
    times = own["times_sql"][name]
    return f"{digits(times['median'])} ({digits(times['low'])} – {digits(times['high'])})"


def querying_growth(part: Row) -> str:
    """Return time and memory against the number of rows."""
    own = part["growth"]
    if not own["rows"]:
        return "Growth with the rows of a table is not measured in this run."
    rows = [
        [
            f"{row['engine']}: {row['job']}",
            f"{row['n']:,}",
            duration(row["seconds"]["median"]),
            f"{row['megabytes']:.0f} MB",
        ]
        for row in own["rows"]
    ]
    slopes = ", ".join(
        f"{name} {digits(power['seconds'], 2)} and {digits(power['megabytes'], 2)}"
        for name, power in own["slopes"].items()
    )
    lines = [f"Exponents of the growth of time and memory with the rows: {slopes}."]
    lines += [f"Omitted: {name}, {reason}." for name, reason in own["omitted"].items()]
    return "\n\n".join([table(["", "rows", "time", "memory"], rows), *lines])


def quantiles(part: Row) -> str:
    """Return the mean rank errors of medians, in rows, compared with a textbook mechanism."""
    rows = [
        [
            row["epsilon"],
            *(_mean_error(row["errors"][name]) for name in ("leastnoise", "textbook")),
            digits(row["ratio"]),
        ]
        for row in part["rows"]
    ]
    return table(["ε", "leastnoise", "exponential mechanism", "ratio"], rows)


def many_counts(part: Row) -> str:
    """Return E|error| of each of many counts that share a guarantee."""
    heads = ["counts", "leastnoise, split", "leastnoise, Gaussian", "opendp, zCDP"]
    rows = [
        [f"{row['counts']:,}", *(_number(row[name], 4) for name in ("basic", "gaussian", "opendp"))]
        for row in part["counts"]
    ]
    first = (
        f"E\\|error\\| of each of many counts at (ε, δ) = {guarantee(part['guarantee'])}, measured "
        f"{part['date']} with leastnoise {part['version']} in a {part['run']} run."
    )
    omitted = [f"Omitted: {name}, {reason}." for name, reason in part["omitted"].items()]
    return "\n\n".join([first, table(heads, rows), *omitted])


def joint_errors(part: Row) -> str:
    """Return E|error| of each of k counts that are released at once."""
    peers = list(part["errors"][0]["peers"])
    heads = ["counts", "leastnoise", "noise", *peers]
    rows = [
        [
            f"{row['counts']:,}",
            digits(row["leastnoise"], 4),
            row["noise"],
            *(_number(row["peers"][name], 4) for name in peers),
        ]
        for row in part["errors"]
    ]
    first = (
        f"E\\|error\\| of each of k counts at (ε, δ) = {guarantee(part['guarantee'])}, measured "
        f"{part['date']}. A peer has its cheapest noise for a part (ε/k, δ/k), or for all counts "
        "together through zCDP if it has that."
    )
    omitted = [f"Omitted: {name}, {reason}." for name, reason in part["omitted"].items()]
    return "\n\n".join([first, table(heads, rows), *omitted])


def joint_times(part: Row) -> str:
    """Return the times of joint samples."""
    return (
        f"A joint sample of 10 numbers takes {duration(part['sample']['median'])}. Joint noise of "
        f"3 numbers for {part['groups']:,} groups takes {duration(part['bulk']['median'])}, "
        f"{digits(part['times_numpy']['median'])} times as long as three arrays of numpy's "
        f"uniform floats ({duration(part['numpy']['median'])}). The load of the machine was "
        f"{part['load']:g}."
    )


def many_groups(part: Row) -> str:
    """Return the numbers of discovered groups, and the errors of public groups."""
    discovered = [
        [
            str(row["max_groups"]),
            *(_number(row[name], 4) for name in ("leastnoise", "opendp")),
            duration(row["first"]),
            duration(row["seconds"]),
        ]
        for row in part["discovered"]
    ]
    public = [
        [
            str(row["max_groups"]),
            *(f"± {_number(row[name], 4)}" for name in ("leastnoise", "opendp")),
            duration(row["first"]),
            duration(row["seconds"]),
        ]
        for row in part["public"]
    ]
    lines = [
        f"{part['rows']:,} rows, {part['units']:,} units, {part['groups']:,} groups. Discovered "
        f"groups that are shown, mean of {part['repeated']} queries:",
        table(["max_groups", "leastnoise", "opendp", "first query", "query"], discovered),
        "E\\|error\\| of each public group:",
        table(["max_groups", "leastnoise", "opendp", "first query", "query"], public),
        f"A release from an allocation takes {duration(part['allocated']['allocation'])}, "
        f"{digits(part['allocated']['times_plain'], 3)} times as long as a plain recorded one.",
        "At the end of these queries the load average of the machine was "
        f"{digits(part['load'], 2)}, including the queries.",
    ]
    return "\n\n".join(lines)


def _mean_error(errors: Row) -> str:
    return f"{digits(errors['mean'])} ± {digits(errors['standard_error'], 1)}"


def _number(number: float | None, count: int) -> str:
    return NONE if number is None else digits(number, count)
