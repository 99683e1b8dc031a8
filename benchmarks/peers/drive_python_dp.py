"""python-dp's mechanisms: Google's library for C++, one number at a time."""

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from typing import Any

from benchmarks.peers.speaking import Guarantee, One, Peer, Row, serve

mechanisms: Any = import_module("pydp.algorithms.numerical_mechanisms")


def main() -> None:
    """Answer requests about python-dp."""
    serve(
        Peer(
            versions={"python-dp": version("python-dp")},
            one={
                "laplace": lambda guarantee: adding(laplace(guarantee)),
                "gaussian": lambda guarantee: adding(gaussian(guarantee)),
                "geometric": lambda guarantee: adding(laplace(guarantee)),
            },
            many={},
            real=DISTRIBUTIONS,
            whole=DISTRIBUTIONS,
            notes={"geometric": "Laplace noise, rounded"},
        )
    )


def laplace(guarantee: Guarantee) -> Any:
    """Laplace noise for ε; it knows no δ."""
    return mechanisms.LaplaceMechanism(epsilon=guarantee.epsilon, sensitivity=1.0)


def gaussian(guarantee: Guarantee) -> Any:
    """Gaussian noise, its σ by a search."""
    return mechanisms.GaussianMechanism(
        epsilon=guarantee.epsilon, delta=guarantee.delta, sensitivity=1.0
    )


def adding(mechanism: Any) -> One:
    """Return what adds noise: to an int as an int, to a float as a float."""
    add: One = mechanism.add_noise
    return add


def distribution_of_laplace(guarantee: Guarantee) -> Row | One:
    """Read off the scale; how whole numbers are rounded only draws tell."""
    mechanism = laplace(guarantee)
    return (
        adding(mechanism)
        if guarantee.integer
        else {"kind": "laplace", "scale": mechanism.diversity}
    )


def distribution_of_gaussian(guarantee: Guarantee) -> Row | One:
    """Read off σ; how whole numbers are rounded only draws tell."""
    mechanism = gaussian(guarantee)
    return adding(mechanism) if guarantee.integer else {"kind": "gaussian", "sigma": mechanism.std}


DISTRIBUTIONS: dict[str, Callable[[Guarantee], Row | One]] = {
    "LaplaceMechanism": distribution_of_laplace,
    "GaussianMechanism": distribution_of_gaussian,
}

if __name__ == "__main__":
    main()
