"""Results as tables. The same results always give the same text."""

from collections.abc import Callable, Sequence
from statistics import median

from benchmarks.timing import Row
from benchmarks.words import digits, duration, guarantee, label, spread, table

PEERS = ("diffprivlib", "opendp", "python-dp")
_NONE = "–"
# The rows of README.md: guarantees, and whether the answers are integers.
_FRONT_PAGE = {
    ("(1, 1e-6)", False),
    ("(1, 1e-6)", True),
    ("(0.1, 1e-6)", True),
    ("(2, 0.05)", False),
    ("(2, 0.05)", True),
}


def make_table(name: str, results: Row) -> str:
    """Return one table by its name."""
    part, maker = TABLES[name]
    if part and part not in results["parts"]:
        return f"Not measured in this run ({part})."
    return maker(results["parts"][part] if part else results)


# ------------------------------------------------------------------- where and when


def machine(results: Row) -> str:
    """Return the date, the machine and the versions."""
    where, versions = results["machine"], results["versions"]
    run = "" if results["run"] == "full" else f", a {results['run']} run"
    with_them = ", ".join(f"{name} {version}" for name, version in versions.items())
    return (
        f"Measured {results['date']}{run}, on {where['cores']} cores of {where['processor']} "
        f"with {where['memory_gb']:g} GB; {with_them}."
    )


def bars(results: Row) -> str:
    """Return the benchmark targets and whether each is met."""
    rows = [
        [
            label(bar["what"]),
            _measure(bar["measured"], bar["unit"]),
            f"≤ {_measure(bar['limit'], bar['unit'])}",
            "yes" if bar["met"] else "**no**",
        ]
        for bar in results["bars"]
    ]
    return table(["what", "measured", "target", "met"], rows)


def _measure(number: float, unit: str) -> str:
    return duration(number) if unit == "s" else f"{digits(number)} {unit}".strip()


# ------------------------------------------------------------------- draws


def draws_bulk(part: Row) -> str:
    """Return the time per value of an array, for all libraries."""
    return _draws(part, "bulk", ("× numpy", "× AES"), ("numpy", "AES-CTR"))


def draws_single(part: Row) -> str:
    """Return the time to release a single number, for all libraries."""
    return _draws(part, "single", ("× numpy",), ("numpy",))


def draws_short(part: Row) -> str:
    """Return a sentence about the range of the times per value of an array."""
    rows = [row for row in part["rows"] if row["way"] == "bulk"]
    times = [row["seconds"]["leastnoise"]["median"] * 1e9 for row in rows]
    ratios = [row["ratios"]["numpy"]["median"] for row in rows]
    return (
        f"Sampling noise for an array takes {min(times):.0f} to {max(times):.0f} ns per value, "
        f"{min(ratios):.1f} to {max(ratios):.1f} times as long as\n"
        "numpy's floating-point noise, which is not private."
    )


def draws_rounds(part: Row) -> str:
    """Return every median with its quartiles."""
    rows = [
        [f"{_family(row)}, {row['way']}", name, _count(row, name), spread(times)]
        for row in part["rows"]
        for name, times in row["seconds"].items()
    ]
    return table(["noise", "who", "numbers", "each (quartiles)"], rows)


def draws_left_out(part: Row) -> str:
    """Return the noise that libraries do not have, and substitutes."""
    lines: dict[str, list[str]] = {}
    for row in part["rows"]:
        for name, said in (row["left_out"] | row["notes"]).items():
            lines.setdefault(f"{name}: {said}", []).append(row["family"])
    shown = [f"* {said} – {', '.join(dict.fromkeys(of))}" for said, of in lines.items()]
    return "\n".join(shown) or "None."


def _draws(part: Row, way: str, heads: Sequence[str], beside: Sequence[str]) -> str:
    rows = [
        [
            _family(row),
            guarantee(row["promise"]),
            duration(row["seconds"]["leastnoise"]["median"]),
            _second(row, way),
            *(digits(row["ratios"][name]["median"]) for name in beside),
            row["like"],
            *(_peer(row, name) for name in PEERS),
        ]
        for row in part["rows"]
        if row["way"] == way
    ]
    second = "CPU" if way == "bulk" else "quietest"
    return table(["noise", "(ε, δ)", "leastnoise", second, *heads, "numpy's", *PEERS], rows)


def _second(row: Row, way: str) -> str:
    """Return the CPU time of arrays, which use all cores; of single numbers, the best round."""
    if way == "bulk":
        return duration(row["seconds"]["leastnoise, CPU"]["median"])
    return duration(min(row["seconds"]["leastnoise"]["rounds"]))


def _count(row: Row, name: str) -> str:
    return f"{row['counts'][name]:,}" if name in row["counts"] else _NONE


def _family(row: Row) -> str:
    return f"{row['family'].replace('_', ' ')}{' (counts)' if row['integer'] else ''}"


def _peer(row: Row, name: str) -> str:
    times = row["seconds"].get(name)
    return duration(times["median"]) if times else _NONE


# ------------------------------------------------------------------- accuracy


def accuracy(part: Row) -> str:
    """Return costs as multiples of the proved lower bound."""
    heads = ["(ε, δ)", "answers", "cost", "bound", "certified", "closed form", *PEERS]
    rows = [
        [
            guarantee(row["promise"]),
            "counts" if row["integer"] else "real",
            {"l1": "E\\|X\\|", "l2": "E X²"}[row["cost"]],
            digits(row["bound"], 5),
            _times(row["certified"]["ratio"]),
            f"{_times(row['closed']['ratio'])} ({row['closed']['family'].replace('_', ' ')})",
            *(_best(row, name) for name in PEERS),
        ]
        for row in part["rows"]
    ]
    return table(heads, rows)


def accuracy_short(part: Row) -> str:
    """Return E|X| for a few guarantees that are typical, or where libraries differ."""
    heads = ["(ε, δ)", "answers", "leastnoise", *PEERS]
    rows = [
        [
            guarantee(row["promise"]),
            "counts" if row["integer"] else "real",
            _times(row["certified"]["ratio"]),
            *(_best(row, name, named=False) for name in PEERS),
        ]
        for row in part["rows"]
        if row["cost"] == "l1" and (guarantee(row["promise"]), row["integer"]) in _FRONT_PAGE
    ]
    return table(heads, rows)


def accuracy_left_out(part: Row) -> str:
    """Return the guarantees that mechanisms reject, by error message."""
    lines: dict[str, list[str]] = {}
    for row in part["rows"]:
        for name, refused in row["refused"].items():
            for mechanism, said in refused.items():
                kind = f"{guarantee(row['promise'])} {'counts' if row['integer'] else 'real'}"
                lines.setdefault(f"{name}, {mechanism}: {said}", []).append(kind)
    shown = [f"* {said} – {', '.join(dict.fromkeys(at))}" for said, at in lines.items()]
    shown += [f"* {name}: {why}" for name, why in part["missing"].items()]
    return "\n".join(shown) or "None."


def _best(row: Row, name: str, *, named: bool = True) -> str:
    best = row["peers"].get(name)
    if best is None:
        return _NONE
    error = f" ± {digits(best['error'] / row['bound'], 1)}" if best["error"] else ""
    mechanism = f" ({best['mechanism']})" if named else ""
    return f"{_times(best['ratio'])}{error}{mechanism}"


def _times(ratio: float) -> str:
    return f"{ratio:.4f}" if ratio < 10 else digits(ratio, 4)


# ------------------------------------------------------------------- answers and starts


def calibrations(part: Row) -> str:
    """Return the times of calibrations, comparisons and compositions."""
    rows = [[label(name), spread(times)] for name, times in part["seconds"].items()]
    return table(["call", "takes (quartiles)"], rows)


def solves(part: Row) -> str:
    """Return the solves by cost."""
    costs = list(dict.fromkeys(row["cost"] for row in part["rows"]))
    rows = []
    for cost in (*costs, "all"):
        own = [row for row in part["rows"] if cost in (row["cost"], "all")]
        times, checks = [row["seconds"] for row in own], [row["checking"] for row in own]
        rows.append(
            [
                cost,
                str(len(own)),
                duration(median(times)),
                duration(max(times)),
                duration(median(checks)),
                str(sum(not row["reached"] for row in own)),
            ]
        )
    heads = ["cost", "solves", "median", "longest", "verify, median", "gap not reached"]
    failed = [row for row in part["rows"] if not row["reached"]]
    lines = [
        f"* not reached in {part['allowed']:g} s: {guarantee(row['promise'])}, {row['cost']}, "
        + ("no bound above 0" if row["gap"] is None else f"gap {row['gap']:.1e}")
        for row in failed
    ]
    return "\n".join([table(heads, rows), *([""] if lines else []), *lines])


def starting(part: Row) -> str:
    """Return the times of processes."""
    rows = [
        [name, spread(times), duration(part["above_bare"][name]["median"])]
        if name in part["above_bare"]
        else [name, spread(times), _NONE]
        for name, times in part["seconds"].items()
    ]
    return table(["process", "takes (quartiles)", "above bare Python"], rows)


def installing(part: Row) -> str:
    """Return megabytes by package."""
    rows = []
    for name, packages in part["megabytes"].items():
        shown = [f"{one} {size:.1f}" for one, size in packages.items() if size >= 0.05]
        rows.append([name, f"{sum(packages.values()):.0f} MB", ", ".join(shown)])
    left_out = [[name, _NONE, reason] for name, reason in part["left_out"].items()]
    return table(["install", "in all", "of which, in MB"], [*rows, *left_out])


# ------------------------------------------------------------------- growth


def growth_n(part: Row) -> str:
    """Return time and memory against the number of samples."""
    own = part["n"]
    rows = [
        [
            row["family"],
            f"{row['n']:,}",
            duration(row["seconds"]["median"]),
            duration(row["seconds"]["median"] / row["n"]),
            f"{max(0.0, row['above_mb']):.1f} MB",
        ]
        for row in sorted(own["rows"], key=lambda row: row["family"])
    ]
    heads = ["noise", "draws", "time", "each", "memory above the result"]
    slopes = ", ".join(f"{name} {digits(power, 3)}" for name, power in own["slopes"].items())
    most = max(row["above_mb"] for row in own["rows"])
    lines = [
        f"Time grows with n to the power (from 10⁶ on): {slopes}. Memory above the result is at "
        f"most {most:.1f} MB, at every length.",
        *(f"Left out: {size} draws, {why}." for size, why in own["left_out"].items()),
    ]
    return "\n\n".join([table(heads, rows), *lines])


def growth_delta(part: Row) -> str:
    """Return times against 1/δ."""
    own = part["delta"]
    names = list(dict.fromkeys(row["question"] for row in own["rows"]))
    exponents = list(dict.fromkeys(row["exponent"] for row in own["rows"]))
    at = {(row["question"], row["exponent"]): row for row in own["rows"]}
    rows = [
        [f"{name}: {what}"]
        + [duration(at[name, exponent][what]["median"]) for exponent in exponents]
        + [digits(own["slopes"][name][what], 2)]
        for name in names
        for what in ("calibrate", "release")
    ]
    return table(["", *(f"δ = 1e-{exponent}" for exponent in exponents), "power"], rows)


def growth_m(part: Row) -> str:
    """Return time and memory of solves against m."""
    own = part["m"]
    rows = [
        [
            row["gap"],
            str(row["m"]),
            duration(row["seconds"]["median"]),
            f"{row['above_mb']:.1f} MB",
        ]
        for row in own["rows"]
    ]
    shown = table(["gap", "m", "time", "memory"], rows)
    power = f"\n\nTime grows with m to the power {digits(own['slope'], 3)}." if own["slope"] else ""
    return shown + power


def ledgers(part: Row) -> str:
    """Return the times of a charge, a release and an fsync, and those of many rows."""
    rows = [
        [name, spread(series), _NONE if name not in part["ratios"] else _fsyncs(part, name)]
        for name, series in part["seconds"].items()
    ]
    many = (
        f"A ledger of {part['rows']:,} rows ({part['megabytes']:g} MB) opens in "
        f"{duration(part['opening']['median'])}, and all of it is verified in "
        f"{duration(part['verifying']['median'])}."
    )
    if "allocated" in part:
        own = part["allocated"]
        many += (
            f" With {own['allocations']} allocations it opens in a new process in "
            f"{duration(own['opening']['median'])}. With few other rows, the first account of an "
            f"allocation is read after {duration(own['reading']['median'])}."
        )
    return f"{table(['', 'time', '× fsync'], rows)}\n\n{many}"


def _fsyncs(part: Row, name: str) -> str:
    return digits(part["ratios"][name]["median"])


# ------------------------------------------------------------------- table queries


def querying(part: Row) -> str:
    """Return the times of table queries, compared with the same in SQL."""
    rows = [
        [name, spread(times), _ratio(own, name), _megabytes(part, name)]
        for own in (part["by_row"], part["by_unit"])
        for name, times in own["seconds"].items()
    ]
    heads = ["", "time (quartiles)", "SQL's own is × 1", "memory"]
    first = (
        f"{part['rows']:,} rows of Parquet, {part['groups']:,} groups, measured {part['date']} "
        f"in a {part['run']} run. "
        "A row is a unit above, a person below, and counts with at most "
        f"{part['max_rows']} rows in one group; (ε, δ) = {guarantee(part['promise'])}. "
        "Each is asked again and again in one process: noise is found, and a query compiled, "
        "the first time, which does not count."
    )
    left_out = [f"Left out: {name}, {why}." for name, why in part["left_out"].items()]
    return "\n\n".join([first, table(heads, rows), *left_out])


def _megabytes(part: Row, name: str) -> str:
    used = part["megabytes"].get(name)
    return _NONE if used is None else f"{used:.0f} MB"


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
    lines = [f"Time and memory grow with the rows to the powers: {slopes}."]
    lines += [f"Left out: {name}, {why}." for name, why in own["left_out"].items()]
    return "\n\n".join([table(["", "rows", "time", "memory"], rows), *lines])


def quantiles(part: Row) -> str:
    """Return the mean rank errors of medians, in rows, compared with a textbook mechanism."""
    rows = [
        [
            row["epsilon"],
            *(f"{digits(one['mean'])} ± {digits(one['standard_error'], 1)}" for one in errors),
            digits(row["ratio"]),
        ]
        for row in part["rows"]
        for errors in [[row["errors"][name] for name in ("leastnoise", "textbook")]]
    ]
    return table(["ε", "leastnoise", "exponential mechanism", "ratio"], rows)


# ------------------------------------------------------------------- many answers


def many_counts(part: Row) -> str:
    """Return E|error| of each of many counts that share a guarantee."""
    heads = ["counts", "leastnoise, split", "leastnoise, Gaussian", "opendp, zCDP"]
    rows = [
        [f"{row['counts']:,}", *(_number(row[name], 4) for name in ("basic", "gaussian", "opendp"))]
        for row in part["counts"]
    ]
    first = (
        f"E\\|error\\| of each of many counts at (ε, δ) = {guarantee(part['promise'])}, measured "
        f"{part['date']} with leastnoise {part['version']} in a {part['run']} run."
    )
    left_out = [f"Left out: {name}, {why}." for name, why in part["left_out"].items()]
    return "\n\n".join([first, table(heads, rows), *left_out])


def many_groups(part: Row) -> str:
    """Return how many groups are discovered, and the errors of public groups."""
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
        f"{part['rows']:,} rows, {part['units']:,} units, {part['groups']:,} groups; groups shown, "
        f"the mean of {part['repeated']} queries each:",
        table(["max_groups", "leastnoise", "opendp", "first query", "query"], discovered),
        "Public groups, E\\|error\\| of each:",
        table(["max_groups", "leastnoise", "opendp", "first query", "query"], public),
        f"A release from an allocation takes {duration(part['allocated']['allocation'])}, "
        f"{digits(part['allocated']['times_plain'], 3)} times as long as a plain recorded one.",
        f"The load average of the machine was {digits(part['load'], 2)} at the end of these "
        "queries, its own included.",
    ]
    return "\n\n".join(lines)


def _number(number: float | None, count: int) -> str:
    return _NONE if number is None else digits(number, count)


# The part of the results that a table shows (all of them if it is empty), and its function.
TABLES: dict[str, tuple[str, Callable[[Row], str]]] = {
    "machine": ("", machine),
    "bars": ("", bars),
    "draws_bulk": ("draws", draws_bulk),
    "draws_single": ("draws", draws_single),
    "draws_short": ("draws", draws_short),
    "draws_rounds": ("draws", draws_rounds),
    "draws_left_out": ("draws", draws_left_out),
    "accuracy": ("accuracy", accuracy),
    "accuracy_short": ("accuracy", accuracy_short),
    "accuracy_left_out": ("accuracy", accuracy_left_out),
    "calibrations": ("calibrations", calibrations),
    "solves": ("solves", solves),
    "starting": ("starting", starting),
    "installing": ("installing", installing),
    "growth_n": ("growth", growth_n),
    "growth_delta": ("growth", growth_delta),
    "growth_m": ("growth", growth_m),
    "ledgers": ("ledgers", ledgers),
    "querying": ("querying", querying),
    "querying_growth": ("querying", querying_growth),
    "quantiles": ("quantiles", quantiles),
    "many_counts": ("many_answers", many_counts),
    "many_groups": ("many_answers", many_groups),
}
