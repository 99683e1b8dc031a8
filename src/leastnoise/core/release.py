"""Add noise to true values: only this module and :mod:`leastnoise.core.joint_release` do.

All checks precede the first random bit. A true value is only ever a local variable of the functions
below: no object stores it, and no message quotes it.
"""

from collections.abc import Callable, Sequence
from dataclasses import Field, dataclass, field, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from leastnoise.core.exact import exact_ratio, format_exact
from leastnoise.core.gaussian_cost import GaussianCost, find_caps
from leastnoise.core.guarantee import check_privacy
from leastnoise.core.lattice import Grid, effective_sensitivity, effective_square
from leastnoise.core.noise import Gaussian, LatticeNoise, Rounded
from leastnoise.core.privacy import Privacy
from leastnoise.core.sampling import SYSTEM, CipherTape
from leastnoise.core.tape import Draw, Tape
from leastnoise.errors import INTEGER, InvalidParameter, NotPrivate, Words, parameter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# From this many numbers on, arrays are faster. They use the system's bits, and no cipher.
MANY = 200


class Rebuilt:
    """A dataclass that is constructed again, with its checks, when it is unpickled or copied."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), tuple(getattr(self, part.name) for part in fields(self) if part.init)


@dataclass(frozen=True)
class Releaser(Rebuilt):
    """Adds noise to true values; it cannot exist unless its noise satisfies its guarantee.

    Attributes:
        noise: The discretized noise that is sampled.
        privacy: The guarantee of one release.
        sensitivity: Δ of the true values.
        integer: Whether the true values are integers.
        grid: The lattice that released values lie on.

    Raises:
        NotPrivate: If the noise does not satisfy the guarantee at the effective sensitivity.
    """

    noise: LatticeNoise
    privacy: Privacy
    sensitivity: Fraction
    integer: bool
    grid: Grid = field(init=False, repr=False, compare=False)
    _draw: Callable[[Tape], int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Prove that the noise, as it is sampled, satisfies the guarantee."""
        if self.integer and self.noise.step != 1:
            raise InvalidParameter(
                "The noise for integers must have step 1",
                got=f"step {format_exact(self.noise.step)}",
                fix="Calibrate again.",
            )
        if self.sensitivity <= 0 or (self.integer and self.sensitivity.denominator != 1):
            raise InvalidParameter(
                parameter("sensitivity") + " must be greater than 0, and an integer for integers",
                got=format_exact(self.sensitivity),
                fix="Calibrate again.",
            )
        check_privacy(self.noise, self.privacy, sensitivity=self.effective_sensitivity)
        object.__setattr__(self, "grid", Grid(self.noise.step))
        object.__setattr__(self, "_draw", self.noise.scheme.draw)

    @property
    def effective_sensitivity(self) -> Fraction:
        """The largest shift of a lattice point that the noise protects against."""
        return effective_sensitivity(self.sensitivity, self.noise.step, integer=self.integer)

    def add_noise(self, value: object) -> int:
        """Return the lattice point of a value plus noise, as an index."""
        return self._point(value) + self._draw(SYSTEM)

    def prepare(self, value: object) -> Draw[int]:
        """Check a value without reading bits; return the function that adds noise to it."""
        point, draw = self._point(value), self._draw
        return lambda tape=None: point + draw(tape or SYSTEM)

    def add_noise_to_steps(
        self, numbers: Sequence[int], step: Fraction, tape: Tape | None = None
    ) -> list[int]:
        """Return :meth:`add_noise` of each number · step, with independent noise."""
        if self.integer and step.denominator != 1:
            raise InvalidParameter(
                "The values to release must be integers",
                got=f"multiples of {format_exact(step)}",
                fix="Calibrate for real numbers.",
            )
        points, draw, bits = self.grid.indices(numbers, step), self._draw, tape or SYSTEM
        if len(points) < MANY:
            return [point + draw(bits) for point in points]
        from leastnoise.core.arrays import draw_integers  # numpy, on first use

        samples = draw_integers(self.noise.scheme, len(points), bits)
        return [point + sample for point, sample in zip(points, samples, strict=True)]

    def prepare_array(
        self, values: "NDArray[np.generic]", what: str = "An array"
    ) -> "Draw[NDArray[np.generic]]":
        """Check an array without reading bits; return the function that adds noise to it.

        Each element gets independent noise. ``what`` is the name of the array in messages.
        """
        from leastnoise.core.arrays import prepare_array  # numpy, on first use

        scheme = self.noise.scheme
        return prepare_array(values, self.grid, scheme, CipherTape, integer=self.integer, what=what)

    def _point(self, value: object) -> int:
        """Return the lattice point of a value, or reject it."""
        numerator, denominator = exact_ratio(value)
        if self.integer and denominator != 1:
            raise InvalidParameter(
                "The value to release must be an integer with " + INTEGER,
                got=Words(f"a non-integer of type {type(value).__name__}", "a non-integer"),
                fix="Omit " + INTEGER + ".",
            )
        return self.grid.index(numerator, denominator)


@dataclass(frozen=True)
class VectorReleaser(Rebuilt):
    """Adds Gaussian noise to vectors; it cannot exist unless its noise satisfies its guarantee.

    Gaussian noise of standard deviation σ on every coordinate of a vector that moves by at most D
    in ℓ2 costs (D/σ)², whatever the direction (docs/theory/many-answers.md). Rounding the noise to
    the lattice is post-processing, because lattice points move by full steps.

    Attributes:
        noise: The Gaussian noise of each coordinate, rounded to the lattice.
        privacy: The guarantee of one release of the whole vector.
        sensitivity: Δ, the largest ℓ2 distance of the true vectors of neighboring datasets.
        dimension: The largest number of coordinates.
        integer: Whether the coordinates are integers.
        cost: The cost (μ², 0) of one release of the whole vector.
        grid: The lattice that released values lie on.

    Raises:
        NotPrivate: If σ is too small for the guarantee.
    """

    noise: Rounded
    privacy: Privacy
    sensitivity: Fraction
    dimension: int
    integer: bool
    cost: GaussianCost = field(init=False, repr=False, compare=False)
    grid: Grid = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Prove that the noise, as it is sampled, satisfies the guarantee."""
        line = self.noise.noise
        if not isinstance(line, Gaussian) or (self.integer and self.noise.step != 1):
            raise InvalidParameter(
                "The noise for a vector must be Gaussian, and for integers have step 1",
                got=repr(self.noise),
                fix="Calibrate again.",
            )
        if self.sensitivity <= 0 or self.dimension < 1:
            raise InvalidParameter(
                parameter("sensitivity") + " must be greater than 0, and dimension at least 1",
                got=f"{format_exact(self.sensitivity)} and {self.dimension}",
                fix="Calibrate again.",
            )
        cost = GaussianCost(self.effective_square / line.sigma**2)
        if not cost.fits(find_caps(self.privacy)):
            raise NotPrivate(
                f"This noise does not satisfy {self.privacy} for vectors that one person changes "
                f"by at most {format_exact(self.sensitivity)} in ℓ2: its standard deviation is "
                "too small",
                fix="Use calibrate_vector().",
            )
        object.__setattr__(self, "cost", cost)
        object.__setattr__(self, "grid", Grid(self.noise.step))

    @property
    def effective_square(self) -> Fraction:
        """The square of the largest ℓ2 distance of lattice points that the noise protects."""
        return effective_square(
            self.sensitivity, self.noise.step, dimension=self.dimension, integer=self.integer
        )

    def prepare_array(
        self, values: "NDArray[np.generic]", what: str = "an array"
    ) -> "Draw[NDArray[np.generic]]":
        """Check a vector without reading bits; return the function that adds noise to it."""
        from leastnoise.core.arrays import prepare_array  # numpy, on first use

        if values.size > self.dimension:
            raise InvalidParameter(
                f"The vector to release must have at most {self.dimension} elements",
                got=f"{what} of {values.size}",
                fix="Calibrate for a larger dimension.",
            )
        scheme = self.noise.scheme
        return prepare_array(values, self.grid, scheme, CipherTape, integer=self.integer, what=what)


def prepare_pair(
    values: object, grid: Grid, sample_pair: Callable[[Tape], tuple[int, int]]
) -> Draw[tuple[int, int]]:
    """Check two values without reading bits; return the function that adds noise to both.

    ``sample_pair`` samples the noise of both values. The caller proves that it satisfies a
    guarantee (:class:`leastnoise.mechanism.PairMechanism`).
    """
    if not isinstance(values, tuple | list) or len(values) != 2:
        raise InvalidParameter(
            "values must be a tuple or a list of two numbers",
            got=f"another object of type {type(values).__name__}",
            fix="Pass (x, y).",
        )
    first, second = (grid.index(*exact_ratio(value)) for value in values)

    def draw(tape: Tape | None = None) -> tuple[int, int]:
        first_noise, second_noise = sample_pair(tape or SYSTEM)
        return first + first_noise, second + second_noise

    return draw
