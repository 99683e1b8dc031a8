"""Tables about sampling and accuracy, with the other libraries."""

from collections.abc import Sequence

from benchmarks.formatting import NONE, digits, duration, guarantee, spread, table
from benchmarks.peers.environments import PEERS
from benchmarks.timing import Row

# The rows of README.md: guarantees, and whether the answers are integers.
_FRONT_PAGE = {
    ("(1, 1e-6)", False),
    ("(1, 1e-6)", True),
    ("(0.1, 1e-6)", True),
    ("(2, 0.05)", False),
    ("(2, 0.05)", True),
}


def draws_bulk(part: Row) -> str:
    """Return the time per value of an array, for all libraries."""
    return _draws(part, "bulk", ("× numpy", "× AES"), ("numpy", "AES-CTR"))


def draws_single(part: Row) -> str:
    """Return the time to release a single number, for all libraries."""
    return _draws(part, "single", ("× numpy",), ("numpy",))


def draws_short(part: Row) -> str:
    """Return a sentence about the range of the times per value of an array."""
    rows = [row for row in part["rows"] if row["mode"] == "bulk"]
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
        [f"{_family(row)}, {row['mode']}", name, _count(row, name), spread(times)]
        for row in part["rows"]
        for name, times in row["seconds"].items()
    ]
    return table(["noise", "library", "numbers", "each (quartiles)"], rows)


def draws_omitted(part: Row) -> str:
    """Return the noise that each library does not have, and the substitutes."""
    lines: dict[str, list[str]] = {}
    for row in part["rows"]:
        for name, note in (row["omitted"] | row["notes"]).items():
            lines.setdefault(f"{name}: {note}", []).append(row["family"])
    shown = [f"* {note} – {', '.join(dict.fromkeys(noise))}" for note, noise in lines.items()]
    return "\n".join(shown) or "None."


def _draws(part: Row, mode: str, heads: Sequence[str], beside: Sequence[str]) -> str:
    rows = [
        [
            _family(row),
            guarantee(row["guarantee"]),
            duration(row["seconds"]["leastnoise"]["median"]),
            _second(row, mode),
            *(digits(row["ratios"][name]["median"]) for name in beside),
            row["like"],
            *(_peer(row, name) for name in PEERS),
        ]
        for row in part["rows"]
        if row["mode"] == mode
    ]
    second = "CPU" if mode == "bulk" else "quietest"
    return table(["noise", "(ε, δ)", "leastnoise", second, *heads, "numpy's", *PEERS], rows)


def _second(row: Row, mode: str) -> str:
    """Return the CPU time of arrays, which use all cores; of single numbers, the best round."""
    if mode == "bulk":
        return duration(row["seconds"]["leastnoise, CPU"]["median"])
    return duration(min(row["seconds"]["leastnoise"]["rounds"]))


def _count(row: Row, name: str) -> str:
    return f"{row['counts'][name]:,}" if name in row["counts"] else NONE


def _family(row: Row) -> str:
    return f"{row['family'].replace('_', ' ')}{' (counts)' if row['integer'] else ''}"


def _peer(row: Row, name: str) -> str:
    times = row["seconds"].get(name)
    return duration(times["median"]) if times else NONE


def accuracy(part: Row) -> str:
    """Return costs as multiples of the proved lower bound."""
    heads = ["(ε, δ)", "answers", "cost", "bound", "certified", "closed form", *PEERS]
    rows = [
        [
            guarantee(row["guarantee"]),
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
    """Return E|X| for a few guarantees, typical ones and those where libraries differ."""
    heads = ["(ε, δ)", "answers", "leastnoise", *PEERS]
    rows = [
        [
            guarantee(row["guarantee"]),
            "counts" if row["integer"] else "real",
            _times(row["certified"]["ratio"]),
            *(_best(row, name, named=False) for name in PEERS),
        ]
        for row in part["rows"]
        if row["cost"] == "l1" and (guarantee(row["guarantee"]), row["integer"]) in _FRONT_PAGE
    ]
    return table(heads, rows)


def accuracy_omitted(part: Row) -> str:
    """Return the guarantees that mechanisms reject, by error message."""
    lines: dict[str, list[str]] = {}
    for row in part["rows"]:
        for name, rejected in row["rejected"].items():
            for mechanism, message in rejected.items():
                kind = f"{guarantee(row['guarantee'])} {'counts' if row['integer'] else 'real'}"
                lines.setdefault(f"{name}, {mechanism}: {message}", []).append(kind)
    shown = [f"* {message} – {', '.join(dict.fromkeys(at))}" for message, at in lines.items()]
    shown += [f"* {name}: {reason}" for name, reason in part["missing"].items()]
    return "\n".join(shown) or "None."


def _best(row: Row, name: str, *, named: bool = True) -> str:
    best = row["peers"].get(name)
    if best is None:
        return NONE
    error = f" ± {digits(best['error'] / row['bound'], 1)}" if best["error"] else ""
    mechanism = f" ({best['mechanism']})" if named else ""
    return f"{_times(best['ratio'])}{error}{mechanism}"


def _times(ratio: float) -> str:
    return f"{ratio:.4f}" if ratio < 10 else digits(ratio, 4)
