"""Answer requests in the process of a peer: one line of JSON each, until the input ends.

This runs in the environment of the peer, so it imports only the standard library.
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
AddNoise = Callable[[Any], Any]
AddNoiseToList = Callable[[list[Any]], Any]

REAL, INTEGER = 42.5, 42


@dataclass(frozen=True)
class Guarantee:
    """The guarantee of a mechanism at sensitivity 1, and whether answers are integers."""

    epsilon: float
    delta: float
    integer: bool

    @property
    def value(self) -> float | int:
        """A true answer."""
        return INTEGER if self.integer else REAL


@dataclass(frozen=True)
class Peer:
    """A library: its versions, its samplers for each family, and its noise distributions.

    Attributes:
        versions: The versions of the library and of the packages it samples with.
        single: For each family, a function from a guarantee to a function that adds noise to a
            number.
        lists: The same for lists of numbers, if the library takes lists.
        real: For each mechanism for real answers, a function from a guarantee to its noise
            distribution, in the form of distributions.py, or to a function that adds noise if the
            library does not document the distribution.
        integer: The same for mechanisms that return integers.
        notes: A note for each family whose mechanism is not quite the same.
        more: Functions that answer further requests.
    """

    versions: Mapping[str, str]
    single: Mapping[str, Callable[[Guarantee], AddNoise]]
    lists: Mapping[str, Callable[[Guarantee], AddNoiseToList]]
    real: Mapping[str, Callable[[Guarantee], Row | AddNoise]]
    integer: Mapping[str, Callable[[Guarantee], Row | AddNoise]]
    notes: Mapping[str, str]
    more: Mapping[str, Callable[[Row], Row]] = field(default_factory=dict)


def serve(peer: Peer) -> None:
    """Answer requests until the input ends. Everything else that is printed goes to stderr."""
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = reply(peer, request)
        except Exception as error:  # noqa: BLE001 -- every error of a peer is reported
            answer = {"cannot": describe_error(error)}
        print(json.dumps(answer), file=answers, flush=True)


def reply(peer: Peer, request: Row) -> Row:
    """Return the answer to one request."""
    if request["do"] == "introduce":
        distributions = {"real": list(peer.real), "integer": list(peer.integer)}
        return {"versions": dict(peer.versions), "distributions": distributions}
    if request["do"] in peer.more:
        return peer.more[request["do"]](request)
    guarantee = Guarantee(request["epsilon"], request["delta"], request["integer"])
    if request["do"] == "distribution":
        makers = peer.integer if guarantee.integer else peer.real
        noise = makers[request["name"]](guarantee)
        return describe_noise(noise, guarantee, request["seconds"])
    family = request["family"]
    if family not in peer.single:
        return {"cannot": "it has no such noise"}
    if request["do"] == "make":
        return {"seconds": time_call(lambda: peer.single[family](guarantee))}
    return {**draw(peer, family, guarantee, request), "note": peer.notes.get(family, "")}


def draw(peer: Peer, family: str, guarantee: Guarantee, request: Row) -> Row:
    """Return the seconds of this many samples, of a list or one at a time."""
    count, value = request["count"], guarantee.value
    if request["mode"] == "bulk" and family in peer.lists:
        add_to_list, values = make_once(peer.lists[family], guarantee), [value] * count
        return {"seconds": time_call(lambda: add_to_list(values)), "lists": True}
    add = make_once(peer.single[family], guarantee)
    return {"seconds": time_call(lambda: [add(value) for _ in range(count)]), "lists": False}


@cache
def make_once(maker: Callable[[Guarantee], Any], guarantee: Guarantee) -> Any:
    """Return a mechanism, cached because some peers search long for the scale."""
    return maker(guarantee)


def describe_noise(noise: Row | AddNoise, guarantee: Guarantee, seconds: float) -> Row:
    """Return the distribution, or moments from samples of some seconds, with standard errors."""
    if not callable(noise):
        return noise
    value, until = guarantee.value, time.perf_counter() + seconds
    sums, count = [0.0] * 3, 0
    while time.perf_counter() < until or count < 100:
        size = abs(noise(value) - value)
        for power in range(3):
            sums[power] += size ** (1, 2, 4)[power]
        count += 1
    first, second, fourth = (total / count for total in sums)
    spreads = (second - first**2, fourth - second**2)
    errors = [(max(spread, 0.0) / count) ** 0.5 for spread in spreads]
    return {"kind": "samples", "moments": [first, second], "errors": errors, "count": count}


def time_call(call: Callable[[], object]) -> float:
    """Return the duration of a call, in seconds."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def describe_error(error: Exception) -> str:
    """Return the type of an error and the first nonempty line of its message."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = re.sub(r"\d{20,}", "…", lines[0]) if lines else "no message"
    return f"{type(error).__name__}: {text[:120]}"
