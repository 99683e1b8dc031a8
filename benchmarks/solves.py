"""Certified solves over a grid of promises and costs: how near to the least, and how long.

    python benchmarks/solves.py            the whole grid, any shape, up to 25 s each
    python benchmarks/solves.py --quick    one column of it

Every certificate is written, read back and proved again. Failures are listed with their gap.
"""

import argparse
import os
import time
from fractions import Fraction
from statistics import median

import leastnoise as ln

EPSILONS = ("0", "0.1", "0.5", "1", "2", "4")
DELTAS = ("0", "1e-9", "1e-6", "1e-3", "0.05", "0.3", "0.5", "0.9")
COSTS = (ln.l1, ln.l2, ln.lp(4), ln.threshold(2))
GAP, SMALL = Fraction(1, 1000), Fraction(1, 10**9)


def main() -> None:
    """Solve and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="only ε = 1")
    parser.add_argument("--seconds", default="25", help="how long each may take")
    options = parser.parse_args()
    os.environ["LEASTNOISE_CACHE"] = "off"
    epsilons = ("1",) if options.quick else EPSILONS
    rows = [
        solve(epsilon, delta, cost, options.seconds)
        for epsilon in epsilons
        for delta in DELTAS
        if (epsilon, delta) != ("0", "0")
        for cost in COSTS
    ]
    times, checks = [row[0] for row in rows], [row[1] for row in rows]
    failed = [row[3] for row in rows if not row[2]]
    print(f"{len(rows)} solves: median {median(times):.2f} s, longest {max(times):.1f} s")
    print(f"proving again, from JSON: median {median(checks):.3f} s, longest {max(checks):.2f} s")
    print(f"gap not reached: {len(failed)}")
    for name in failed:
        print(f"  {name}")


def solve(epsilon: str, delta: str, cost: ln.Cost, seconds: str) -> tuple[float, float, bool, str]:
    """Return the time, the time of the check, whether the gap was reached, and a description."""
    start = time.perf_counter()
    mechanism = ln.calibrate(
        ln.Privacy(epsilon, delta), sensitivity=1, cost=cost, among="any", seconds=seconds
    )
    took = time.perf_counter() - start
    text = mechanism.certificate.to_json()
    start = time.perf_counter()
    certificate = ln.Certificate.from_json(text)
    certificate.check()
    checked = time.perf_counter() - start
    excess = certificate.cost - certificate.lower_bound
    reached = excess <= max(GAP * certificate.lower_bound, SMALL)
    name = (
        f"ε = {epsilon}, δ = {delta}, {cost}: {float(certificate.lower_bound):.6g} … "
        f"{float(certificate.cost):.6g}, gap {float(certificate.gap):.2e}, {took:.2f} s"
    )
    print(name, flush=True)
    return took, checked, reached, name


if __name__ == "__main__":
    main()
