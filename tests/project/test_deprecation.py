"""Old names work for one more version and warn with the new one; the root has exactly its names."""

import inspect
import math
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import cached_property, reduce
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

import leastnoise
from leastnoise import plots as typed_plots
from leastnoise.cli import main
from leastnoise.deprecation import RenamedAttribute, RenamedWarning, renamed_arguments
from leastnoise.mechanism import PermuteAndFlip, calibrate_pair
from leastnoise.noise import Laplace

ln: Any = leastnoise  # old names have no types
plots: Any = typed_plots
P = ln.Privacy
EXACT = P(delta="0.1")


class Objects:
    """One object of each class that has old names, made on first use."""

    mechanism = cached_property(lambda _: ln.calibrate(EXACT, sensitivity=1))
    certificate = cached_property(lambda self: self.mechanism.certificate)
    answer = cached_property(lambda self: self.mechanism.release(5))
    answers = cached_property(lambda self: self.mechanism.release(np.zeros(3)))
    pair = cached_property(lambda _: calibrate_pair(P(1), sensitivity=1))
    both = cached_property(lambda self: self.pair.release((1, 2)))
    selection = cached_property(lambda _: PermuteAndFlip(P(1), 1, 3))
    profile = cached_property(lambda self: self.mechanism.profile)
    noise = cached_property(lambda _: Laplace(1))
    comparison = cached_property(lambda _: ln.compare(EXACT, sensitivity=1, releases=2))
    contender = cached_property(lambda self: self.comparison.rows[0])
    plan = cached_property(
        lambda _: ln.plan(P(1), [ln.NumericQuery("a", sensitivity=1)], solve=False)
    )
    option = cached_property(lambda self: self.plan.rows[0])
    table = cached_property(
        lambda _: ln.protect(pd.DataFrame({"v": [1, 2, 3]}), unit=None, ledger=ln.UNRECORDED)
    )
    grouped = cached_property(
        lambda _: ln.protect(pd.DataFrame({"v": [1], "g": ["a"]}), unit=None, ledger=ln.UNRECORDED)
    )
    folder = cached_property(lambda _: TemporaryDirectory())
    ledger = cached_property(
        lambda self: ln.Ledger(Path(self.folder.name) / "a.ledger", limit=P(1), analyst="ann")
    )
    account = cached_property(lambda self: self.ledger.account)
    receipt = cached_property(
        lambda self: self.ledger.charge(self.mechanism_at_one.spending(), "key")
    )
    mechanism_at_one = cached_property(lambda _: ln.calibrate(P(1), sensitivity=1, solve=False))
    mean = cached_property(lambda self: self.table.mean("v", bounds=(0, 4), privacy=P(1, "1e-6")))
    count = cached_property(lambda _: ln.Count(by="g", groups=["a"]))
    quantile = cached_property(lambda _: ln.Quantile("v", "0.9", bounds=(0, 4), bins=8))
    median = cached_property(lambda self: self.table.median("v", bounds=(0, 4), privacy=P(1)))


OBJECTS = Objects()

# The object, its class, the old name and the new one, of attributes that only have another name.
RENAMED = [
    ("mechanism", "Mechanism", "drawn", "discretized"),
    ("mechanism", "Mechanism", "protected", "effective_sensitivity"),
    ("mechanism", "Mechanism", "needs_allowance", "needs_allow_exact"),
    ("mechanism", "Mechanism", "check", "verify"),
    ("certificate", "Certificate", "check", "verify"),
    ("pair", "PairMechanism", "drawn", "discretized"),
    ("pair", "PairMechanism", "protected", "effective_sensitivity"),
    ("selection", "PermuteAndFlip", "needs_allowance", "needs_allow_exact"),
    ("answer", "Answer", "bound", "max_error"),
    ("answers", "Answers", "bound", "max_error"),
    ("both", "PairAnswer", "bound", "max_error"),
    ("mean", "MeanAnswer", "bound", "max_error"),
    ("median", "QuantileAnswer", "bound", "max_error"),
    ("median", "QuantileAnswer", "cell", "bin"),
    ("median", "QuantileAnswer", "cells", "bins"),
    ("median", "QuantileAnswer", "cell_bounds", "bin_bounds"),
    ("profile", "Profile", "impossible", "infinity_mass"),
    ("noise", "Noise", "mass", "probability_up_to"),
    ("comparison", "Comparison", "asked", "problem"),
    ("comparison", "Comparison", "each", "per_release"),
    ("comparison", "Comparison", "overtaking", "gaussian_wins_from"),
    ("comparison", "Comparison", "refused", "excluded"),
    ("contender", "Contender", "impossible", "infinity_mass"),
    ("plan", "Plan", "wanted", "queries"),
    ("plan", "Plan", "together", "total"),
    ("option", "Option", "promises", "guarantees"),
    ("option", "Option", "refused", "excluded"),
    ("plan", "Plan", "check", "verify"),
    ("count", "Query", "keys", "groups"),
    ("quantile", "Quantile", "share", "q"),
    ("quantile", "Quantile", "cells", "bins"),
    ("ledger", "Ledger", "left", "remaining"),
    ("ledger", "Ledger", "mine", "analyst_account"),
    ("ledger", "Ledger", "allow", "set_limit"),
    ("account", "Account", "left", "remaining"),
    ("receipt", "Receipt", "again", "reused"),
]
# The module, the old name, and where it is now.
MOVED = [
    ("leastnoise", "hold", "leastnoise.Mechanism.from_noise"),
    ("leastnoise", "Wanted", "leastnoise.NumericQuery"),
    ("leastnoise", "points", "leastnoise.piecewise_linear"),
    *[
        ("leastnoise", name, f"leastnoise.noise.{name}")
        for name in (
            *("DiscreteUniform", "Gaussian", "Laplace", "Staircase", "TruncatedLaplace", "Uniform"),
        )
    ],
    ("leastnoise", "Comparison", "leastnoise.planning.Comparison"),
    ("leastnoise", "Plan", "leastnoise.planning.Plan"),
    ("leastnoise", "Composition", "leastnoise.accounting.Composition"),
    ("leastnoise", "Protected", "leastnoise.tables.ProtectedTable"),
    ("leastnoise.tables", "Protected", "leastnoise.tables.ProtectedTable"),
    ("leastnoise.tables", "Question", "leastnoise.tables.Query"),
    ("leastnoise", "Rearrangement", "leastnoise.paper.Rearrangement"),
    ("leastnoise", "rearrange", "leastnoise.paper.rearrange"),
    ("leastnoise", "symmetrised", "leastnoise.paper.symmetrize"),
    ("leastnoise", "calibrate_pair", "leastnoise.mechanism.calibrate_pair"),
    ("leastnoise.mechanism", "Drawn", "leastnoise.mechanism.Discretized"),
    ("leastnoise.mechanism", "hold", "leastnoise.mechanism.Mechanism.from_noise"),
    ("leastnoise.costs", "points", "leastnoise.costs.piecewise_linear"),
    ("leastnoise.planning", "Wanted", "leastnoise.planning.NumericQuery"),
    ("leastnoise.paper", "symmetrised", "leastnoise.paper.symmetrize"),
    ("leastnoise.plots", "compared", "leastnoise.plots.density_by_family"),
    ("leastnoise.plots", "laws", "leastnoise.plots.distributions"),
    ("leastnoise.plots", "library", "leastnoise.plots.load_altair"),
    ("leastnoise.plots", "styled", "leastnoise.plots.apply_style"),
    ("leastnoise.plots", "titled", "leastnoise.plots.make_title"),
]


def find_by_old_keys(method: str) -> Callable[[], object]:
    """Return a call of a method of the table with the old name of ``groups``."""
    return lambda: (
        getattr(OBJECTS.table, method)("v", bounds=(0, 4), by="v", keys=[1], privacy=P(1)).keys
    )


# Each call by old words, its result by new ones, and the warnings.
CALLS: dict[str, tuple[Callable[[], object], Callable[[], object], list[tuple[str, str]]]] = {
    "calibrate": (
        lambda: ln.calibrate(EXACT, sensitivity=1, among="decreasing"),
        lambda: OBJECTS.mechanism,
        [("among=", "shape="), ('"decreasing"', '"unimodal"')],
    ),
    "calibrate any": (
        lambda: ln.calibrate(P(delta="0.75"), sensitivity=1, cost=ln.l2, among="any").cost,
        lambda: ln.calibrate(P(delta="0.75"), sensitivity=1, cost=ln.l2, shape="any").cost,
        [("among=", "shape=")],
    ),
    "compare": (
        lambda: ln.compare(EXACT, sensitivity=1, among="any").lower_bound,
        lambda: ln.compare(EXACT, sensitivity=1, shape="any").lower_bound,
        [("among=", "shape=")],
    ),
    "privacy_for": (
        lambda: ln.privacy_for(error=9, confidence="0.9", sensitivity=1, epsilon=1, among="any"),
        lambda: ln.privacy_for(error=9, confidence="0.9", sensitivity=1, epsilon=1, shape="any"),
        [("among=", "shape=")],
    ),
    "plan": (
        lambda: ln.plan(P(1), wanted=OBJECTS.plan.queries, solve=False).total,
        lambda: OBJECTS.plan.total,
        [("wanted=", "queries=")],
    ),
    "distributions": (
        lambda: plots.distributions(noises={"a": Laplace(1)}, title="t").to_dict(),
        lambda: plots.distributions({"a": Laplace(1)}, "t").to_dict(),
        [("noises=", "noise=")],
    ),
    "lower_bound": (
        lambda: OBJECTS.mechanism.lower_bound("decreasing"),
        lambda: OBJECTS.mechanism.lower_bound("unimodal"),
        [('"decreasing"', '"unimodal"')],
    ),
    "lower_bound by name": (
        lambda: OBJECTS.mechanism.lower_bound(among="any"),
        lambda: OBJECTS.mechanism.lower_bound(shape="any"),
        [("among=", "shape=")],
    ),
    "release": (
        lambda: OBJECTS.mechanism.release(np.zeros(3), touches=2).privacy,
        lambda: OBJECTS.mechanism.release(np.zeros(3), contributions=2).privacy,
        [("touches=", "contributions=")],
    ),
    "Count": (
        lambda: ln.Count(by="g", keys=["a"]),
        lambda: ln.Count(by="g", groups=["a"]),
        [("keys=", "groups=")],
    ),
    "Histogram": (
        lambda: ln.Histogram("v", edges=[0, 1], by="g", keys=["a"]),
        lambda: ln.Histogram("v", edges=[0, 1], by="g", groups=["a"]),
        [("keys=", "groups=")],
    ),
    "Sum": (
        lambda: ln.Sum("v", bounds=(0, 4), by="g", keys=["a"]),
        lambda: ln.Sum("v", bounds=(0, 4), by="g", groups=["a"]),
        [("keys=", "groups=")],
    ),
    "Mean": (
        lambda: ln.Mean("v", bounds=(0, 4), by="g", keys=["a"]),
        lambda: ln.Mean("v", bounds=(0, 4), by="g", groups=["a"]),
        [("keys=", "groups=")],
    ),
    "Quantile.groups": (
        lambda: ln.Quantile("v", "0.9", bounds=(0, 4), by="g", keys=["a"]),
        lambda: ln.Quantile("v", "0.9", bounds=(0, 4), by="g", groups=["a"]),
        [("keys=", "groups=")],
    ),
    "Quantile": (
        lambda: ln.Quantile("v", bounds=(0, 4), share="0.9"),
        lambda: ln.Quantile("v", "0.9", bounds=(0, 4)),
        [("share=", "q=")],
    ),
    "Quantile.bins": (
        lambda: ln.Quantile("v", 0.5, bounds=(0, 4), cells=7),
        lambda: ln.Quantile("v", 0.5, bounds=(0, 4), bins=7),
        [("cells=", "bins=")],
    ),
    **{
        method: (find_by_old_keys(method), lambda: ((1,),), [("keys=", "groups=")])
        for method in ("sum", "mean", "median")
    },
    "histogram": (
        lambda: OBJECTS.grouped.histogram("v", edges=[0, 4], by="g", keys=["a"], privacy=P(1)).keys,
        lambda: (
            OBJECTS.grouped.histogram("v", edges=[0, 4], by="g", groups=["a"], privacy=P(1)).keys
        ),
        [("keys=", "groups=")],
    ),
    "count": (
        lambda: OBJECTS.table.count(by="v", keys=[1], privacy=P(1)).keys,
        lambda: ((1,),),
        [("keys=", "groups=")],
    ),
    "quantile": (
        lambda: OBJECTS.table.quantile("v", share="0.25", bounds=(0, 4), privacy=P(1)).q,
        lambda: OBJECTS.table.quantile("v", "0.25", bounds=(0, 4), privacy=P(1)).q,
        [("share=", "q=")],
    ),
    "median": (
        lambda: OBJECTS.table.median("v", cells=3, bounds=(0, 9), privacy=P(1)).bins,
        lambda: 3,
        [("cells=", "bins=")],
    ),
    "protect": (
        lambda: (
            ln.protect(
                pd.DataFrame({"v": [1]}), unit=None, ledger=ln.UNRECORDED, neighbours="replace"
            ).unit
        ),
        lambda: (
            ln.protect(
                pd.DataFrame({"v": [1]}), unit=None, ledger=ln.UNRECORDED, neighbors="replace"
            ).unit
        ),
        [("neighbours=", "neighbors=")],
    ),
    "the certified row": (
        lambda: OBJECTS.comparison["least"],
        lambda: OBJECTS.comparison["certified"],
        [('"least"', '"certified"')],
    ),
    "Certificate.among": (
        lambda: OBJECTS.certificate.among,
        lambda: "decreasing",
        [("Certificate.among", "Certificate.shape")],
    ),
    "Plan.ready": (
        lambda: OBJECTS.plan.ready,
        lambda: tuple(OBJECTS.plan.mechanisms.values()),
        [("Plan.ready", "Plan.mechanisms")],
    ),
}


def message(old: str, new: str) -> str:
    return f"`{old}` is deprecated; use `{new}`. It will be removed in 0.7."


def warned(use: Callable[[], object]) -> tuple[object, list[str]]:
    """Return the result of a use and its warnings, all of which must point at this file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = use()
    assert {(one.category, one.filename) for one in caught} <= {(RenamedWarning, __file__)}
    return result, [str(one.message) for one in caught]


@pytest.mark.parametrize(("name", "owner", "old", "new"), RENAMED)
def test_an_old_attribute_is_the_new_one(name: str, owner: str, old: str, new: str) -> None:
    found = getattr(OBJECTS, name)
    expected = getattr(found, new)
    result, said = warned(lambda: getattr(found, old))
    assert result == expected
    assert said == [message(f"{owner}.{old}", f"{owner}.{new}")]


def test_every_old_attribute_is_in_the_table() -> None:
    known = {(owner, old) for _, owner, old, _ in RENAMED}
    known |= {("Certificate", "among"), ("Plan", "ready")}
    found = {
        (owner, name)
        for thing in (getattr(OBJECTS, name) for name in vars(Objects) if name[0] != "_")
        for base in type(thing).__mro__
        for owner, name in [
            (base.__name__, name)
            for name, value in vars(base).items()
            if isinstance(value, RenamedAttribute)
        ]
    }
    assert found == known


def test_old_attributes_are_quiet_until_they_are_read() -> None:
    """Help, copies, comparisons and dir() of an object warn of nothing: warnings are errors."""
    inspect.getmembers(type(OBJECTS.mechanism))
    assert "drawn" in dir(OBJECTS.mechanism)
    assert OBJECTS.mechanism == ln.calibrate(EXACT, sensitivity=1)
    OBJECTS.mechanism.verify()
    assert isinstance(type(OBJECTS.mechanism).drawn, RenamedAttribute)


@pytest.mark.parametrize(("module", "old", "new"), MOVED)
def test_an_old_name_is_the_new_one(module: str, old: str, new: str) -> None:
    home, _, rest = new.removeprefix("leastnoise.").partition(".")
    whole = import_module("leastnoise")
    if rest:
        whole = import_module(f"leastnoise.{home}") if home != "Mechanism" else whole
    path = rest if rest and home != "Mechanism" else new.removeprefix("leastnoise.")
    expected = reduce(getattr, path.split("."), whole)
    result, said = warned(lambda: getattr(import_module(module), old))
    assert result == expected
    assert said == [message(f"{module}.{old}", new)]
    assert old not in dir(import_module(module))


@pytest.mark.parametrize("name", CALLS)
def test_old_words_in_a_call_mean_the_new_ones(name: str) -> None:
    old, new, pairs = CALLS[name]
    result, said = warned(old)
    assert result == new()
    assert said == [message(*pair) for pair in pairs]


def test_hold_builds_what_from_noise_builds() -> None:
    held, said = warned(lambda: ln.hold(Laplace(1), P(1), sensitivity=1))
    assert held == ln.Mechanism.from_noise(Laplace(1), P(1), sensitivity=1)
    assert said == [message("leastnoise.hold", "leastnoise.Mechanism.from_noise")]


BOTH = {
    "among": lambda: ln.calibrate(EXACT, sensitivity=1, among="any", shape="any"),
    "touches": lambda: OBJECTS.mechanism.release(np.zeros(3), touches=2, contributions=3),
}


@pytest.mark.parametrize("old", BOTH)
def test_the_old_and_the_new_word_together_are_rejected(old: str) -> None:
    rejected = rf"{old}= is the old name of \w+=, got both"
    with pytest.raises(ln.errors.InvalidParameter, match=rejected):
        BOTH[old]()


def test_renamed_arguments_keep_the_signature() -> None:
    def double(number: int, *, by: int = 2) -> int:
        """Multiply."""
        return number * by

    wrapped: Any = renamed_arguments(times="by")(double)
    assert inspect.signature(wrapped) == inspect.signature(double)
    assert (wrapped.__name__, wrapped.__doc__) == ("double", "Multiply.")
    assert (wrapped(3), wrapped(3, by=5)) == (6, 15)
    assert warned(lambda: wrapped(3, times=5)) == (15, [message("times=", "by=")])
    with pytest.raises(TypeError, match="unexpected keyword argument 'other'"):
        wrapped(3, other=5)


@pytest.mark.parametrize("contributions", [1, 3])
def test_a_release_that_the_old_word_ends_keeps_no_value(contributions: int) -> None:
    """Where warnings are errors, as here, or both words are given: no frame holds the value."""
    release = OBJECTS.mechanism.release
    with pytest.raises((ln.errors.InvalidParameter, DeprecationWarning), match="touches") as caught:
        release(float("31337.25"), touches=2, contributions=contributions)
    trace, seen = caught.value.__traceback__, 0
    while trace is not None:
        if trace.tb_frame.f_code.co_filename != __file__:
            seen += 1
            assert 31337.25 not in trace.tb_frame.f_locals.values()
        trace = trace.tb_next
    assert seen  # release itself


# ------------------------------------------------------------------- the command line


def unwrapped(result: Result) -> str:
    assert max(map(len, result.stderr.splitlines())) <= 80
    return " ".join(result.stderr.split())


def test_old_commands_and_options_work_hidden_and_warn(tmp_path: Path) -> None:
    file = tmp_path / "certificate.json"
    file.write_text(OBJECTS.certificate.to_json(), encoding="utf-8")
    old, new = (CliRunner().invoke(main, [name, str(file)]) for name in ("check", "verify"))
    assert (old.exit_code, old.stdout) == (new.exit_code, new.stdout) == (0, new.stdout)
    assert unwrapped(old) == f"Warning: {message('leastnoise check', 'leastnoise verify')}"
    assert not new.stderr
    assert "Verified now" in new.stdout

    asked = ["calibrate", "--delta", "0.75", "--sensitivity", "1", "--cost", "l2"]
    old = CliRunner().invoke(main, [*asked, "--among", "any"])
    new = CliRunner().invoke(main, [*asked, "--shape", "any"])
    assert (old.exit_code, old.stdout) == (new.exit_code, new.stdout) == (0, new.stdout)
    assert unwrapped(old) == f"Warning: {message('--among', '--shape')}"
    assert new.stdout != CliRunner().invoke(main, asked).stdout

    assert "\n  check " not in CliRunner().invoke(main, ["--help"]).stdout
    assert "--among" not in CliRunner().invoke(main, ["calibrate", "--help"]).stdout


def test_the_old_command_fails_as_the_new_one(tmp_path: Path) -> None:
    file = tmp_path / "certificate.json"
    file.write_text(OBJECTS.certificate.to_json().replace("5", "4"), encoding="utf-8")
    old, new = (CliRunner().invoke(main, [name, str(file)]) for name in ("check", "verify"))
    assert old.exit_code == new.exit_code == 4
    assert old.stderr.endswith(new.stderr)


# ------------------------------------------------------------------- words that are data


def test_stored_words_are_those_of_0_5_0() -> None:
    certificate = OBJECTS.certificate.to_json()
    assert re.search(r'"among": "decreasing"', certificate)
    assert ln.Certificate.from_json(certificate).shape == "unimodal"
    stored = OBJECTS.comparison.to_dict()
    assert stored["among"] == "decreasing"
    assert {"each", "refused", "gaussian_overtakes_at"} <= stored.keys()
    assert "least" in {row["family"] for row in stored["rows"]}
    assert "impossible" in stored["rows"][0]
    assert "together" in OBJECTS.plan.to_dict()
    bent = ln.piecewise_linear([(0, 0), (1, "1/2")])
    assert (repr(bent), bent.stored_name) == (
        "piecewise_linear([(0, 0), (1, 0.5)])",
        "points([(0, 0), (1, 0.5)])",
    )
    spent = OBJECTS.mechanism.spending().mechanisms
    assert all(
        {"drawn", "privacy", "sensitivity", "integer"} <= one.keys() for one in spent.values()
    )


# ------------------------------------------------------------------- the root

ROOT = """
Answer Answers Certificate ClippedShare Cost Count EstimateBounds Histogram Ledger Max Mean
Mechanism Min Noise NumericQuery Privacy Profile Quantile Std Steps Sum UNRECORDED Variance
calibrate col compare compose errors l1 l2 lp noise piecewise_linear plan privacy_for protect
threshold
"""


def test_the_root_has_exactly_its_names() -> None:
    script = "import leastnoise; print(*dir(leastnoise)); from leastnoise import *; print(*dir())"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    listed, imported = (set(line.split()) for line in done.stdout.splitlines())
    assert listed == {*ROOT.split(), "__version__"}
    assert {name for name in imported if name[0] != "_"} == {*ROOT.split(), "leastnoise"}
    assert math.isfinite(ln.noise.Uniform(5).radius)


def test_names_that_never_were_are_errors() -> None:
    for module in {module for module, _, _ in MOVED}:
        with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
            _ = import_module(module).nothing
