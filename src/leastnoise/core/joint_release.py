"""Add joint noise to several true values at once, or to the columns of a table.

As in :mod:`leastnoise.core.release`, all checks precede the first random bit, no object stores a
true value, and no message quotes one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from leastnoise.core.exact import exact_ratio, format_exact
from leastnoise.core.lattice import Grid, effective_steps
from leastnoise.core.noise import JointNoise
from leastnoise.core.privacy import Privacy
from leastnoise.core.release import MANY, Rebuilt
from leastnoise.core.sampling import SYSTEM, CipherTape
from leastnoise.core.tape import Draw, Tape
from leastnoise.errors import INTEGER, InvalidParameter

# From this many rows on, the time of bits of the operating system counts more than the memory of a
# cipher.
_VERY_MANY = 1 << 16


@dataclass(frozen=True)
class JointReleaser(Rebuilt):
    """Adds joint noise to several numbers; it cannot exist unless its noise is private.

    One unit changes all numbers together, number i by at most Δᵢ. Each is rounded to a lattice of
    its own, so lattice points move by at most :func:`effective_steps`, in all numbers at once.

    Attributes:
        noise: The joint noise on the lattices.
        privacy: The guarantee of one release of all numbers.
        sensitivities: Δ of each number.
        integers: Whether each number is an integer.
        grids: The lattice of each released number.

    Raises:
        NotPrivate: If the noise does not satisfy the guarantee for all shifts together.
    """

    noise: JointNoise
    privacy: Privacy
    sensitivities: tuple[Fraction, ...]
    integers: tuple[bool, ...]
    grids: tuple[Grid, ...] = field(init=False, repr=False, compare=False)
    _draw: Callable[[Tape], tuple[int, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Prove that the noise, as it is sampled, satisfies the guarantee."""
        steps = self.noise.steps
        if not len(steps) == len(self.sensitivities) == len(self.integers):
            raise InvalidParameter(
                "Joint noise needs a sensitivity for each number",
                got=f"{len(self.sensitivities)} for {len(steps)}",
                fix="Calibrate again.",
            )
        for delta, step, integer in zip(self.sensitivities, steps, self.integers, strict=True):
            if delta <= 0 or (integer and (step != 1 or delta.denominator != 1)):
                raise InvalidParameter(
                    "Sensitivities must be greater than 0, and for integers integers with step 1",
                    got=f"{format_exact(delta)} with step {format_exact(step)}",
                    fix="Calibrate again.",
                )
        self.noise.check_privacy(self.privacy, self.effective_shifts)
        object.__setattr__(self, "grids", tuple(map(Grid, steps)))
        object.__setattr__(self, "_draw", self.noise.scheme.draw)

    @property
    def effective_shifts(self) -> tuple[int, ...]:
        """How many steps of its lattice one unit can change each number."""
        each = zip(self.sensitivities, self.noise.steps, self.integers, strict=True)
        return tuple(
            int(delta) if integer else effective_steps(delta, step) for delta, step, integer in each
        )

    def prepare(self, values: object) -> Draw[tuple[int, ...]]:
        """Check values without reading bits; return the function that adds noise to all."""
        if not isinstance(values, tuple | list) or len(values) != len(self.grids):
            raise InvalidParameter(
                f"values must be a tuple or a list of {len(self.grids)} numbers",
                got=f"another object of type {type(values).__name__}",
                fix="Pass one number for each sensitivity.",
            )
        ratios = [exact_ratio(value) for value in values]
        for (_, denominator), integer in zip(ratios, self.integers, strict=True):
            if integer and denominator != 1:
                raise InvalidParameter(
                    "The value to release must be an integer with " + INTEGER,
                    got="a non-integer",
                    fix="Omit " + INTEGER + ".",
                )
        points = [grid.index(*ratio) for grid, ratio in zip(self.grids, ratios, strict=True)]
        draw = self._draw

        def add(tape: Tape | None = None) -> tuple[int, ...]:
            noise = draw(tape or SYSTEM)
            return tuple(point + index for point, index in zip(points, noise, strict=True))

        return add

    def sample(self, rows: int, tape: Tape | None = None) -> list[list[int]]:
        """Return a column of noise for each number: row j of all columns is one sample."""
        bits = tape or (SYSTEM if rows < _VERY_MANY else CipherTape())
        if rows < MANY:
            samples = [self._draw(bits) for _ in range(rows)]
            return [[sample[place] for sample in samples] for place in range(len(self.grids))]
        from leastnoise.core.arrays import draw_joint  # numpy, on first use

        return [column.tolist() for column in draw_joint(self.noise.scheme, rows, bits)]


class JointRows:
    """Adds joint noise to the columns of a table, whose rows one unit changes in one place only.

    All columns of a row get one sample of the noise. Each column can be given once: the same noise
    on other true numbers would reveal their difference.
    """

    def __init__(self, releaser: JointReleaser, tape: Tape | None = None) -> None:
        self._releaser, self._tape = releaser, tape
        self._noise: list[list[int]] | None = None
        self._used: set[int] = set()

    def add_noise_to_steps(self, place: int, numbers: Sequence[int], step: Fraction) -> list[int]:
        """Return the noisy numbers of one column, given in multiples of a step."""
        releaser = self._releaser
        if releaser.integers[place] and step.denominator != 1:
            raise InvalidParameter(
                "The values to release must be integers",
                got=f"multiples of {format_exact(step)}",
                fix="Calibrate for real numbers.",
            )
        points = releaser.grids[place].indices(numbers, step)
        if self._noise is None:
            self._noise = releaser.sample(len(points), self._tape)
        noise = self._noise[place]
        if place in self._used or len(noise) != len(points):
            raise TypeError("each column of joint noise is used once, with the same rows")
        self._used.add(place)
        return [point + index for point, index in zip(points, noise, strict=True)]
