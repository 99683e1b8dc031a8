"""``python3 go bench``: measure leastnoise and its peers, and write the results.

A full run writes results.json, results.md and figures/ next to this file, and the tables of
README.md and docs/performance.md. Any other run writes the first three into a folder of its own,
except that ``--only NAME --update`` replaces the named parts of the results of a full run. The
pages then state when these parts were measured.
"""

import argparse
import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks import (
    accuracy,
    calibrations,
    charts,
    draws,
    growth,
    installing,
    joint,
    ledgers,
    machine,
    many_answers,
    pages,
    quantiles,
    querying,
    solves,
    starting,
)
from benchmarks.peers.environments import CACHE, ROOT
from benchmarks.peers.process import peers
from benchmarks.plan import FULL, QUICK, SHORT, Plan
from benchmarks.progress import say
from benchmarks.targets import compare_with_targets
from benchmarks.timing import Row

HOME = ROOT / "benchmarks"
DOCUMENTS = (ROOT / "README.md", ROOT / "docs" / "performance.md")
WITHOUT_PEERS: dict[str, Callable[[Plan], Row]] = {
    "solves": solves.measure,
    "starting": starting.measure,
    "installing": installing.measure,
    "growth": growth.measure,
    "ledgers": ledgers.measure,
    "querying": querying.measure,
    "quantiles": quantiles.measure,
}
WITH_PEERS: dict[str, Callable[..., Row]] = {
    "draws": draws.measure,
    "accuracy": accuracy.measure,
    "calibrations": calibrations.measure,
    "many_answers": many_answers.measure,
    "joint": joint.measure,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the parts that the options name, and write the results."""
    options = parse_options(arguments)
    folder = (options.out or HOME).resolve()
    if options.render:
        results = read_results(HOME)
    else:
        # Cached solutions of earlier runs would make solves look fast.
        os.environ["LEASTNOISE_CACHE"] = "off"
        # Modules are compiled once, as they are by default.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        plan = QUICK if options.quick else SHORT if options.short else FULL
        plan = replace(plan, alone=options.alone, seconds=options.seconds or plan.seconds)
        results = measure(plan, options.only)
        if options.update:
            results = update(read_results(folder), results)
    folder.mkdir(parents=True, exist_ok=True)
    write(results, folder)
    if folder == HOME:
        for document in DOCUMENTS:
            text = document.read_text(encoding="utf-8")
            document.write_text(pages.fill_marks(text, results), encoding="utf-8")
    missed = [target["name"] for target in results["targets"] if not target["met"]]
    say(f"benchmark targets not met: {'; '.join(missed) or 'none'}")


def parse_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line, and choose the output folder."""
    parser = argparse.ArgumentParser(prog="go bench", description=__doc__, allow_abbrev=False)
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="takes seconds; not for comparison")
    size.add_argument("--short", action="store_true", help="takes minutes: few rounds, small grid")
    size.add_argument(
        "--render",
        action="store_true",
        help="measure nothing; write pages and figures from results.json",
    )
    parser.add_argument("--alone", action="store_true", help="omit the other libraries")
    parser.add_argument("--only", nargs="+", choices=[*WITH_PEERS, *WITHOUT_PEERS], metavar="NAME")
    parser.add_argument(
        "--update",
        action="store_true",
        help="replace the parts of --only in the results of a full run",
    )
    parser.add_argument("--out", type=Path, help="the folder to write to")
    parser.add_argument("--seconds", type=float, help="the time limit of one solve")
    options = parser.parse_args(arguments)
    smaller = options.quick or options.short or options.alone
    if options.update and (smaller or options.render or not options.only):
        parser.error("--update needs --only, and parts that are measured in full")
    partial = smaller or (options.only and not options.update)
    if options.out is None and partial and not options.render:
        options.out = CACHE / "results"
    return options


def measure(plan: Plan, only: Sequence[str] | None) -> Row:
    """Return the results of the named parts. Default: all parts."""
    chosen = only or [*WITH_PEERS, *WITHOUT_PEERS]
    results: Row = {"run": plan.name, **machine.describe(), "parts": {}}
    parts = results["parts"]
    with peers(create=plan.install, alone=plan.alone) as (available, missing):
        for name, peer in available.items():
            results["versions"][name] = peer.ask("introduce")["versions"][name]
        results["missing_peers"] = missing
        for part in (name for name in WITH_PEERS if name in chosen):
            parts[part] = WITH_PEERS[part](plan, available, missing)
    for part in (name for name in WITHOUT_PEERS if name in chosen):
        parts[part] = WITHOUT_PEERS[part](plan)
    results["targets"] = compare_with_targets(parts)
    return results


def read_results(folder: Path) -> Row:
    """Return the results in a folder."""
    results: Row = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    return results


def update(results: Row, measured: Row) -> Row:
    """Return results with the measured parts replaced, and where and when these were measured."""
    run = {name: measured[name] for name in ("run", "date", "machine", "versions")}
    parts = results["parts"] | measured["parts"]
    updated = results.get("updated", {}) | dict.fromkeys(measured["parts"], run)
    targets = compare_with_targets(parts)
    return results | {"parts": parts, "updated": updated, "targets": targets}


def write(results: Row, folder: Path) -> None:
    """Write the results, their page and their figures into a folder."""
    text = json.dumps(results, ensure_ascii=False, indent=1)
    text = re.sub(r"\[[-\d.e,\s]+\]", lambda numbers: re.sub(r"\s+", " ", numbers[0]), text)
    (folder / "results.json").write_text(text + "\n", encoding="utf-8")
    (folder / "results.md").write_text(pages.results_page(results), encoding="utf-8")
    charts.write_charts(results, folder / "figures")
    say(f"written to {folder.name}: results.json, results.md, figures")


if __name__ == "__main__":
    main()
