"""Split one guarantee among several answers: searched in floats, proved in exact numbers."""

from leastnoise.planning.search.candidates import considered, impossible

__all__ = [
    "considered",
    "impossible",
]
