"""The benchmarks: their arithmetic, the shape of a quick run, and the pages."""

import json
import math
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import pytest

from benchmarks import __main__ as bench
from benchmarks import (
    distributions,
    formatting,
    installing,
    many_answers,
    pages,
    tables,
    targets,
    timing,
)
from benchmarks.charts import CHARTS
from benchmarks.peers import protocol
from benchmarks.peers.environments import CACHE, PEERS, PINS, pinned
from benchmarks.peers.process import Cannot, PeerProcess

HOME = bench.HOME
RESULTS: dict[str, Any] = json.loads((HOME / "results.json").read_text(encoding="utf-8"))

# ------------------------------------------------------------------- timing


def test_contestants_take_turns_and_the_first_of_each_does_not_count() -> None:
    order: list[str] = []

    def run(name: str) -> float:
        order.append(name)
        return len(order)

    rounds = 24
    numbers = timing.interleaved({name: partial(run, name) for name in "abc"}, rounds)
    assert order[:3] == ["a", "b", "c"]
    turns = [order[3 * turn : 3 * turn + 3] for turn in range(1, rounds + 1)]
    assert all(sorted(turn) == ["a", "b", "c"] for turn in turns)
    for name in "abc":
        assert numbers[name] == [4 + 3 * at + turn.index(name) for at, turn in enumerate(turns)]
    # No contestant runs mostly after the same other one, or mostly at the same place.
    after = Counter(pairwise(order[3:]))
    assert all(after[pair] >= rounds / 6 for pair in permutations("abc", 2))
    places = Counter((name, place) for turn in turns for place, name in enumerate(turn))
    assert all(places[name, place] >= rounds / 6 for name in "abc" for place in range(3))


def test_a_summary_has_the_median_and_the_quartiles() -> None:
    summary = timing.summary([5.0, 1.0, 2.0, 4.0, 3.0])
    assert (summary["low"], summary["median"], summary["high"]) == (2, 3, 4)
    assert timing.summary([7.0])["low"] == timing.summary([7.0])["high"] == 7


def test_ratios_are_taken_round_by_round() -> None:
    """The quotient of the medians would be 1 and hide a machine that slows down."""
    own, other = timing.summary([1.0, 2.0, 9.0]), timing.summary([2.0, 1.0, 3.0])
    assert timing.ratio(own, other)["rounds"] == [0.5, 2, 3]
    assert timing.ratio(own, other)["median"] == 2


@pytest.mark.parametrize("power", [-1, 0, 1, 2.5])
def test_a_slope_is_the_power(power: float) -> None:
    places = [1, 10, 100, 5000]
    assert timing.slope(places, [3 * x**power for x in places]) == pytest.approx(power, abs=1e-4)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (3.14159e-9, "3.14 ns"),
        (9.996e-7, "1 µs"),
        (0.00025, "250 µs"),
        (0.9994, "999 ms"),
        (61.27, "61.3 s"),
        (1234.5, "1230 s"),
    ],
)
def test_durations_have_a_suitable_unit(seconds: float, shown: str) -> None:
    assert formatting.duration(seconds) == shown


# ------------------------------------------------------------------- the peers' distributions


def test_moments_by_integrals() -> None:
    """E|X| and E X² by quadrature and sums, not by the formulas."""
    from scipy.integrate import quad

    def moments(density: Any, end: float) -> list[float]:
        mass = quad(density, 0, end)[0]
        return [quad(lambda x: x**p * density(x), 0, end)[0] / mass for p in (1, 2)]  # noqa: B023 -- used at once

    smooth = {
        "laplace": ({"scale": 1.7}, lambda x: math.exp(-x / 1.7), 80),
        "gaussian": ({"sigma": 2.3}, lambda x: math.exp(-(x**2) / 2 / 2.3**2), 60),
        "uniform": ({"radius": 5.0}, lambda _: 1.0, 5),
        "truncated_laplace": ({"scale": 2.0, "radius": 3.0}, lambda x: math.exp(-x / 2), 3),
    }
    for kind, (settings, density, end) in smooth.items():
        assert distributions.moments({"kind": kind, **settings}) == pytest.approx(
            moments(density, end), rel=1e-7
        )
    whole: dict[str, tuple[dict[str, float], Callable[[int], float]]] = {
        "geometric": ({"epsilon": 0.4}, lambda k: math.exp(-0.4 * k)),
        "discrete_gaussian": ({"sigma": 1.3}, lambda k: math.exp(-(k**2) / 2 / 1.3**2)),
    }
    for kind, (settings, weight) in whole.items():
        total = sum(weight(abs(k)) for k in range(-300, 301))
        sums = [sum(abs(k) ** p * weight(abs(k)) for k in range(-300, 301)) for p in (1, 2)]
        assert distributions.moments({"kind": kind, **settings}) == pytest.approx(
            [moment / total for moment in sums], rel=1e-9
        )


def test_moments_of_the_staircase_are_the_theorem_s() -> None:
    """Geng and Viswanath 2016, for ε = 1: e^(ε/2)/(e^ε−1), and the least E X² at its own γ."""
    gamma = 1 / (1 + math.exp(0.5))
    distribution = {"kind": "staircase", "epsilon": 1.0, "gamma": gamma}
    assert distributions.moments(distribution)[0] == pytest.approx(math.exp(0.5) / math.expm1(1))
    b = math.exp(-1)
    least = (2 ** (-2 / 3) * (b * (1 + b)) ** (2 / 3) + b) / (1 - b) ** 2
    found = min(distributions.staircase(1.0, k / 1000)[1] for k in range(1, 1000))
    assert found == pytest.approx(least, rel=1e-5)


@pytest.mark.parametrize(
    ("epsilon", "delta", "first", "second"),
    [
        (2.0, 0.1, 0.216536, 0.220479),
        (0.5, 0.01, 1.702653, 5.486083),
        (0.1, 0.05, 3.1486, 14.26126),
    ],
)
def test_moments_of_canonical_noise(
    epsilon: float, delta: float, first: float, second: float
) -> None:
    """Those on the integers by linear program; spread over cells, 1/4 of P(0) and 1/12 more."""
    zero = 1 - 2 * (1 - delta) / (1 + math.exp(epsilon))
    found = distributions.moments({"kind": "canonical", "epsilon": epsilon, "delta": delta})
    assert found == pytest.approx((first + zero / 4, second + 1 / 12), rel=3e-6)


def test_an_unknown_distribution_is_rejected() -> None:
    with pytest.raises(ValueError, match="kind must be a known distribution, got 'cauchy'"):
        distributions.moments({"kind": "cauchy"})


# ------------------------------------------------------------------- the protocol of peers


def peer() -> protocol.Peer:
    def reject(guarantee: protocol.Guarantee) -> protocol.AddNoise:
        raise ValueError(f"\nε = {guarantee.epsilon:g} is below {'9' * 300}\nat a place")

    return protocol.Peer(
        versions={"toy": "1"},
        single={"laplace": lambda _: lambda value: value + 2, "gaussian": reject},
        lists={"laplace": lambda _: lambda values: [value + 2 for value in values]},
        real={"plus two": lambda _: lambda value: value + 2},
        integer={"exact": lambda _: {"kind": "uniform", "radius": 1.0}},
        notes={"laplace": "a toy"},
    )


def test_a_peer_answers_in_json_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    guarantee = {"epsilon": 1.0, "delta": 0.0, "integer": False}
    requests = [
        {"do": "introduce"},
        {"do": "draw", "family": "laplace", "mode": "bulk", "count": 3, **guarantee},
        {"do": "draw", "family": "laplace", "mode": "single", "count": 3, **guarantee},
        {"do": "draw", "family": "gaussian", "mode": "single", "count": 3, **guarantee},
        {"do": "draw", "family": "uniform", "mode": "single", "count": 3, **guarantee},
        {"do": "distribution", "name": "plus two", "seconds": 0.0, **guarantee},
        {"do": "distribution", "name": "exact", "seconds": 0.0, **guarantee, "integer": True},
    ]
    monkeypatch.setattr(sys, "stdin", [json.dumps(request) + "\n" for request in requests])
    monkeypatch.setattr(sys, "stdout", sys.stdout)  # serve points it elsewhere
    protocol.serve(peer())
    answers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert answers[0] == {
        "versions": {"toy": "1"},
        "distributions": {"real": ["plus two"], "integer": ["exact"]},
    }
    assert [answer["lists"] for answer in answers[1:3]] == [True, False]
    assert all(answer["seconds"] > 0 and answer["note"] == "a toy" for answer in answers[1:3])
    assert answers[3] == {"cannot": "ValueError: ε = 1 is below …"}
    assert answers[4] == {"cannot": "it has no such noise"}
    assert answers[5]["moments"] == [2, 4]
    assert answers[5]["errors"] == [0, 0]
    assert answers[6] == {"kind": "uniform", "radius": 1.0}


def test_a_peer_that_ends_or_crashes_is_reported() -> None:
    process = PeerProcess("nothing", Path(sys.executable))
    with pytest.raises(Cannot, match="its process ended with exit code 1"):
        process.ask("introduce")
    process._command = [sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"]
    with pytest.raises(Cannot, match=r"its process crashed \(SIGKILL\)"):
        process.ask("introduce")
    process._command = [sys.executable, "-c", """print('{"cannot": "no"}', flush=True); input()"""]
    with pytest.raises(Cannot, match=r"^no$"):
        process.ask("introduce")
    process.stop()


def test_pins_name_versions_and_no_addresses() -> None:
    for name in PEERS:
        lines = (PINS / f"{name}.txt").read_text(encoding="utf-8").splitlines()
        pins = [line for line in lines if not line.startswith("#")]
        assert any(pin.startswith(f"{name}==") for pin in pins)
        assert all(re.match(r"[\w-]+==[\w.]+( ; .+)?$", pin) for pin in pins)


def test_sizes_are_those_of_the_files(tmp_path: Path) -> None:
    for name in ("small", "large", "pip"):
        info = tmp_path / f"{name}-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Name: {name}\nVersion: 1\n", encoding="utf-8")
        (tmp_path / f"{name}.py").write_bytes(bytes(3_000_000 if name == "large" else 2_000))
        (tmp_path / f"{name}.pyc").write_bytes(bytes(500_000))
        record = f"{name}.py,,\n{name}.pyc,,\nmissing.py,,\n"
        (info / "RECORD").write_text(record, encoding="utf-8")
    found = installing.sizes(tmp_path, installing.TOOLS)
    assert list(found.items()) == [("large", 3.0), ("small", 0.002)]
    assert "setuptools" in pinned("diffprivlib")
    assert "setuptools" not in pinned("opendp")


# ------------------------------------------------------------------- many answers


def test_the_generated_flights_are_always_the_same() -> None:
    flights = many_answers.make_flights()
    assert len(flights) == 336_776
    assert flights == many_answers.make_flights()
    assert len({unit for unit, _, _ in flights}) == 4_043
    assert 1_000 < len({flight[1:] for flight in flights}) < 1_200
    by_unit = Counter(unit for unit, _, _ in flights)
    assert by_unit[0] > 10 * by_unit[4_000]
    for most in (10, 100):
        counts = many_answers.bounded_counts(flights, most)
        assert sum(counts) <= 4_043 * most
        groups = Counter(unit for unit, _, _ in set(flights))
        assert sum(counts) == sum(min(most, groups[unit]) for unit in groups)


def test_a_peer_answers_requests_of_its_own() -> None:
    toy = replace(peer(), more={"double": lambda request: {"twice": 2 * request["number"]}})
    assert protocol.reply(toy, {"do": "double", "number": 4}) == {"twice": 8}


def test_a_missing_or_failing_peer_is_named() -> None:
    absent = many_answers.OpenDP(None, {})
    assert absent.ask("share", counts=3) is None
    assert absent.error(3) is None
    process = PeerProcess("nothing", Path(sys.executable))
    failing = many_answers.OpenDP(process, {})
    assert failing.error(3) is None
    assert failing.omitted == {"opendp, share": "its process ended with exit code 1"}


# ------------------------------------------------------------------- a run


def test_only_a_full_run_writes_beside_the_benchmarks(tmp_path: Path) -> None:
    elsewhere = CACHE / "results"
    assert bench.parse_options([]).out is None
    assert bench.parse_options(["--render"]).out is None
    for short in (["--quick"], ["--short"], ["--alone"], ["--only", "draws"]):
        assert bench.parse_options(short).out == elsewhere
        assert bench.parse_options([*short, "--out", str(tmp_path)]).out == tmp_path
    with pytest.raises(SystemExit, match="2"):
        bench.parse_options(["--only", "nothing"])


@pytest.mark.parametrize("also", ["--quick", "--short", "--alone", "--render"])
def test_only_parts_measured_in_full_update_results(
    also: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench.parse_options(["--only", "draws", "--update"]).out is None
    for refused in (["--update"], ["--only", "draws", "--update", also]):
        with pytest.raises(SystemExit, match="2"):
            bench.parse_options(refused)
        assert "--update needs --only, and parts that are measured in full" in (
            capsys.readouterr().err
        )


def test_an_update_replaces_the_measured_parts_and_says_when(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The part is made up: five times as slow, measured later by another version."""
    bench.write(RESULTS, tmp_path)
    slower = json.loads(json.dumps(RESULTS["parts"]["solves"]))
    slower["seconds"] = timing.summary([5 * s for s in slower["seconds"]["rounds"]])
    later = {"date": "2099-01-01 00:00 UTC", "versions": {"leastnoise": "99.0"}}
    measured = {**RESULTS, **later, "parts": {"solves": slower}}
    monkeypatch.setattr(bench, "measure", lambda _plan, _only: measured)
    monkeypatch.setenv("LEASTNOISE_CACHE", "off")
    bench.main(["--only", "solves", "--update", "--out", str(tmp_path)])
    updated = bench.read_results(tmp_path)
    others = {name: part for name, part in RESULTS["parts"].items() if name != "solves"}
    assert updated["parts"] == {**others, "solves": slower}
    assert list(updated["parts"]) == list(RESULTS["parts"])
    assert (updated["date"], updated["versions"]) == (RESULTS["date"], RESULTS["versions"])
    assert updated["targets"] == targets.compare_with_targets(updated["parts"])
    assert updated["targets"] != RESULTS["targets"]
    page = (tmp_path / "results.md").read_text(encoding="utf-8")
    later_parts = ", ".join({**RESULTS.get("updated", {}), "solves": {}})
    assert f"Measured again later, as stated there: {later_parts}." in page
    _, section = page.split("## Certified solves")
    assert "Measured 2099-01-01 00:00 UTC, on" in section.split("\n## ")[0]
    assert "leastnoise 99.0" in section.split("\n## ")[0]
    assert page.count("2099-01-01") == 1


@pytest.mark.long
def test_a_quick_run_has_the_shape_of_a_full_one(tmp_path: Path) -> None:
    kept = {path: path.read_bytes() for path in (*bench.DOCUMENTS, HOME / "results.json")}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--quick", "--alone", "--out", tmp_path],
        cwd=HOME.parent,
        capture_output=True,
        check=False,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    assert all(line.startswith("bench: ") for line in done.stderr.splitlines())
    assert done.stdout == ""
    assert kept == {path: path.read_bytes() for path in kept}
    results = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert results["run"] == "quick"
    assert set(shape(results)) <= set(shape(RESULTS))
    assert (
        set(results["parts"]) == {*bench.WITHOUT_PEERS, *bench.WITH_PEERS} == set(RESULTS["parts"])
    )
    assert (tmp_path / "results.md").read_text(encoding="utf-8") == pages.results_page(results)
    charts = {path.name for path in (tmp_path / "figures").iterdir()}
    assert charts == {f"{name}.svg" for name in CHARTS}


def shape(results: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return the measurements: the part, and the values that identify a row."""
    parts = results["parts"]
    found: list[tuple[str, ...]] = [
        ("draws", row["family"], row["mode"]) for row in parts["draws"]["rows"]
    ]
    found += [("accuracy", *row["guarantee"], row["cost"]) for row in parts["accuracy"]["rows"]]
    found += [("calibrations", name) for name in parts["calibrations"]["seconds"]]
    found += [("starting", name) for name in parts["starting"]["seconds"]]
    found += [("growth", row["family"]) for row in parts["growth"]["n"]["rows"]]
    found += [("growth", row["question"]) for row in parts["growth"]["delta"]["rows"]]
    return found


# ------------------------------------------------------------------- pages


def summaries(found: Any) -> list[dict[str, Any]]:
    """Return every summary of rounds within some results."""
    if isinstance(found, dict):
        if "rounds" in found:
            return [found]
        return [item for value in found.values() for item in summaries(value)]
    if isinstance(found, list):
        return [item for value in found for item in summaries(value)]
    return []


def test_medians_ratios_and_targets_follow_from_the_rounds() -> None:
    found = summaries(RESULTS)
    assert len(found) > 100
    assert all(summary == timing.summary(summary["rounds"]) for summary in found)
    for row in RESULTS["parts"]["draws"]["rows"]:
        times = row["seconds"]
        for name, ratio in row["ratios"].items():
            assert ratio == timing.ratio(times["leastnoise"], times[name])
    assert RESULTS["targets"] == targets.compare_with_targets(RESULTS["parts"])


def test_no_noise_costs_less_than_the_proved_bound() -> None:
    """To the stored digits. Costs estimated from samples may miss by 7 standard errors (1e-11)."""
    rows = RESULTS["parts"]["accuracy"]["rows"]
    compared = 0
    for row in rows:
        assert row["certified"]["ratio"] >= 1 - 1e-4
        assert row["closed"]["cost"] >= row["bound"] * (1 - 1e-4)
        for best in row["peers"].values():
            if best is not None:
                compared += 1
                assert best["cost"] + 7 * best["error"] >= row["bound"] * (1 - 1e-4)
    assert compared > len(rows)


def test_every_peer_is_measured_or_named_with_a_reason() -> None:
    for row in RESULTS["parts"]["draws"]["rows"]:
        for name in PEERS:
            assert (name in row["seconds"]) != bool(row["omitted"].get(name))
    for row in RESULTS["parts"]["accuracy"]["rows"]:
        for name, best in row["peers"].items():
            assert best is not None or row["rejected"][name]


@pytest.mark.parametrize("document", bench.DOCUMENTS, ids=lambda path: path.name)
def test_the_tables_of_a_document_show_the_results(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    assert (
        len(pages.find_marks(text)) == text.count("<!-- bench:") == text.count("<!-- bench end -->")
    )
    assert pages.find_marks(text)
    assert pages.fill_marks(text, RESULTS) == text


def test_results_md_shows_the_results() -> None:
    assert (HOME / "results.md").read_text(encoding="utf-8") == pages.results_page(RESULTS)


def test_every_table_and_every_figure_is_shown() -> None:
    text = bench.DOCUMENTS[1].read_text(encoding="utf-8")
    shown = {
        *pages.find_marks(text),
        *(name for names in pages.SECTIONS.values() for name in names),
    }
    shown |= set(pages.find_marks(bench.DOCUMENTS[0].read_text(encoding="utf-8")))
    assert shown == set(tables.TABLES)
    charts = set(re.findall(r"\(\.\./benchmarks/figures/([\w-]+)\.svg\)", text))
    assert charts == set(CHARTS) == {path.stem for path in (HOME / "figures").iterdir()}


def test_a_part_that_was_not_measured_is_named() -> None:
    less = {**RESULTS, "parts": {}}
    assert tables.make_table("solves", less) == "Not measured in this run (solves)."
    assert targets.compare_with_targets({}) == []
