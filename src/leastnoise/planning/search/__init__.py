"""One promise shared among several answers: found in floats, proved in exact numbers."""

from leastnoise.planning.search.candidates import considered, impossible

__all__ = [
    "considered",
    "impossible",
]
