"""Tables about the whole run: the machine and the benchmark targets."""

from benchmarks.formatting import digits, duration, table
from benchmarks.timing import Row


def machine(results: Row) -> str:
    """Return the date, the machine and the versions, and the parts that were measured later."""
    where, versions = results["machine"], results["versions"]
    run = "" if results["run"] == "full" else f", a {results['run']} run"
    with_them = ", ".join(f"{name} {version}" for name, version in versions.items())
    later = ", ".join(results.get("updated", {}))
    again = f" Measured again later, as stated there: {later}." if later else ""
    return (
        f"Measured {results['date']}{run}, on {where['cores']} cores of {where['processor']} "
        f"with {where['memory_gb']:g} GB; {with_them}.{again}"
    )


def targets(results: Row) -> str:
    """Return the benchmark targets and whether each is met."""
    rows = [
        [
            target["name"],
            _measure(target["measured"], target["unit"]),
            f"≤ {_measure(target['limit'], target['unit'])}",
            "yes" if target["met"] else "**no**",
        ]
        for target in results["targets"]
    ]
    return table(["target", "measured", "limit", "met"], rows)


def _measure(number: float, unit: str) -> str:
    return duration(number) if unit == "s" else f"{digits(number)} {unit}".strip()
