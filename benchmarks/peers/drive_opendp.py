"""OpenDP's measurements, whose scales its own search finds for a promise."""

from importlib import import_module
from importlib.metadata import version
from math import sqrt
from typing import Any

from benchmarks.peers.speaking import Many, One, Peer, Promise, Row, serve

dp: Any = import_module("opendp.prelude")


def main() -> None:
    """Answer requests about OpenDP."""
    dp.enable_features("contrib")
    serve(
        Peer(
            versions={"opendp": version("opendp")},
            one={
                "laplace": lambda promise: laplace(promise)[1],
                "gaussian": lambda promise: gaussian(promise)[1],
                "geometric": lambda promise: laplace(promise)[1],
                "canonical": canonical,
            },
            many={
                "laplace": laplace_of_lists,
                "gaussian": gaussian_of_lists,
                "geometric": laplace_of_lists,
            },
            real={
                "laplace": law_of_laplace,
                "gaussian": law_of_gaussian,
                "canonical_noise": law_of_canonical,
            },
            whole={"laplace": law_of_laplace, "gaussian": law_of_gaussian},
            notes={"canonical": "the canonical noise on the line"},
            more={"share": share, "discover": discover},
        )
    )


def space(promise: Promise) -> tuple[Any, Any]:
    """Return the domain and the metric of one answer."""
    if promise.integer:
        return dp.atom_domain(T=int), dp.absolute_distance(T=int)
    return dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)


def lists(promise: Promise, metric: Any) -> tuple[Any, Any]:
    """Return the domain and the metric of lists."""
    kind = int if promise.integer else float
    atoms = dp.atom_domain(T=int) if promise.integer else dp.atom_domain(T=float, nan=False)
    return dp.vector_domain(atoms), metric(T=kind)


def laplace(promise: Promise) -> tuple[float, One]:
    """Return scale and measurement for ε; its Laplace noise knows no δ. Discrete for integers."""
    domain, metric = space(promise)
    one = 1 if promise.integer else 1.0
    scale = dp.binary_search_param(
        lambda scale: dp.m.make_laplace(domain, metric, scale=scale),
        d_in=one,
        d_out=promise.epsilon,
    )
    return scale, dp.m.make_laplace(domain, metric, scale=scale)


def gaussian(promise: Promise) -> tuple[float, One]:
    """Return σ and measurement, by way of zero-concentrated privacy. Discrete for integers."""
    domain, _ = space(promise)
    metric = dp.absolute_distance(T=float)

    def make(sigma: float) -> Any:
        noise = dp.m.make_gaussian(domain, metric, scale=sigma)
        return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(noise), promise.delta)

    kept = (promise.epsilon, promise.delta)
    sigma = dp.binary_search_param(make, d_in=1.0, d_out=kept)
    return sigma, dp.m.make_gaussian(domain, metric, scale=sigma)


def laplace_of_lists(promise: Promise) -> Many:
    """Return the same noise for lists."""
    made: Many = dp.m.make_laplace(*lists(promise, dp.l1_distance), scale=laplace(promise)[0])
    return made


def gaussian_of_lists(promise: Promise) -> Many:
    """Return the same noise for lists."""
    made: Many = dp.m.make_gaussian(*lists(promise, dp.l2_distance), scale=gaussian(promise)[0])
    return made


def canonical(promise: Promise) -> One:
    """Return the canonical noise on the line, which takes whole numbers as floats."""
    domain, metric = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    kept = (promise.epsilon, promise.delta)
    add = dp.m.make_canonical_noise(domain, metric, d_in=1.0, d_out=kept)
    return lambda value: add(float(value))


# ------------------------------------------------------------------- what it draws


def law_of_laplace(promise: Promise) -> Row:
    """Read off the scale."""
    scale = laplace(promise)[0]
    if promise.integer:
        return {"kind": "geometric", "epsilon": 1 / scale}
    return {"kind": "laplace", "scale": scale}


def law_of_gaussian(promise: Promise) -> Row:
    """Read off σ."""
    kind = "discrete_gaussian" if promise.integer else "gaussian"
    return {"kind": kind, "sigma": gaussian(promise)[0]}


def law_of_canonical(promise: Promise) -> Row:
    """State the law that its document names (Awan and Vadhan 2023), if it can be drawn."""
    canonical(promise)(0.0)
    return {"kind": "canonical", "epsilon": promise.epsilon, "delta": promise.delta}


# ------------------------------------------------------------------- many answers


def share(request: Row) -> Row:
    """Return the law of each of so many counts that share a promise, by way of zCDP."""
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)

    def make(sigma: float) -> Any:
        noise = dp.m.make_gaussian(*space, scale=sigma)
        return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(noise), request["delta"])

    kept = (request["epsilon"], request["delta"])
    sigma = dp.binary_search_param(make, d_in=sqrt(request["counts"]), d_out=kept)
    return {"kind": "discrete_gaussian", "sigma": sigma}


def discover(request: Row) -> Row:
    """Return how many groups are shown, with the least threshold for half of δ, by its search."""
    most, kept = request["max_groups"], (request["epsilon"], request["delta"])
    half = {**request, "counts": most, "delta": request["delta"] / 2}
    sigma = share(half)["sigma"]
    keys, values = dp.atom_domain(T=str), dp.atom_domain(T=int)
    space = dp.map_domain(keys, values), dp.l02inf_distance(dp.absolute_distance(T=float))

    moved = (most, sqrt(most), 1.0)

    def keeps(threshold: int) -> bool:
        noise = dp.m.make_gaussian_threshold(*space, scale=sigma, threshold=threshold)
        private = dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(noise), request["delta"])
        try:
            return bool(private.check(moved, kept))
        except dp.OpenDPException:  # a threshold that needs more than all of δ
            return False

    threshold = dp.binary_search(keeps, bounds=(1, 100_000))
    noise = dp.m.make_gaussian_threshold(*space, scale=sigma, threshold=threshold)
    counts = {str(place): count for place, count in enumerate(request["counts"])}
    shown = [len(noise(counts)) for _ in range(request["times"])]
    return {"shown": shown, "sigma": sigma, "threshold": threshold}


if __name__ == "__main__":
    main()
