"""Certified solves over a grid of guarantees and costs: their gaps and times.

Noise of any shape, at Δ = 1. Every certificate is written, read back and verified.
"""

from fractions import Fraction

import leastnoise as ln
from benchmarks.plan import Plan
from benchmarks.progress import say
from benchmarks.timing import Row, seconds, short, summary

COSTS = {"l1": ln.l1, "l2": ln.l2, "l4": ln.lp(4), "threshold": ln.threshold(2)}
GAP, SMALLEST_EXCESS = Fraction(1, 1000), Fraction(1, 10**9)


def measure(plan: Plan) -> Row:
    """Return a row for each solve."""
    rows = [
        time_solve(epsilon, delta, cost, plan.seconds)
        for epsilon in plan.epsilons
        for delta in plan.deltas
        if (epsilon, delta) != ("0", "0")
        for cost in plan.costs
    ]
    return {
        "time_limit": plan.seconds,
        "seconds": summary(row["seconds"] for row in rows),
        "verifying": summary(row["verifying"] for row in rows),
        "not_reached": sum(not row["reached"] for row in rows),
        "rows": rows,
    }


def time_solve(epsilon: str, delta: str, cost: str, time_limit: float) -> Row:
    """Return the time of one solve, the time to verify it, and its gap."""
    mechanisms: list[ln.Mechanism] = []
    privacy, objective = ln.Privacy(epsilon, delta), COSTS[cost]
    took = seconds(
        lambda: mechanisms.append(
            ln.calibrate(
                privacy, sensitivity=1, cost=objective, shape="any", seconds=str(time_limit)
            )
        )
    )
    text = mechanisms[0].certificate.to_json()
    verifying = seconds(lambda: ln.Certificate.from_json(text).verify())
    certificate = ln.Certificate.from_json(text)
    excess = certificate.cost - certificate.lower_bound
    row = {
        "guarantee": [epsilon, delta],
        "cost": cost,
        "seconds": short(took),
        "verifying": short(verifying),
        "gap": short(float(certificate.gap)) if certificate.lower_bound else None,
        "reached": excess <= max(GAP * certificate.lower_bound, SMALLEST_EXCESS),
    }
    say(f"solves: (ε, δ) = ({epsilon}, {delta}), {cost}: {took:.2f} s, gap {row['gap']}")
    return row
