"""Which lines of core a release and the proof of its guarantee reach.

``python -m tests.support.trusted_lines`` prints them.
"""

import ast
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Any

import leastnoise as ln
from leastnoise.core.sampling import SYSTEM, coins_of
from leastnoise.core.selection import Selector
from leastnoise.mechanism import Discretized, calibrate_joint
from leastnoise.noise import Rounded, Steps

CORE = Path(ln.__file__).resolve().parent / "core"
BOTH = ln.Privacy(1, "1e-6")
COMB = Steps([-1, "-3/4", "-1/4", "1/4", "3/4", 1], ["1/3", "2/3", "1/3", "2/3", "1/3"])
# For every family of noise a mechanism, or one for real numbers and one for integers.
FAMILIES: dict[str, Callable[[], list[ln.Mechanism]]] = {
    "uniform": lambda: [
        ln.calibrate(ln.Privacy(delta="0.1"), sensitivity="0.7"),
        ln.calibrate(ln.Privacy(delta="0.1"), sensitivity=7, integer=True),
    ],
    "steps": lambda: [
        ln.Mechanism.from_noise(COMB, ln.Privacy(delta="1/2"), sensitivity=1),
        ln.Mechanism.from_noise(COMB, ln.Privacy("0.1", "0.6"), sensitivity=1),
    ],
    "staircase": lambda: [
        ln.calibrate(ln.Privacy(1), sensitivity="0.7"),
        ln.calibrate(ln.Privacy("0.71"), sensitivity=7, integer=True),
    ],
    "laplace": lambda: [ln.calibrate(ln.Privacy(1), sensitivity="0.7", family="laplace")],
    "truncated laplace": lambda: [
        ln.calibrate(BOTH, sensitivity="0.7", family="truncated_laplace")
    ],
    "gaussian": lambda: [ln.calibrate(BOTH, sensitivity="0.7", family="gaussian")],
}
# So many releases build the tables of every scheme.
RELEASES = 1600


@dataclass(frozen=True)
class Span:
    """A function: its name in its file, and its first and last line, decorators included."""

    name: str
    first: int
    last: int


def reached(family: str) -> set[tuple[Path, Span]]:
    """Return the functions of core that are called where a mechanism is built and releases.

    The mechanism is calibrated beforehand, and built again from its parts: that is the proof. Then
    it releases as often as it takes for all tables to be built. All caches are emptied before.
    """
    mechanisms = FAMILIES[family]()
    for module in [module for name, module in sys.modules.items() if name.startswith(ln.__name__)]:
        for part in vars(module).values():
            if hasattr(part, "cache_clear"):
                part.cache_clear()

    def work() -> None:
        for mechanism in mechanisms:
            noise: Any = mechanism.discretized.noise
            inner = {"noise": noise.noise.scaled(1)} if isinstance(noise, Rounded) else {}
            drawn = Discretized(replace(noise, **inner), mechanism.discretized.objective)
            again = replace(mechanism, discretized=drawn)
            for _ in range(RELEASES):
                again.release(42, allow_exact=again.needs_allow_exact)

    return set(_called(work))


def reached_by_selection() -> set[tuple[Path, Span]]:
    """Return the functions of core that are called where a selector is built and selects."""
    coins_of.cache_clear()

    def work() -> None:
        selector = Selector(ln.Privacy("0.1"), 1)
        for _ in range(10):
            selector.choose([0, 1, 2, 500])
        # A coin in doubt, which reads on: in practice one of 2⁴⁵ does.
        selector.coins.lands(0, 5, SYSTEM)

    return set(_called(work))


def reached_by_joint_noise() -> set[tuple[Path, Span]]:
    """Return the functions of core that are called where joint noise is proved and sampled."""
    numbers: dict[str, Any] = {"sensitivity": [1, 50], "integer": [True, False]}
    mechanisms = [
        calibrate_joint(ln.Privacy(1), **numbers),
        calibrate_joint(BOTH, bounded=True, **numbers),
    ]

    def work() -> None:
        for mechanism in mechanisms:
            again = replace(mechanism, noise=replace(mechanism.noise))
            draw = again.releaser.prepare((42, 4.5))
            for _ in range(RELEASES):
                draw()

    return set(_called(work))


def _called(work: Callable[[], None]) -> Iterable[tuple[Path, Span]]:
    """Yield the functions of core that ``work`` calls."""
    seen: set[tuple[str, int]] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            seen.add((frame.f_code.co_filename, frame.f_code.co_firstlineno))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    for name, line in seen:
        file = Path(name)
        if file.is_relative_to(CORE):
            yield from ((file, span) for span in spans(file) if span.first <= line <= span.last)


@lru_cache
def spans(file: Path) -> tuple[Span, ...]:
    """Return the functions and methods of a file; what is nested in one belongs to it."""
    found: list[Span] = []

    def visit(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef):
                first = min([child.lineno, *(one.lineno for one in child.decorator_list)])
                found.append(Span(prefix + child.name, first, child.end_lineno or first))
            elif isinstance(child, ast.ClassDef):
                visit(child, f"{prefix}{child.name}.")

    visit(ast.parse(file.read_text(encoding="utf-8")), "")
    return tuple(found)


def counted(functions: Iterable[tuple[Path, Span]]) -> dict[str, tuple[int, list[str]]]:
    """Return for each file how many lines must be read, and the functions that are reached.

    All lines of the file but blank ones and those of functions that are not reached: docstrings,
    comments, imports, constants and the heads of classes count.
    """
    by_file: dict[Path, set[Span]] = defaultdict(set)
    for file, span in functions:
        by_file[file].add(span)
    table = {}
    for file in sorted(by_file):
        left_out = [span for span in spans(file) if span not in by_file[file]]
        unread = {line for span in left_out for line in range(span.first, span.last + 1)}
        text = enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
        lines = sum(bool(line.strip()) for at, line in text if at not in unread)
        names = [span.name for span in spans(file) if span in by_file[file]]
        table[str(file.relative_to(CORE.parent))] = lines, names
    return table


def printed() -> str:
    """Return a table of all files, and of the lines that each family needs."""
    families = {family: reached(family) for family in FAMILIES}
    every = counted(set().union(*families.values()))
    rows = [f"{sum(lines for lines, _ in every.values()):6} lines in all"]
    for family, functions in families.items():
        rows.append(f"{sum(lines for lines, _ in counted(functions).values()):6} {family}")
    selection = counted(reached_by_selection())
    rows.append(f"{sum(lines for lines, _ in selection.values()):6} a selection")
    joint = counted(reached_by_joint_noise())
    rows.append(f"{sum(lines for lines, _ in joint.values()):6} joint noise")
    for file, (lines, names) in every.items():
        rows.append(f"{lines:6} {file}: {', '.join(names)}")
    return "\n".join(rows)


if __name__ == "__main__":
    print(printed())  # noqa: T201 -- for a person
