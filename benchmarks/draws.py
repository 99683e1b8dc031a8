"""Sampling for each family: arrays and single numbers, interleaved with numpy, AES and the peers.

numpy's PCG64 is not safe for noise, and its floats are not private; it is the reference for speed.
AES-CTR is a lower limit: the time to generate one 64-bit word for each number.
"""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

import leastnoise as ln
from benchmarks.peers.process import Cannot, PeerProcess
from benchmarks.plan import Plan
from benchmarks.progress import say
from benchmarks.timing import Contestant, Row, each, interleaved, ratio, summary

OURS, CPU, NUMPY, AES = "leastnoise", "leastnoise, CPU", "numpy", "AES-CTR"
_FEWEST, _MOST = 20, 20_000
_AES_BLOCK = 1 << 18

Array = NDArray[Any]


@dataclass(frozen=True)
class Family:
    """A kind of noise at one guarantee, and the most similar noise of numpy.

    Attributes:
        name: The name in the results.
        guarantee: ε and δ.
        noise: The argument ``family`` of calibrate; None for the optimal noise.
        like: The name of numpy's noise.
        unsafe: numpy's sampler. It takes the size of the array, or None for one number.
        integer: Whether answers are integers.
    """

    name: str
    guarantee: tuple[str, str]
    noise: str | None
    like: str
    unsafe: Callable[[np.random.Generator, int | None], Any]
    integer: bool = False

    def calibrate(self) -> ln.Mechanism:
        """Return the mechanism."""
        privacy = ln.Privacy(*self.guarantee)
        return ln.calibrate(privacy, sensitivity=1, family=self.noise, integer=self.integer)


def _uniform(rng: np.random.Generator, size: int | None) -> Any:
    return rng.uniform(-5, 5, size)


def _laplace(rng: np.random.Generator, size: int | None) -> Any:
    return rng.laplace(0, 1, size)


def _normal(rng: np.random.Generator, size: int | None) -> Any:
    return rng.normal(0, 4.2, size)


def _geometric(rng: np.random.Generator, size: int | None) -> Any:
    return rng.geometric(0.632, size) - rng.geometric(0.632, size)


FAMILIES = (
    Family("uniform", ("0", "0.1"), "uniform", "uniform", _uniform),
    Family("steps", ("1", "0.05"), None, "uniform", _uniform),
    Family("staircase", ("1", "0"), "staircase", "uniform", _uniform),
    Family("laplace", ("1", "1e-6"), "laplace", "laplace", _laplace),
    Family("truncated_laplace", ("1", "1e-6"), "truncated_laplace", "laplace", _laplace),
    Family("gaussian", ("1", "1e-6"), "gaussian", "normal", _normal),
    Family("geometric", ("1", "0"), "geometric", "geometric − geometric", _geometric, True),
    Family("canonical", ("1", "1e-6"), "canonical", "geometric − geometric", _geometric, True),
)


def measure(plan: Plan, peers: Mapping[str, PeerProcess], missing: Mapping[str, str]) -> Row:
    """Return the times of each family, of arrays and of single numbers."""
    rows = []
    for family in FAMILIES:
        mechanism = family.calibrate()
        for mode in ("bulk", "single"):
            say(f"draws: {family.name}, {mode}")
            rows.append(_row(plan, family, mechanism, mode, peers=peers, missing=missing))
    return {"size": plan.size, "threads": os.cpu_count(), "rows": rows}


def _row(
    plan: Plan,
    family: Family,
    mechanism: ln.Mechanism,
    mode: str,
    *,
    peers: Mapping[str, PeerProcess],
    missing: Mapping[str, str],
) -> Row:
    spent: list[float] = []
    contestants = _array_contestants(plan, family, mechanism, spent) if mode == "bulk" else {}
    contestants = contestants or _single_contestants(plan, family, mechanism)
    counts = dict.fromkeys(contestants, plan.size if mode == "bulk" else plan.single)
    omitted: dict[str, str] = dict(missing)
    notes: dict[str, str] = {}
    for name, peer in peers.items():
        try:
            draw = _Peer(peer, family, mode, plan.peer_seconds)
            contestants[name], counts[name] = draw, draw.count
            notes |= {name: draw.note} if draw.note else {}
        except Cannot as reason:
            omitted[name] = str(reason)
    series = {name: summary(s) for name, s in interleaved(contestants, plan.rounds).items()}
    return {
        "family": family.name,
        "guarantee": list(family.guarantee),
        "integer": family.integer,
        "mode": mode,
        "like": family.like,
        "seconds": series | ({CPU: summary(spent[1:])} if spent else {}),
        "ratios": {n: ratio(series[OURS], series[n]) for n in series if n != OURS},
        "counts": counts,
        "omitted": omitted,
        "notes": notes,
    }


def _array_contestants(
    plan: Plan, family: Family, mechanism: ln.Mechanism, spent: list[float]
) -> dict[str, Contestant]:
    """Return the contestants of this process for arrays; ``spent`` collects our CPU seconds."""
    rng = np.random.default_rng(1)
    values: Array = rng.normal(size=plan.size) * 1000
    if family.integer:
        values = values.astype(np.int64)
    ours = each(lambda: mechanism.release(values), plan.size)

    def with_cpu() -> float:
        before = time.process_time()
        took = ours()
        spent.append((time.process_time() - before) / plan.size)
        return took

    return {
        OURS: with_cpu,
        NUMPY: each(lambda: values + family.unsafe(rng, plan.size), plan.size),
        AES: each(partial(_run_cipher, 8 * plan.size), plan.size),
    }


def _single_contestants(
    plan: Plan, family: Family, mechanism: ln.Mechanism
) -> dict[str, Contestant]:
    """Return the contestants of this process for single numbers, as a program calls them."""
    rng = np.random.default_rng(1)
    value, times = 42 if family.integer else 42.5, range(plan.single)
    return {
        OURS: each(lambda: [mechanism.release(value) for _ in times], plan.single),
        NUMPY: each(lambda: [value + family.unsafe(rng, None) for _ in times], plan.single),
    }


def _run_cipher(length: int) -> None:
    """Generate this many bytes of the AES-256-CTR key stream, in one thread, and discard them."""
    stream = Cipher(algorithms.AES(os.urandom(32)), modes.CTR(os.urandom(16))).encryptor()
    zeros, buffer = bytes(_AES_BLOCK), bytearray(_AES_BLOCK)
    for _ in range(-(-length // _AES_BLOCK)):
        stream.update_into(zeros, buffer)


class _Peer:
    """The samples of a peer for one family: in each round, as many as fit into the target time."""

    def __init__(self, peer: PeerProcess, family: Family, mode: str, target_seconds: float) -> None:
        """Choose the number of samples for a round.

        Raises:
            Cannot: If the peer has no such noise.
        """
        epsilon, delta = (float(number) for number in family.guarantee)
        self._peer = peer
        self._request = {
            "family": family.name,
            "mode": mode,
            "epsilon": epsilon,
            "delta": delta,
            "integer": family.integer,
        }
        trial = peer.ask("draw", count=_FEWEST, **self._request)
        self.note = trial["note"] or ("" if mode == "single" or trial["lists"] else "one at a time")
        self.count: int = max(
            _FEWEST, min(_MOST, round(target_seconds * _FEWEST / trial["seconds"]))
        )

    def __call__(self) -> float:
        """Return the seconds of one sample."""
        took: float = self._peer.ask("draw", count=self.count, **self._request)["seconds"]
        return took / self.count
