"""python-dp's mechanisms: Google's library for C++, one number at a time."""

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from typing import Any

from benchmarks.peers.speaking import One, Peer, Promise, Row, serve

mechanisms: Any = import_module("pydp.algorithms.numerical_mechanisms")


def main() -> None:
    """Answer requests about python-dp."""
    serve(
        Peer(
            versions={"python-dp": version("python-dp")},
            one={
                "laplace": lambda promise: adding(laplace(promise)),
                "gaussian": lambda promise: adding(gaussian(promise)),
                "geometric": lambda promise: adding(laplace(promise)),
            },
            many={},
            real=LAWS,
            whole=LAWS,
            notes={"geometric": "Laplace noise, rounded"},
        )
    )


def laplace(promise: Promise) -> Any:
    """Laplace noise for ε; it knows no δ."""
    return mechanisms.LaplaceMechanism(epsilon=promise.epsilon, sensitivity=1.0)


def gaussian(promise: Promise) -> Any:
    """Gaussian noise, its σ by a search."""
    return mechanisms.GaussianMechanism(
        epsilon=promise.epsilon, delta=promise.delta, sensitivity=1.0
    )


def adding(made: Any) -> One:
    """Return what adds noise: to an int as an int, to a float as a float."""
    add: One = made.add_noise
    return add


def law_of_laplace(promise: Promise) -> Row | One:
    """Read off the scale; how whole numbers are rounded only draws tell."""
    made = laplace(promise)
    return adding(made) if promise.integer else {"kind": "laplace", "scale": made.diversity}


def law_of_gaussian(promise: Promise) -> Row | One:
    """Read off σ; how whole numbers are rounded only draws tell."""
    made = gaussian(promise)
    return adding(made) if promise.integer else {"kind": "gaussian", "sigma": made.std}


LAWS: dict[str, Callable[[Promise], Row | One]] = {
    "LaplaceMechanism": law_of_laplace,
    "GaussianMechanism": law_of_gaussian,
}

if __name__ == "__main__":
    main()
