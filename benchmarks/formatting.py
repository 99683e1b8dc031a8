"""Numbers and tables as text."""

from collections.abc import Iterable, Sequence

from benchmarks.timing import Row

NONE = "–"
_UNITS = (("ns", 1e9), ("µs", 1e6), ("ms", 1e3), ("s", 1.0))


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table: the first column aligned to the left, the others to the right."""
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def digits(number: float, count: int = 3) -> str:
    """Return a number to a few digits, without an exponent unless it is extreme."""
    text = f"{number:.{count}g}"
    if "e" in text and 1e-6 < abs(number) < 1e9:
        return f"{float(text):.0f}" if abs(number) >= 1 else f"{float(text):.{count + 5}f}"
    return text


def duration(seconds: float) -> str:
    """Return seconds in a suitable unit."""
    for unit, factor in _UNITS:
        if seconds * factor < 999.5:
            return f"{digits(seconds * factor)} {unit}"
    return f"{digits(seconds)} s"


def spread(summary: Row) -> str:
    """Return a median with its quartiles, as durations."""
    middle, low, high = (duration(summary[key]) for key in ("median", "low", "high"))
    return f"{middle} ({low} – {high})"


def guarantee(pair: Sequence[str]) -> str:
    """Return (ε, δ)."""
    return f"({pair[0]}, {pair[1]})"
