"""The peer's end of the talk: a line of JSON in, a line of JSON out, until the input ends.

This runs in the environment of the peer, so it may import the standard library alone.
"""

import json
import re
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

Row = dict[str, Any]
One = Callable[[Any], Any]
Many = Callable[[list[Any]], Any]

REAL, WHOLE = 42.5, 42


@dataclass(frozen=True)
class Guarantee:
    """What a mechanism must keep at a sensitivity of 1, and whether answers are whole numbers."""

    epsilon: float
    delta: float
    integer: bool

    @property
    def value(self) -> float | int:
        """A true answer."""
        return WHOLE if self.integer else REAL


@dataclass(frozen=True)
class Peer:
    """A library: its packages' versions, what draws each family, and what each distribution is.

    Attributes:
        versions: Of the library and what it draws with.
        one: For each family a function from a guarantee to what adds noise to one number.
        many: The same for a list of numbers, where the library takes lists.
        real: For each mechanism for real answers a function from a guarantee to its noise
            distribution, as distributions.py reads it, or to what adds noise if the library does
            not document its distribution.
        whole: The same for mechanisms that return integers.
        notes: What a family's mechanism is, where it is not quite the same.
        more: What else it can be asked: from a request to its answer.
    """

    versions: Mapping[str, str]
    one: Mapping[str, Callable[[Guarantee], One]]
    many: Mapping[str, Callable[[Guarantee], Many]]
    real: Mapping[str, Callable[[Guarantee], Row | One]]
    whole: Mapping[str, Callable[[Guarantee], Row | One]]
    notes: Mapping[str, str]
    more: Mapping[str, Callable[[Row], Row]] = field(default_factory=dict)


def serve(peer: Peer) -> None:
    """Answer until the input ends; whatever else is printed goes to stderr."""
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = reply(peer, request)
        except Exception as error:  # noqa: BLE001 -- whatever a peer raises is what is reported
            answer = {"cannot": said(error)}
        print(json.dumps(answer), file=answers, flush=True)


def reply(peer: Peer, request: Row) -> Row:
    """Return the answer to one request."""
    if request["do"] == "introduce":
        distributions = {"real": list(peer.real), "whole": list(peer.whole)}
        return {"versions": dict(peer.versions), "laws": distributions}
    if request["do"] in peer.more:
        return peer.more[request["do"]](request)
    guarantee = Guarantee(request["epsilon"], request["delta"], request["integer"])
    if request["do"] == "law":
        distributions_of_kind = peer.whole if guarantee.integer else peer.real
        return distribution(
            distributions_of_kind[request["name"]](guarantee), guarantee, request["seconds"]
        )
    family = request["family"]
    if family not in peer.one:
        return {"cannot": "it has no such noise"}
    if request["do"] == "make":
        return {"seconds": timed(lambda: peer.one[family](guarantee))}
    return {**draw(peer, family, guarantee, request), "note": peer.notes.get(family, "")}


def draw(peer: Peer, family: str, guarantee: Guarantee, request: Row) -> Row:
    """Return how long so many draws take: one by one as a program would, or of a list."""
    count, value = request["count"], guarantee.value
    if request["way"] == "bulk" and family in peer.many:
        many, values = made(peer.many[family], guarantee), [value] * count
        return {"seconds": timed(lambda: many(values)), "lists": True}
    one = made(peer.one[family], guarantee)
    return {"seconds": timed(lambda: [one(value) for _ in range(count)]), "lists": False}


@cache
def made(maker: Callable[[Guarantee], Any], guarantee: Guarantee) -> Any:
    """Return a mechanism, made once: some peers search long for its scale."""
    return maker(guarantee)


def distribution(found: Row | One, guarantee: Guarantee, seconds: float) -> Row:
    """Return a distribution, or else its moments by drawing for some seconds, with their errors."""
    if not callable(found):
        return found
    value, until = guarantee.value, time.perf_counter() + seconds
    sums, count = [0.0] * 3, 0
    while time.perf_counter() < until or count < 100:
        size = abs(found(value) - value)
        for power in range(3):
            sums[power] += size ** (1, 2, 4)[power]
        count += 1
    first, second, fourth = (total / count for total in sums)
    spreads = (second - first**2, fourth - second**2)
    errors = [(max(spread, 0.0) / count) ** 0.5 for spread in spreads]
    return {"kind": "draws", "moments": [first, second], "errors": errors, "count": count}


def timed(call: Callable[[], object]) -> float:
    """Return the seconds that a call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def said(error: Exception) -> str:
    """Return the first line of an error that says something, without where it came from."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = re.sub(r"\d{20,}", "…", lines[0]) if lines else "it said nothing"
    return f"{type(error).__name__}: {text[:120]}"
