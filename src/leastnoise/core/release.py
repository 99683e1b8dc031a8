"""Add noise to a true value: the only place where the two meet.

(A selection adds none: :mod:`leastnoise.core.selection`.)

Everything is checked before a bit is read, and the true value is a local variable of the functions
below: nothing else holds it, prints it or raises with it.
"""

from collections.abc import Callable, Sequence
from dataclasses import Field, dataclass, field, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from leastnoise.core.exact import exact_ratio, format_exact
from leastnoise.core.guarantee import check_privacy
from leastnoise.core.lattice import Grid, effective_sensitivity
from leastnoise.core.noise import LatticeNoise
from leastnoise.core.privacy import Privacy
from leastnoise.core.sampling import SYSTEM, CipherTape, Tape
from leastnoise.errors import INTEGER, InvalidParameter

if TYPE_CHECKING:
    from numpy.typing import NDArray

# From so many numbers on, arrays take less time. Their bits are the system's, too: to load a cipher
# for a few thousand would take more memory than the query that they come from.
_MANY = 200


class Rebuilt:
    """A dataclass that is built again, with its proof, when it is unpickled or copied."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), tuple(getattr(self, one.name) for one in fields(self) if one.init)


@dataclass(frozen=True)
class Releaser(Rebuilt):
    """Adds one noise to true values; it cannot exist unless that noise satisfies its guarantee.

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
                "the noise for integers must have step 1",
                got=f"step {format_exact(self.noise.step)}",
                fix="Calibrate again.",
            )
        if self.sensitivity <= 0 or (self.integer and self.sensitivity.denominator != 1):
            raise InvalidParameter(
                "sensitivity must be greater than 0, and an integer for integers",
                got=format_exact(self.sensitivity),
                fix="Calibrate again.",
            )
        check_privacy(self.noise, self.privacy, sensitivity=self.effective_sensitivity)
        object.__setattr__(self, "grid", Grid(self.noise.step))
        object.__setattr__(self, "_draw", self.noise.scheme.draw)

    @property
    def effective_sensitivity(self) -> Fraction:
        """The shift of the lattice point against which the noise protects."""
        return effective_sensitivity(self.sensitivity, self.noise.step, integer=self.integer)

    def add_noise(self, value: object) -> int:
        """Return the lattice point of a value plus noise, as an index."""
        return self._point(value) + self._draw(SYSTEM)

    def prepare(self, value: object) -> Callable[[], int]:
        """Check a value and read no bits; return what draws: :meth:`add_noise` of the value."""
        point, draw = self._point(value), self._draw
        return lambda: point + draw(SYSTEM)

    def add_noise_to_steps(self, numbers: Sequence[int], step: Fraction) -> list[int]:
        """Return :meth:`add_noise` of each number · step, with independent noise."""
        if self.integer and step.denominator != 1:
            raise InvalidParameter(
                "the values to release must be integers",
                got=f"multiples of {format_exact(step)}",
                fix="Calibrate for real numbers.",
            )
        points, draw = self.grid.indices(numbers, step), self._draw
        if len(points) < _MANY:
            return [point + draw(SYSTEM) for point in points]
        from leastnoise.core.arrays import draw_integers  # numpy, on first use

        noises = draw_integers(self.noise.scheme, len(points), SYSTEM)
        return [point + noise for point, noise in zip(points, noises, strict=True)]

    def prepare_array(
        self, values: "NDArray[Any]", what: str = "an array"
    ) -> "Callable[[], NDArray[Any]]":
        """Check an array and read no bits; return what draws, element by element, in its shape.

        ``what`` is what messages call it.
        """
        from leastnoise.core.arrays import prepare_array  # numpy, on first use

        scheme = self.noise.scheme
        return prepare_array(values, self.grid, scheme, CipherTape, integer=self.integer, what=what)

    def _point(self, value: object) -> int:
        """Return the lattice point of a value, or reject it."""
        numerator, denominator = exact_ratio(value)
        if self.integer and denominator != 1:
            raise InvalidParameter(
                "the value to release must be an integer with " + INTEGER,
                got=f"one of type {type(value).__name__} that is not",
                fix="Omit " + INTEGER + ".",
            )
        return self.grid.index(numerator, denominator)


def prepare_pair(
    values: object, grid: Grid, sample_pair: Callable[[Tape], tuple[int, int]]
) -> Callable[[], tuple[int, int]]:
    """Check two values and read no bits; return what draws: their lattice points plus noise.

    ``sample_pair`` samples the two noises. That they satisfy a guarantee is proved by whoever asks
    (:class:`leastnoise.mechanism.PairMechanism`).
    """
    if not isinstance(values, tuple | list) or len(values) != 2:
        raise InvalidParameter(
            "values must be a tuple or a list of two numbers",
            got=f"one of type {type(values).__name__} that is not",
            fix="Pass (x, y).",
        )
    first, second = (grid.index(*exact_ratio(value)) for value in values)

    def draw() -> tuple[int, int]:
        one, other = sample_pair(SYSTEM)
        return first + one, second + other

    return draw
