"""diffprivlib's mechanisms, which draw one number at a time in Python floats."""

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from typing import Any

from benchmarks.peers.speaking import One, Peer, Promise, Row, serve


def main() -> None:
    """Answer requests about diffprivlib."""
    serve(
        Peer(
            versions={name: version(name) for name in ("diffprivlib", "numpy", "scikit-learn")},
            one={family: adding(made) for family, made in FAMILIES.items()},
            many={},
            real=REAL,
            whole=WHOLE,
            notes={},
        )
    )


def adding(made: Callable[[Promise], Any]) -> Callable[[Promise], One]:
    """Return what makes a mechanism's function that adds noise."""

    def make(promise: Promise) -> One:
        add: One = made(promise).randomise
        return add

    return make


def mechanism(name: str, **settings: Any) -> Any:
    """Return one of diffprivlib's mechanisms at a sensitivity of 1."""
    return getattr(import_module("diffprivlib.mechanisms"), name)(sensitivity=1, **settings)


def uniform(promise: Promise) -> Any:
    """Uniform noise, which needs no ε."""
    return mechanism("Uniform", delta=promise.delta)


def staircase(promise: Promise) -> Any:
    """The staircase for ε, with the γ that is its default."""
    return mechanism("Staircase", epsilon=promise.epsilon)


def laplace(promise: Promise) -> Any:
    """Laplace noise, whose scale it makes smaller for δ."""
    return mechanism("Laplace", epsilon=promise.epsilon, delta=promise.delta)


def bounded(promise: Promise) -> Any:
    """Laplace noise up to a largest size (Geng et al. 2018)."""
    return mechanism("LaplaceBoundedNoise", epsilon=promise.epsilon, delta=promise.delta)


def gaussian(promise: Promise) -> Any:
    """Gaussian noise of the least σ (Balle and Wang 2018)."""
    return mechanism("GaussianAnalytic", epsilon=promise.epsilon, delta=promise.delta)


def geometric(promise: Promise) -> Any:
    """Geometric noise for ε."""
    return mechanism("Geometric", epsilon=promise.epsilon)


FAMILIES = {
    "uniform": uniform,
    "staircase": staircase,
    "laplace": laplace,
    "truncated_laplace": bounded,
    "gaussian": gaussian,
    "geometric": geometric,
}


# ------------------------------------------------------------------- what it draws


def law_of_uniform(promise: Promise) -> Row:
    """Read off the variance r²/3."""
    return {"kind": "uniform", "radius": (3 * float(uniform(promise).variance(0))) ** 0.5}


def law_of_staircase(promise: Promise) -> Row:
    """Read off γ."""
    made = staircase(promise)
    return {"kind": "staircase", "epsilon": made.epsilon, "gamma": made.gamma}


def law_of_laplace(promise: Promise) -> Row:
    """Read off the variance 2b²."""
    return {"kind": "laplace", "scale": (float(laplace(promise).variance(0)) / 2) ** 0.5}


def law_of_bounded(promise: Promise) -> Row:
    """Read off scale and largest size, which it sets with the first draw."""
    made = bounded(promise)
    made.randomise(0)
    return {
        "kind": "truncated_laplace",
        "scale": float(made._scale),
        "radius": float(made._noise_bound),
    }


def law_of_gaussian(promise: Promise) -> Row:
    """Read off σ."""
    return {"kind": "gaussian", "sigma": float(gaussian(promise).variance(0)) ** 0.5}


def law_of_geometric(promise: Promise) -> Row:
    """State the law, which has no scale but ε."""
    return {"kind": "geometric", "epsilon": float(geometric(promise).epsilon)}


def law_of_discrete_gaussian(promise: Promise) -> Row:
    """Read off σ."""
    made = mechanism("GaussianDiscrete", epsilon=promise.epsilon, delta=promise.delta)
    return {"kind": "discrete_gaussian", "sigma": float(made._scale)}


REAL: dict[str, Callable[[Promise], Row | One]] = {
    "Uniform": law_of_uniform,
    "Staircase": law_of_staircase,
    "Laplace": law_of_laplace,
    "LaplaceBoundedNoise": law_of_bounded,
    "GaussianAnalytic": law_of_gaussian,
}
WHOLE: dict[str, Callable[[Promise], Row | One]] = {
    "Geometric": law_of_geometric,
    "GaussianDiscrete": law_of_discrete_gaussian,
}

if __name__ == "__main__":
    main()
