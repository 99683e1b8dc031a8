"""What every sampling scheme offers."""

from typing import Protocol

from leastnoise.core.sampling.entropy import Tape


class Scheme(Protocol):
    """An exact sampler of one lattice noise.

    There are four: by one uniform integer (:class:`TicketScheme`), by inversion of runs of equal
    weight (:class:`RunScheme`), by a place and a geometric number (:class:`StaircaseScheme`) and by
    the quantiles of a rounded smooth noise (:class:`QuantileScheme`).
    """

    @property
    def reach(self) -> int:
        """How large an index can be; of unbounded noise, but for one in 2⁶² samples."""
        ...

    def draw(self, tape: Tape) -> int:
        """Return one index of the lattice.

        Contract: for any tape of independent fair bits the index is j with probability exactly
        ``weight(j) / total``. How many bits are read does not depend on what comes out, except that
        a word is rejected, or read on from, with a small probability.
        """
        ...
