"""Split one guarantee among several answers: searched in floats, proved in exact numbers."""

from leastnoise.planning.search.candidates import find_candidates, no_candidate_error

__all__ = [
    "find_candidates",
    "no_candidate_error",
]
