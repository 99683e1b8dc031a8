"""python-dp's mechanisms, from Google's C++ library. They sample one number at a time."""

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from typing import Any

from benchmarks.peers.protocol import AddNoise, Guarantee, Peer, Row, serve

mechanisms: Any = import_module("pydp.algorithms.numerical_mechanisms")


def main() -> None:
    """Answer requests about python-dp."""
    serve(
        Peer(
            versions={"python-dp": version("python-dp")},
            single={
                "laplace": lambda guarantee: noise_adder(laplace(guarantee)),
                "gaussian": lambda guarantee: noise_adder(gaussian(guarantee)),
                "geometric": lambda guarantee: noise_adder(laplace(guarantee)),
            },
            lists={},
            real=DISTRIBUTIONS,
            integer=DISTRIBUTIONS,
            notes={"geometric": "Laplace noise, rounded"},
        )
    )


def laplace(guarantee: Guarantee) -> Any:
    """Return the Laplace mechanism for ε, which uses no δ."""
    return mechanisms.LaplaceMechanism(epsilon=guarantee.epsilon, sensitivity=1.0)


def gaussian(guarantee: Guarantee) -> Any:
    """Return the Gaussian mechanism, whose σ the library searches for."""
    return mechanisms.GaussianMechanism(
        epsilon=guarantee.epsilon, delta=guarantee.delta, sensitivity=1.0
    )


def noise_adder(mechanism: Any) -> AddNoise:
    """Return the function that adds noise. An int stays an int, a float a float."""
    add: AddNoise = mechanism.add_noise
    return add


def distribution_of_laplace(guarantee: Guarantee) -> Row | AddNoise:
    """Read the scale. For integers return the sampler, because the rounding is not documented."""
    mechanism = laplace(guarantee)
    return (
        noise_adder(mechanism)
        if guarantee.integer
        else {"kind": "laplace", "scale": mechanism.diversity}
    )


def distribution_of_gaussian(guarantee: Guarantee) -> Row | AddNoise:
    """Read σ. For integers return the sampler, because the rounding is not documented."""
    mechanism = gaussian(guarantee)
    return (
        noise_adder(mechanism)
        if guarantee.integer
        else {"kind": "gaussian", "sigma": mechanism.std}
    )


DISTRIBUTIONS: dict[str, Callable[[Guarantee], Row | AddNoise]] = {
    "LaplaceMechanism": distribution_of_laplace,
    "GaussianMechanism": distribution_of_gaussian,
}

if __name__ == "__main__":
    main()
