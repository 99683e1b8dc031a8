"""Releases that a ledger remembers: charged before they are drawn, stored before they leave.

The order is the guarantee. The charge is on disk before a bit is drawn, so that no crash and no
error makes a release free; the answer is on disk before it is returned, so that whoever asks again
under its key is given the same, and nothing more is learned.
"""

import hashlib
import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from leastnoise.certificate import certificate_to_json, noise_to_json
from leastnoise.core.exact import format_ratio
from leastnoise.ledger import Form, Json, Written, canonical

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from leastnoise.mechanism.mechanism import Mechanism


def description(mechanism: "Mechanism") -> tuple[Json, str]:
    """Return what a ledger and its export say of a mechanism, and a digest of what it is.

    The digest tells one law and one promise from others: a proof of the same may be another next
    time.
    """
    law, privacy = mechanism.drawn, mechanism.privacy
    drawn = {
        "privacy": {"epsilon": format_ratio(privacy.epsilon), "delta": format_ratio(privacy.delta)},
        "drawn": noise_to_json(law.noise),
        "sensitivity": format_ratio(mechanism.sensitivity),
        "integer": mechanism.integer,
    }
    facts = {
        "noise": repr(mechanism.noise),
        "step": format_ratio(law.step),
        "radius": format_ratio(law.radius),
        "exact_probability": format_ratio(mechanism.exact_probability),
        "cost": format_ratio(mechanism.cost),
        "certificate": json.loads(certificate_to_json(mechanism.certificate)),
    }
    return drawn | facts, digest(drawn)


def digest(drawn: Json) -> str:
    """Return the digest of a law with its promise."""
    return hashlib.sha256(canonical(drawn).encode()).hexdigest()


# What answers are in a ledger: whole numbers in hexadecimal, of any length; arrays as bytes.


def index_written(index: int) -> Written:
    """Write one index."""
    return {"index": f"{index:x}"}, b""


def index_of(content: Json, _: bytes) -> int:
    """Read one index."""
    return int(content["index"], 16)


def pair_of(content: Json, _: bytes) -> tuple[int, int]:
    """Read two indices."""
    first, second = (int(index, 16) for index in content["indices"])
    return first, second


def numbers_written(indices: tuple[int, ...]) -> Written:
    """Write the indices of several answers."""
    return {"indices": [f"{index:x}" for index in indices]}, b""


def numbers_of(content: Json, _: bytes) -> tuple[int, ...]:
    """Read the indices of several answers."""
    return tuple(int(index, 16) for index in content["indices"])


def array_written(values: "NDArray[Any]") -> Written:
    """Write an array: numbers of 64 bits as they are, others as texts."""
    shape = list(values.shape)
    if values.dtype == object:
        texts = "\n".join(_hexadecimal(value) for value in values.ravel().tolist())
        return {"dtype": "object", "shape": shape}, texts.encode()
    little = values.astype(values.dtype.newbyteorder("<"), copy=False)
    return {"dtype": little.dtype.str, "shape": shape}, little.tobytes()


def array_of(content: Json, payload: bytes) -> "NDArray[Any]":
    """Read an array."""
    import numpy as np

    if content["dtype"] != "object":
        flat = np.frombuffer(payload, dtype=content["dtype"]).astype(content["dtype"][1:])
        return flat.reshape(content["shape"])
    texts = payload.decode().split("\n")
    whole = np.empty(len(texts), dtype=object)
    whole[:] = [_exact(text) for text in texts]
    return whole.reshape(content["shape"])


def _hexadecimal(value: int | Fraction) -> str:
    return f"{value:x}" if isinstance(value, int) else f"{value.numerator:x}/{value.denominator:x}"


def _exact(text: str) -> int | Fraction:
    over, _, under = text.partition("/")
    return Fraction(int(over, 16), int(under, 16)) if under else int(over, 16)


NUMBER: Form[int] = Form(index_written, index_of)
PAIR: Form[tuple[int, int]] = Form(numbers_written, pair_of)
NUMBERS: Form[tuple[int, ...]] = Form(numbers_written, numbers_of)
ARRAY: "Form[NDArray[Any]]" = Form(array_written, array_of)
