"""The time of calibrations in closed form, and the extra cost of the discretized noise."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial

import leastnoise as ln
from benchmarks.peers.process import Cannot, PeerProcess
from benchmarks.plan import Plan
from benchmarks.progress import say
from benchmarks.timing import Contestant, Row, interleaved, seconds, summary
from leastnoise.calibration import FAMILIES

_USUAL = ln.Privacy(1, "1e-6")
_DELTAS = ("1e-9", "0.01", "0.1", "0.3", "0.5", "0.7", "0.9", "0.99")


def measure(plan: Plan, peers: Mapping[str, PeerProcess], missing: Mapping[str, str]) -> Row:
    """Return the seconds of each call, and of the peers' Gaussian for the same guarantee."""
    calls = _calls()
    contestants: dict[str, Contestant] = {
        name: partial(seconds, call) for name, call in calls.items()
    }
    omitted = dict(missing)
    for name, peer in peers.items():
        request = {"family": "gaussian", "epsilon": 1.0, "delta": 1e-6, "integer": False}
        try:
            peer.ask("make", **request)
        except Cannot as reason:
            omitted[name] = str(reason)
            continue
        contestants[f"{name}: gaussian"] = partial(_time_peer, peer, request)
    say(f"calibrations: {len(contestants)} calls")
    times = interleaved(contestants, plan.rounds)
    return {
        "seconds": {name: summary(rounds) for name, rounds in times.items()},
        "omitted": omitted,
        "discretized_above": {str(cost): _extra_cost(cost) for cost in (ln.l1, ln.l2)},
    }


def _calls() -> dict[str, Callable[[], object]]:
    """Return the calls by name."""
    calls: dict[str, Callable[[], object]] = {
        "calibrate, l1 at (0, 0.1)": partial(
            ln.calibrate, ln.Privacy(delta="0.1"), sensitivity=1, cost=ln.l1
        ),
        "calibrate, l2 at (0, 0.9)": partial(
            ln.calibrate, ln.Privacy(delta="0.9"), sensitivity=1, cost=ln.l2
        ),
        "calibrate, a count at (1, 1e-6)": partial(
            ln.calibrate, _USUAL, sensitivity=1, integer=True
        ),
    }
    for family in FAMILIES:
        if family in ("comb", "geometric", "classic_gaussian"):
            continue  # they need another cost, integers or a smaller ε
        call = partial(ln.calibrate, _USUAL, sensitivity=1, family=family)
        calls[f"family={family!r} at (1, 1e-6)"] = call
    calls["compare(solve=False) at (1, 1e-6)"] = partial(
        ln.compare, _USUAL, sensitivity=1, solve=False
    )
    calls["compare(solve=False), a count"] = partial(
        ln.compare, _USUAL, sensitivity=1, solve=False, integer=True
    )
    for family in ("gaussian", "laplace", "truncated_laplace", "staircase", "certified noise"):
        calls[f"compose, 1000 × {family}"] = _composition(family)
    counts = [ln.NumericQuery(str(i), sensitivity=i, integer=True) for i in range(1, 11)]
    calls["plan, 10 counts, solve=False"] = partial(ln.plan, _USUAL, counts, solve=False)
    calls["privacy_for, a count"] = partial(
        ln.privacy_for, error=5, confidence="0.95", sensitivity=1, delta="1e-6", integer=True
    )
    return calls


def _composition(family: str) -> Callable[[], object]:
    """Return a call that computes δ at ε = 2 of 1000 releases, each with (1/30, 1e-9)."""
    mechanism = ln.calibrate(
        ln.Privacy("1/30", "1e-9"),
        sensitivity=1,
        family=None if family == "certified noise" else family,
    )
    return lambda: ln.compose([(mechanism, 1000)]).delta(2)


def _time_peer(peer: PeerProcess, request: Row) -> float:
    return float(peer.ask("make", **request)["seconds"])


def _extra_cost(cost: ln.Cost) -> float:
    """Return the relative extra cost of discretized over continuous noise, at the worst δ."""
    worst = Fraction(0)
    for delta in _DELTAS:
        mechanism = ln.calibrate(ln.Privacy(delta=delta), sensitivity=1, cost=cost)
        worst = max(worst, mechanism.discretized.cost / mechanism.cost - 1)
    return float(f"{float(worst):.3g}")
