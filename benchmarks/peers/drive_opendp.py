"""OpenDP's measurements. OpenDP searches for the scales that satisfy a guarantee."""

from importlib import import_module
from importlib.metadata import version
from math import sqrt
from typing import Any

from benchmarks.peers.protocol import AddNoise, AddNoiseToList, Guarantee, Peer, Row, serve

dp: Any = import_module("opendp.prelude")


def main() -> None:
    """Answer requests about OpenDP."""
    dp.enable_features("contrib")
    serve(
        Peer(
            versions={"opendp": version("opendp")},
            single={
                "laplace": lambda guarantee: laplace(guarantee)[1],
                "gaussian": lambda guarantee: gaussian(guarantee)[1],
                "geometric": lambda guarantee: laplace(guarantee)[1],
                "canonical": canonical,
            },
            lists={
                "laplace": laplace_of_lists,
                "gaussian": gaussian_of_lists,
                "geometric": laplace_of_lists,
            },
            real={
                "laplace": distribution_of_laplace,
                "gaussian": distribution_of_gaussian,
                "canonical_noise": distribution_of_canonical,
            },
            integer={"laplace": distribution_of_laplace, "gaussian": distribution_of_gaussian},
            notes={"canonical": "continuous canonical noise"},
            more={"share": share, "discover": discover},
        )
    )


def space(guarantee: Guarantee) -> tuple[Any, Any]:
    """Return the domain and the metric of a single answer."""
    if guarantee.integer:
        return dp.atom_domain(T=int), dp.absolute_distance(T=int)
    return dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)


def lists(guarantee: Guarantee, metric: Any) -> tuple[Any, Any]:
    """Return the domain and the metric of lists."""
    kind = int if guarantee.integer else float
    atoms = dp.atom_domain(T=int) if guarantee.integer else dp.atom_domain(T=float, nan=False)
    return dp.vector_domain(atoms), metric(T=kind)


def laplace(guarantee: Guarantee) -> tuple[float, AddNoise]:
    """Return scale and measurement for ε; Laplace noise uses no δ. Discrete for integers."""
    domain, metric = space(guarantee)
    sensitivity = 1 if guarantee.integer else 1.0
    scale = dp.binary_search_param(
        lambda scale: dp.m.make_laplace(domain, metric, scale=scale),
        d_in=sensitivity,
        d_out=guarantee.epsilon,
    )
    return scale, dp.m.make_laplace(domain, metric, scale=scale)


def gaussian(guarantee: Guarantee) -> tuple[float, AddNoise]:
    """Return σ and measurement, through zero-concentrated privacy. Discrete for integers."""
    domain, _ = space(guarantee)
    metric = dp.absolute_distance(T=float)

    def make(sigma: float) -> Any:
        noise = dp.m.make_gaussian(domain, metric, scale=sigma)
        return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(noise), guarantee.delta)

    pair = (guarantee.epsilon, guarantee.delta)
    sigma = dp.binary_search_param(make, d_in=1.0, d_out=pair)
    return sigma, dp.m.make_gaussian(domain, metric, scale=sigma)


def laplace_of_lists(guarantee: Guarantee) -> AddNoiseToList:
    """Return the same noise for lists."""
    measurement: AddNoiseToList = dp.m.make_laplace(
        *lists(guarantee, dp.l1_distance), scale=laplace(guarantee)[0]
    )
    return measurement


def gaussian_of_lists(guarantee: Guarantee) -> AddNoiseToList:
    """Return the same noise for lists."""
    measurement: AddNoiseToList = dp.m.make_gaussian(
        *lists(guarantee, dp.l2_distance), scale=gaussian(guarantee)[0]
    )
    return measurement


def canonical(guarantee: Guarantee) -> AddNoise:
    """Return continuous canonical noise, which takes integers as floats."""
    domain, metric = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    pair = (guarantee.epsilon, guarantee.delta)
    add = dp.m.make_canonical_noise(domain, metric, d_in=1.0, d_out=pair)
    return lambda value: add(float(value))


# ------------------------------------------------------------------- its noise distributions


def distribution_of_laplace(guarantee: Guarantee) -> Row:
    """Return the distribution with the scale of the measurement."""
    scale = laplace(guarantee)[0]
    if guarantee.integer:
        return {"kind": "geometric", "epsilon": 1 / scale}
    return {"kind": "laplace", "scale": scale}


def distribution_of_gaussian(guarantee: Guarantee) -> Row:
    """Return the distribution with the σ of the measurement."""
    kind = "discrete_gaussian" if guarantee.integer else "gaussian"
    return {"kind": kind, "sigma": gaussian(guarantee)[0]}


def distribution_of_canonical(guarantee: Guarantee) -> Row:
    """Return the documented distribution (Awan and Vadhan 2023), after one sample succeeds."""
    canonical(guarantee)(0.0)
    return {"kind": "canonical", "epsilon": guarantee.epsilon, "delta": guarantee.delta}


# ------------------------------------------------------------------- many answers


def share(request: Row) -> Row:
    """Return the noise of each of many counts that share a guarantee, through zCDP."""
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)

    def make(sigma: float) -> Any:
        noise = dp.m.make_gaussian(*space, scale=sigma)
        return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(noise), request["delta"])

    pair = (request["epsilon"], request["delta"])
    sigma = dp.binary_search_param(make, d_in=sqrt(request["counts"]), d_out=pair)
    return {"kind": "discrete_gaussian", "sigma": sigma}


def discover(request: Row) -> Row:
    """Return the numbers of groups shown, with the smallest threshold for half of δ."""
    most, pair = request["max_groups"], (request["epsilon"], request["delta"])
    half = {**request, "counts": most, "delta": request["delta"] / 2}
    sigma = share(half)["sigma"]
    keys, values = dp.atom_domain(T=str), dp.atom_domain(T=int)
    space = dp.map_domain(keys, values), dp.l02inf_distance(dp.absolute_distance(T=float))

    sensitivities = (most, sqrt(most), 1.0)

    def is_private(threshold: int) -> bool:
        noise = dp.m.make_gaussian_threshold(*space, scale=sigma, threshold=threshold)
        measurement = dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(noise), request["delta"])
        try:
            return bool(measurement.check(sensitivities, pair))
        except dp.OpenDPException:  # this threshold needs more than δ
            return False

    threshold = dp.binary_search(is_private, bounds=(1, 100_000))
    noise = dp.m.make_gaussian_threshold(*space, scale=sigma, threshold=threshold)
    counts = {str(place): count for place, count in enumerate(request["counts"])}
    shown = [len(noise(counts)) for _ in range(request["times"])]
    return {"shown": shown, "sigma": sigma, "threshold": threshold}


if __name__ == "__main__":
    main()
