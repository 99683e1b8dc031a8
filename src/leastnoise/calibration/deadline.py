"""Deadlines of a search, by a clock that tests can replace."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment of a monotonic clock, in seconds, after which no further step starts."""

    at: float
    clock: Clock = field(default=time.monotonic, compare=False)

    @classmethod
    def after(cls, seconds: float, clock: Clock = time.monotonic) -> "Deadline":
        """Return the moment this number of seconds from now."""
        return cls(clock() + seconds, clock)

    @property
    def left(self) -> float:
        """The remaining seconds; negative once the moment has passed."""
        return self.at - self.clock()

    def share(self, part: float) -> "Deadline":
        """Return an earlier moment: after this part of the remaining time."""
        return Deadline.after(max(self.left, 0.0) * part, self.clock)

    def earlier(self, seconds: float) -> "Deadline":
        """Return the moment this number of seconds before this one."""
        return Deadline(self.at - seconds, self.clock)
