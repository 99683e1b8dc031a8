"""diffprivlib's mechanisms, which draw one number at a time in Python floats."""

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from typing import Any

from benchmarks.peers.speaking import Guarantee, One, Peer, Row, serve


def main() -> None:
    """Answer requests about diffprivlib."""
    serve(
        Peer(
            versions={name: version(name) for name in ("diffprivlib", "numpy", "scikit-learn")},
            one={family: adding(noise) for family, noise in FAMILIES.items()},
            many={},
            real=REAL,
            whole=WHOLE,
            notes={},
        )
    )


def adding(noise: Callable[[Guarantee], Any]) -> Callable[[Guarantee], One]:
    """Return what makes a mechanism's function that adds noise."""

    def make(guarantee: Guarantee) -> One:
        add: One = noise(guarantee).randomise
        return add

    return make


def mechanism(name: str, **settings: Any) -> Any:
    """Return one of diffprivlib's mechanisms at a sensitivity of 1."""
    return getattr(import_module("diffprivlib.mechanisms"), name)(sensitivity=1, **settings)


def uniform(guarantee: Guarantee) -> Any:
    """Uniform noise, which needs no ε."""
    return mechanism("Uniform", delta=guarantee.delta)


def staircase(guarantee: Guarantee) -> Any:
    """The staircase for ε, with the γ that is its default."""
    return mechanism("Staircase", epsilon=guarantee.epsilon)


def laplace(guarantee: Guarantee) -> Any:
    """Laplace noise, whose scale it makes smaller for δ."""
    return mechanism("Laplace", epsilon=guarantee.epsilon, delta=guarantee.delta)


def bounded(guarantee: Guarantee) -> Any:
    """Laplace noise up to a largest size (Geng et al. 2018)."""
    return mechanism("LaplaceBoundedNoise", epsilon=guarantee.epsilon, delta=guarantee.delta)


def gaussian(guarantee: Guarantee) -> Any:
    """Gaussian noise of the least σ (Balle and Wang 2018)."""
    return mechanism("GaussianAnalytic", epsilon=guarantee.epsilon, delta=guarantee.delta)


def geometric(guarantee: Guarantee) -> Any:
    """Geometric noise for ε."""
    return mechanism("Geometric", epsilon=guarantee.epsilon)


FAMILIES = {
    "uniform": uniform,
    "staircase": staircase,
    "laplace": laplace,
    "truncated_laplace": bounded,
    "gaussian": gaussian,
    "geometric": geometric,
}


# ------------------------------------------------------------------- what it draws


def distribution_of_uniform(guarantee: Guarantee) -> Row:
    """Read off the variance r²/3."""
    return {"kind": "uniform", "radius": (3 * float(uniform(guarantee).variance(0))) ** 0.5}


def distribution_of_staircase(guarantee: Guarantee) -> Row:
    """Read off γ."""
    noise = staircase(guarantee)
    return {"kind": "staircase", "epsilon": noise.epsilon, "gamma": noise.gamma}


def distribution_of_laplace(guarantee: Guarantee) -> Row:
    """Read off the variance 2b²."""
    return {"kind": "laplace", "scale": (float(laplace(guarantee).variance(0)) / 2) ** 0.5}


def distribution_of_bounded(guarantee: Guarantee) -> Row:
    """Read off scale and largest size, which it sets with the first draw."""
    noise = bounded(guarantee)
    noise.randomise(0)
    return {
        "kind": "truncated_laplace",
        "scale": float(noise._scale),
        "radius": float(noise._noise_bound),
    }


def distribution_of_gaussian(guarantee: Guarantee) -> Row:
    """Read off σ."""
    return {"kind": "gaussian", "sigma": float(gaussian(guarantee).variance(0)) ** 0.5}


def distribution_of_geometric(guarantee: Guarantee) -> Row:
    """State the distribution, which has no scale but ε."""
    return {"kind": "geometric", "epsilon": float(geometric(guarantee).epsilon)}


def distribution_of_discrete_gaussian(guarantee: Guarantee) -> Row:
    """Read off σ."""
    noise = mechanism("GaussianDiscrete", epsilon=guarantee.epsilon, delta=guarantee.delta)
    return {"kind": "discrete_gaussian", "sigma": float(noise._scale)}


REAL: dict[str, Callable[[Guarantee], Row | One]] = {
    "Uniform": distribution_of_uniform,
    "Staircase": distribution_of_staircase,
    "Laplace": distribution_of_laplace,
    "LaplaceBoundedNoise": distribution_of_bounded,
    "GaussianAnalytic": distribution_of_gaussian,
}
WHOLE: dict[str, Callable[[Guarantee], Row | One]] = {
    "Geometric": distribution_of_geometric,
    "GaussianDiscrete": distribution_of_discrete_gaussian,
}

if __name__ == "__main__":
    main()
