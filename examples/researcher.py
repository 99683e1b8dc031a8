"""A researcher with a noise of their own: is it private, and how far from optimal is it?

``python examples/researcher.py`` compares a triangular noise with the families of the literature,
proves its guarantee, certifies the optimum, and releases an array.
"""

import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np

import leastnoise as ln

PRIVACY = ln.Privacy(delta="1/10")


def main() -> None:
    """Describe the noise, verify it, compare it, and use it."""
    own = make_triangle(radius=6, steps=24)
    print(f"δ of a triangle of radius 6 at ε = 0: {ln.Profile(own, sensitivity=1).advantage}")
    try:
        ln.Mechanism.from_noise(own, PRIVACY, sensitivity=1)
    except ln.errors.NotPrivate as error:
        print(f"So it is rejected: {error.problem}.")

    radius = next(r for r in range(6, 40) if delta_of(r) <= PRIVACY.delta)
    mechanism = ln.Mechanism.from_noise(make_triangle(radius, 4 * radius), PRIVACY, sensitivity=1)
    print(f"A radius of {radius} suffices: E|error| = {float(mechanism.cost):.4f}.\n")

    comparison = ln.compare(PRIVACY, sensitivity=1)
    print(comparison)
    best = ln.calibrate(PRIVACY, sensitivity=1)  # as "certified" above
    print(f"\nThe triangle costs {float(mechanism.cost / best.cost):.2f} times the optimum.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "certificate.json"
        path.write_text(best.certificate.to_json(), encoding="utf-8")
        certificate = ln.Certificate.from_json(path.read_text(encoding="utf-8"))
        certificate.verify()  # by exact arithmetic; it trusts no solver
        print(f"Its certificate of {path.stat().st_size} bytes: {certificate}.")

    # Hourly temperatures; a person's records change one of them by at most 1.
    truth = np.linspace(10, 25, 24).round(2)
    noisy = np.asarray(mechanism.release(truth).values)
    print(f"\nReleased: {noisy.round(1)[:8]} …, largest error {abs(noisy - truth).max():.2f}")
    study = np.abs(mechanism.noise.sample(100_000)).mean()
    print(f"E|noise| in 100,000 samples: {study:.3f}")


def make_triangle(radius: int, steps: int) -> ln.Steps:
    """Return a density that falls from 0 to both sides in equal steps, with exact numbers."""
    half = [Fraction(radius * place, steps) for place in range(steps + 1)]
    heights = [Fraction(steps - place) for place in range(steps)]
    scale = 2 * sum(height * Fraction(radius, steps) for height in heights)
    densities = [height / scale for height in heights]
    return ln.Steps([-end for end in half[:0:-1]] + half, densities[::-1] + densities)


def delta_of(radius: int) -> Fraction:
    """Return the smallest δ that a triangle of this radius satisfies at ε = 0."""
    return ln.Profile(make_triangle(radius, 4 * radius), sensitivity=1).advantage


if __name__ == "__main__":
    main()
