"""diffprivlib's mechanisms, which sample one number at a time in Python floats."""

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from typing import Any

from benchmarks.peers.protocol import AddNoise, Guarantee, Peer, Row, serve


def main() -> None:
    """Answer requests about diffprivlib."""
    serve(
        Peer(
            versions={name: version(name) for name in ("diffprivlib", "numpy", "scikit-learn")},
            single={family: noise_adder(noise) for family, noise in FAMILIES.items()},
            lists={},
            real=REAL,
            integer=INTEGER,
            notes={},
        )
    )


def noise_adder(noise: Callable[[Guarantee], Any]) -> Callable[[Guarantee], AddNoise]:
    """Return a function from a guarantee to the function that adds the noise."""

    def make(guarantee: Guarantee) -> AddNoise:
        add: AddNoise = noise(guarantee).randomise
        return add

    return make


def mechanism(name: str, **settings: Any) -> Any:
    """Return a mechanism of diffprivlib at sensitivity 1."""
    return getattr(import_module("diffprivlib.mechanisms"), name)(sensitivity=1, **settings)


def uniform(guarantee: Guarantee) -> Any:
    """Return the uniform mechanism, which ignores ε."""
    return mechanism("Uniform", delta=guarantee.delta)


def staircase(guarantee: Guarantee) -> Any:
    """Return the staircase mechanism for ε, with its default γ."""
    return mechanism("Staircase", epsilon=guarantee.epsilon)


def laplace(guarantee: Guarantee) -> Any:
    """Return the Laplace mechanism, which uses δ for a smaller scale."""
    return mechanism("Laplace", epsilon=guarantee.epsilon, delta=guarantee.delta)


def bounded(guarantee: Guarantee) -> Any:
    """Return the truncated Laplace mechanism (Geng et al. 2018)."""
    return mechanism("LaplaceBoundedNoise", epsilon=guarantee.epsilon, delta=guarantee.delta)


def gaussian(guarantee: Guarantee) -> Any:
    """Return the Gaussian mechanism with the smallest σ (Balle and Wang 2018)."""
    return mechanism("GaussianAnalytic", epsilon=guarantee.epsilon, delta=guarantee.delta)


def geometric(guarantee: Guarantee) -> Any:
    """Return the geometric mechanism for ε."""
    return mechanism("Geometric", epsilon=guarantee.epsilon)


FAMILIES = {
    "uniform": uniform,
    "staircase": staircase,
    "laplace": laplace,
    "truncated_laplace": bounded,
    "gaussian": gaussian,
    "geometric": geometric,
}


# ------------------------------------------------------------------- its noise distributions


def distribution_of_uniform(guarantee: Guarantee) -> Row:
    """Compute the radius r from the variance r²/3."""
    return {"kind": "uniform", "radius": (3 * float(uniform(guarantee).variance(0))) ** 0.5}


def distribution_of_staircase(guarantee: Guarantee) -> Row:
    """Read ε and γ from the mechanism."""
    noise = staircase(guarantee)
    return {"kind": "staircase", "epsilon": noise.epsilon, "gamma": noise.gamma}


def distribution_of_laplace(guarantee: Guarantee) -> Row:
    """Compute the scale b from the variance 2b²."""
    return {"kind": "laplace", "scale": (float(laplace(guarantee).variance(0)) / 2) ** 0.5}


def distribution_of_bounded(guarantee: Guarantee) -> Row:
    """Read the scale and the maximum error, which the first sample sets."""
    noise = bounded(guarantee)
    noise.randomise(0)
    return {
        "kind": "truncated_laplace",
        "scale": float(noise._scale),
        "radius": float(noise._noise_bound),
    }


def distribution_of_gaussian(guarantee: Guarantee) -> Row:
    """Read σ from the mechanism."""
    return {"kind": "gaussian", "sigma": float(gaussian(guarantee).variance(0)) ** 0.5}


def distribution_of_geometric(guarantee: Guarantee) -> Row:
    """Return the distribution, whose only parameter is ε."""
    return {"kind": "geometric", "epsilon": float(geometric(guarantee).epsilon)}


def distribution_of_discrete_gaussian(guarantee: Guarantee) -> Row:
    """Read σ from the mechanism."""
    noise = mechanism("GaussianDiscrete", epsilon=guarantee.epsilon, delta=guarantee.delta)
    return {"kind": "discrete_gaussian", "sigma": float(noise._scale)}


REAL: dict[str, Callable[[Guarantee], Row | AddNoise]] = {
    "Uniform": distribution_of_uniform,
    "Staircase": distribution_of_staircase,
    "Laplace": distribution_of_laplace,
    "LaplaceBoundedNoise": distribution_of_bounded,
    "GaussianAnalytic": distribution_of_gaussian,
}
INTEGER: dict[str, Callable[[Guarantee], Row | AddNoise]] = {
    "Geometric": distribution_of_geometric,
    "GaussianDiscrete": distribution_of_discrete_gaussian,
}

if __name__ == "__main__":
    main()
