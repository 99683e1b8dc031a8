"""OpenDP's measurements, whose scales its own search finds for a guarantee."""

from importlib import import_module
from importlib.metadata import version
from math import sqrt
from typing import Any

from benchmarks.peers.speaking import Guarantee, Many, One, Peer, Row, serve

dp: Any = import_module("opendp.prelude")


def main() -> None:
    """Answer requests about OpenDP."""
    dp.enable_features("contrib")
    serve(
        Peer(
            versions={"opendp": version("opendp")},
            one={
                "laplace": lambda guarantee: laplace(guarantee)[1],
                "gaussian": lambda guarantee: gaussian(guarantee)[1],
                "geometric": lambda guarantee: laplace(guarantee)[1],
                "canonical": canonical,
            },
            many={
                "laplace": laplace_of_lists,
                "gaussian": gaussian_of_lists,
                "geometric": laplace_of_lists,
            },
            real={
                "laplace": distribution_of_laplace,
                "gaussian": distribution_of_gaussian,
                "canonical_noise": distribution_of_canonical,
            },
            whole={"laplace": distribution_of_laplace, "gaussian": distribution_of_gaussian},
            notes={"canonical": "the canonical noise on the line"},
            more={"share": share, "discover": discover},
        )
    )


def space(guarantee: Guarantee) -> tuple[Any, Any]:
    """Return the domain and the metric of one answer."""
    if guarantee.integer:
        return dp.atom_domain(T=int), dp.absolute_distance(T=int)
    return dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)


def lists(guarantee: Guarantee, metric: Any) -> tuple[Any, Any]:
    """Return the domain and the metric of lists."""
    kind = int if guarantee.integer else float
    atoms = dp.atom_domain(T=int) if guarantee.integer else dp.atom_domain(T=float, nan=False)
    return dp.vector_domain(atoms), metric(T=kind)


def laplace(guarantee: Guarantee) -> tuple[float, One]:
    """Return scale and measurement for ε; its Laplace noise knows no δ. Discrete for integers."""
    domain, metric = space(guarantee)
    one = 1 if guarantee.integer else 1.0
    scale = dp.binary_search_param(
        lambda scale: dp.m.make_laplace(domain, metric, scale=scale),
        d_in=one,
        d_out=guarantee.epsilon,
    )
    return scale, dp.m.make_laplace(domain, metric, scale=scale)


def gaussian(guarantee: Guarantee) -> tuple[float, One]:
    """Return σ and measurement, by way of zero-concentrated privacy. Discrete for integers."""
    domain, _ = space(guarantee)
    metric = dp.absolute_distance(T=float)

    def make(sigma: float) -> Any:
        noise = dp.m.make_gaussian(domain, metric, scale=sigma)
        return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(noise), guarantee.delta)

    pair = (guarantee.epsilon, guarantee.delta)
    sigma = dp.binary_search_param(make, d_in=1.0, d_out=pair)
    return sigma, dp.m.make_gaussian(domain, metric, scale=sigma)


def laplace_of_lists(guarantee: Guarantee) -> Many:
    """Return the same noise for lists."""
    measurement: Many = dp.m.make_laplace(
        *lists(guarantee, dp.l1_distance), scale=laplace(guarantee)[0]
    )
    return measurement


def gaussian_of_lists(guarantee: Guarantee) -> Many:
    """Return the same noise for lists."""
    measurement: Many = dp.m.make_gaussian(
        *lists(guarantee, dp.l2_distance), scale=gaussian(guarantee)[0]
    )
    return measurement


def canonical(guarantee: Guarantee) -> One:
    """Return the canonical noise on the line, which takes whole numbers as floats."""
    domain, metric = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    pair = (guarantee.epsilon, guarantee.delta)
    add = dp.m.make_canonical_noise(domain, metric, d_in=1.0, d_out=pair)
    return lambda value: add(float(value))


# ------------------------------------------------------------------- what it draws


def distribution_of_laplace(guarantee: Guarantee) -> Row:
    """Read off the scale."""
    scale = laplace(guarantee)[0]
    if guarantee.integer:
        return {"kind": "geometric", "epsilon": 1 / scale}
    return {"kind": "laplace", "scale": scale}


def distribution_of_gaussian(guarantee: Guarantee) -> Row:
    """Read off σ."""
    kind = "discrete_gaussian" if guarantee.integer else "gaussian"
    return {"kind": kind, "sigma": gaussian(guarantee)[0]}


def distribution_of_canonical(guarantee: Guarantee) -> Row:
    """State the distribution that its document names (Awan and Vadhan 2023), if it can be drawn."""
    canonical(guarantee)(0.0)
    return {"kind": "canonical", "epsilon": guarantee.epsilon, "delta": guarantee.delta}


# ------------------------------------------------------------------- many answers


def share(request: Row) -> Row:
    """Return the distribution of each of so many counts that share a guarantee, by way of zCDP."""
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)

    def make(sigma: float) -> Any:
        noise = dp.m.make_gaussian(*space, scale=sigma)
        return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(noise), request["delta"])

    pair = (request["epsilon"], request["delta"])
    sigma = dp.binary_search_param(make, d_in=sqrt(request["counts"]), d_out=pair)
    return {"kind": "discrete_gaussian", "sigma": sigma}


def discover(request: Row) -> Row:
    """Return how many groups are shown, with the least threshold for half of δ, by its search."""
    most, pair = request["max_groups"], (request["epsilon"], request["delta"])
    half = {**request, "counts": most, "delta": request["delta"] / 2}
    sigma = share(half)["sigma"]
    keys, values = dp.atom_domain(T=str), dp.atom_domain(T=int)
    space = dp.map_domain(keys, values), dp.l02inf_distance(dp.absolute_distance(T=float))

    moved = (most, sqrt(most), 1.0)

    def keeps(threshold: int) -> bool:
        noise = dp.m.make_gaussian_threshold(*space, scale=sigma, threshold=threshold)
        private = dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(noise), request["delta"])
        try:
            return bool(private.check(moved, pair))
        except dp.OpenDPException:  # a threshold that needs more than all of δ
            return False

    threshold = dp.binary_search(keeps, bounds=(1, 100_000))
    noise = dp.m.make_gaussian_threshold(*space, scale=sigma, threshold=threshold)
    counts = {str(place): count for place, count in enumerate(request["counts"])}
    shown = [len(noise(counts)) for _ in range(request["times"])]
    return {"shown": shown, "sigma": sigma, "threshold": threshold}


if __name__ == "__main__":
    main()
