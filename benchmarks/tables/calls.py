"""Tables about calibrations, solves, starting, installing and growth."""

from statistics import median

from benchmarks.formatting import NONE, digits, duration, guarantee, spread, table
from benchmarks.timing import Row


def calibrations(part: Row) -> str:
    """Return the times of calibrations, comparisons and compositions."""
    rows = [[name, spread(times)] for name, times in part["seconds"].items()]
    return table(["call", "time (quartiles)"], rows)


def solves(part: Row) -> str:
    """Return the solves by cost."""
    costs = list(dict.fromkeys(row["cost"] for row in part["rows"]))
    rows = []
    for cost in (*costs, "all"):
        own = [row for row in part["rows"] if cost in (row["cost"], "all")]
        times, checks = [row["seconds"] for row in own], [row["verifying"] for row in own]
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
        f"* not reached in {part['time_limit']:g} s: {guarantee(row['guarantee'])}, {row['cost']}, "
        + ("no bound above 0" if row["gap"] is None else f"gap {row['gap']:.1e}")
        for row in failed
    ]
    return "\n".join([table(heads, rows), *([""] if lines else []), *lines])


def starting(part: Row) -> str:
    """Return the times of processes."""
    rows = [
        [name, spread(times), duration(part["minus_bare"][name]["median"])]
        if name in part["minus_bare"]
        else [name, spread(times), NONE]
        for name, times in part["seconds"].items()
    ]
    return table(["process", "time (quartiles)", "minus bare Python"], rows)


def installing(part: Row) -> str:
    """Return megabytes by package."""
    rows = []
    for name, packages in part["megabytes"].items():
        shown = [f"{package} {size:.1f}" for package, size in packages.items() if size >= 0.05]
        rows.append([name, f"{sum(packages.values()):.0f} MB", ", ".join(shown)])
    omitted = [[name, NONE, reason] for name, reason in part["omitted"].items()]
    return table(["library", "total", "packages, in MB"], [*rows, *omitted])


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
    heads = ["noise", "samples", "time", "each", "memory beyond the result"]
    slopes = ", ".join(f"{name} {digits(power, 3)}" for name, power in own["slopes"].items())
    most = max(row["above_mb"] for row in own["rows"])
    lines = [
        f"Exponents of the growth of time with n, from 10⁶ on: {slopes}. Memory beyond the "
        f"result is at most {most:.1f} MB, at every length.",
        *(f"Omitted: {size} samples, {reason}." for size, reason in own["omitted"].items()),
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
    power = digits(own["slope"], 3) if own["slope"] else None
    return f"{shown}\n\nTime grows with m to the power {power}." if power else shown
