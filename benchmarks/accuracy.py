"""What each library's best noise for a promise costs, beside ours and what is proved least.

At Δ = 1, for real answers and for counts, which stay whole numbers. A peer's best is the cheapest
of its mechanisms that keep the promise; one for (ε, 0) keeps (ε, δ). Costs are E|X| and E X², by
formula from the scale that the peer itself chooses; where only draws tell, with their standard
error.
"""

from collections.abc import Mapping
from typing import Any

import leastnoise as ln
from benchmarks import laws
from benchmarks.peers.process import Cannot, PeerProcess
from benchmarks.plan import Plan
from benchmarks.progress import say
from benchmarks.timing import Row, short

COSTS = {"l1": ln.l1, "l2": ln.l2}


def measured(plan: Plan, peers: Mapping[str, PeerProcess], missing: Mapping[str, str]) -> Row:
    """Return a row for each promise, kind of answer and cost."""
    rows = []
    for epsilon, delta in plan.promises:
        for integer in (False, True):
            say(f"accuracy: (ε, δ) = ({epsilon}, {delta}), {'counts' if integer else 'real'}")
            theirs = {
                name: _laws(peer, float(epsilon), float(delta), integer, plan.law_seconds)
                for name, peer in peers.items()
            }
            for which, (name, cost) in enumerate(COSTS.items()):
                row: Row = {"promise": [epsilon, delta], "integer": integer, "cost": name}
                row |= _ours(ln.Privacy(epsilon, delta), cost, integer, plan.seconds)
                row["peers"] = {
                    peer: _best(found, which, row["bound"]) for peer, found in theirs.items()
                }
                row["refused"] = {peer: found["refused"] for peer, found in theirs.items()}
                rows.append(row)
    return {"rows": rows, "missing": dict(missing)}


def _ours(privacy: ln.Privacy, cost: ln.Cost, integer: bool, seconds: float) -> Row:
    """Return the proved bound, the certified noise and the best closed form."""
    asked: dict[str, Any] = {"sensitivity": 1, "cost": cost, "integer": integer, "shape": "any"}
    found = ln.calibrate(privacy, **asked, seconds=seconds)
    known = ln.compare(privacy, **asked, solve=False).rows[0]
    bound = float(found.certificate.lower_bound)
    return {
        "bound": short(bound),
        "certified": {"cost": short(float(found.cost)), "ratio": short(float(found.cost) / bound)},
        "closed": {
            "cost": short(float(known.cost)),
            "ratio": short(float(known.cost) / bound),
            "family": known.family,
        },
    }


def _laws(peer: PeerProcess, epsilon: float, delta: float, integer: bool, seconds: float) -> Row:
    """Return the laws of all mechanisms that keep the promise, and why others do not."""
    found, refused = {}, {}
    for name in peer.ask("introduce")["laws"]["whole" if integer else "real"]:
        try:
            found[name] = peer.ask(
                "law", name=name, epsilon=epsilon, delta=delta, integer=integer, seconds=seconds
            )
        except Cannot as reason:
            refused[name] = str(reason)
    return {"found": found, "refused": refused}


def _best(laws_found: Row, which: int, bound: float) -> Row | None:
    """Return the cheapest mechanism of a peer; None if it has none."""
    costs = {name: laws.moments(law)[which] for name, law in laws_found["found"].items()}
    if not costs:
        return None
    name = min(costs, key=lambda one: costs[one])
    law = laws_found["found"][name]
    return {
        "mechanism": name,
        "law": {key: part for key, part in law.items() if key not in ("moments", "errors")},
        "cost": short(costs[name]),
        "error": short(laws.errors(law)[which]),
        "ratio": short(costs[name] / bound),
    }
