"""One uniform integer decides the index."""

from leastnoise.core.lattice import Run
from leastnoise.core.sampling.entropy import Tape


class TicketScheme:
    """Samples uniform noise on a lattice, with less at its two ends and more at 0.

    Of ``total`` tickets each point up to ``side`` steps from 0 holds ``level``, the next one on
    either side holds ``rim``, and 0 holds ``atom`` more. One ticket decides both the mass at 0 and
    the rest: a coin first, and the spread part only where it is needed, would reveal by its timing
    that the exact value was released.
    """

    def __init__(self, *, side: int, level: int, rim: int, atom: int) -> None:
        """Count the tickets."""
        self.side, self.level, self.rim, self.atom = side, level, rim, atom
        self.total = atom + (2 * side + 1) * level + 2 * rim
        self.reach = side + (1 if rim else 0)
        self._bits = word_bits(self.total)

    def draw(self, tape: Tape) -> int:
        """See Scheme."""
        bits, total = self._bits, self.total
        ticket = accepted(tape.word(bits), bits, total)
        while ticket is None:
            ticket = accepted(tape.word(bits), bits, total)
        return self.index_of(ticket)

    def index_of(self, ticket: int) -> int:
        """Return the index that holds a ticket: rim, level and rim from left to right, the atom."""
        if ticket >= self.total - self.atom:
            return 0
        return (ticket + self.level - self.rim) // self.level - self.side - 1

    @property
    def runs(self) -> tuple[Run, ...]:
        """The same weights from left to right."""
        side, rim = self.side, self.rim
        runs = [
            Run(-side - 1, 1, rim),
            Run(-side, side, self.level),
            Run(0, 1, self.level + self.atom),
            Run(1, side, self.level),
            Run(side + 1, 1, rim),
        ]
        return tuple(run for run in runs if run.points and run.weight)


def uniform_below(total: int, tape: Tape) -> int:
    """Return a uniform integer in [0, total): read words until one is accepted."""
    bits = word_bits(total)
    while (ticket := accepted(tape.word(bits), bits, total)) is None:
        pass
    return ticket


def word_bits(total: int) -> int:
    """Return how many bits a word has: whole 64s, at least two more than ``total`` needs."""
    return 64 * ((total.bit_length() + 1) // 64 + 1)


def accepted(word: int, bits: int, total: int) -> int | None:
    """Return the ticket of a uniform word of ``bits`` bits, or None if the word is rejected.

    ⌊word·total / 2^bits⌋ takes each ticket ⌊2^bits/total⌋ or ⌈2^bits/total⌉ times. Rejecting the
    products whose low part is below 2^bits mod total leaves each exactly ⌊2^bits/total⌋ words
    (Lemire, Fast Random Integer Generation in an Interval, 2019, Algorithm 5).
    """
    product = word * total
    low = product & ((1 << bits) - 1)
    if low < total and low < (1 << bits) % total:
        return None
    return product >> bits
