"""The stored forms of mechanisms and answers in a ledger. They must never change.

Indices are integers in hexadecimal, of any length. Arrays are bytes.
"""

import hashlib
import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from leastnoise.certificate import certificate_to_json, noise_to_json
from leastnoise.core.exact import format_ratio
from leastnoise.ledger import Codec, Encoded, Json, canonical, privacy_to_json, read_index

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from leastnoise.mechanism.mechanism import Mechanism


_DTYPES = ("<i8", "<f8", "object")


def describe(mechanism: "Mechanism") -> tuple[Json, str]:
    """Return the description of a mechanism for a ledger and its export, and its digest.

    The digest covers the discretized noise and the guarantee alone, so it does not depend on the
    proof in the certificate.
    """
    noise = mechanism.discretized
    description: Json = {
        "privacy": privacy_to_json(mechanism.privacy),
        "drawn": noise_to_json(noise.noise),
        "sensitivity": format_ratio(mechanism.sensitivity),
        "integer": mechanism.integer,
    }
    facts: Json = {
        "noise": repr(mechanism.noise),
        "step": format_ratio(noise.step),
        "radius": format_ratio(noise.radius),
        "exact_probability": format_ratio(mechanism.exact_probability),
        "cost": format_ratio(mechanism.cost),
        "certificate": json.loads(certificate_to_json(mechanism.certificate)),
    }
    return description | facts, digest(description)


def digest(description: Json) -> str:
    """Return the digest of discretized noise with its guarantee."""
    return hashlib.sha256(canonical(description).encode()).hexdigest()


def _encode_array(values: "NDArray[Any]") -> Encoded:
    """Encode an array: 64-bit numbers as bytes, others as strings."""
    shape = list(values.shape)
    if values.dtype == object:
        texts = "\n".join(_hexadecimal(value) for value in values.ravel().tolist())
        return {"dtype": "object", "shape": shape}, texts.encode()
    little = values.astype(values.dtype.newbyteorder("<"), copy=False)
    return {"dtype": little.dtype.str, "shape": shape}, little.tobytes()


def _decode_array(content: dict[str, Any], payload: bytes) -> "NDArray[Any]":
    import numpy as np

    if content["dtype"] not in _DTYPES or any(type(size) is not int for size in content["shape"]):
        raise ValueError
    if content["dtype"] != "object":
        flat = np.frombuffer(payload, dtype=content["dtype"]).astype(content["dtype"][1:])
        return flat.reshape(content["shape"])
    texts = payload.decode().split("\n")
    values = np.empty(len(texts), dtype=object)
    values[:] = [_exact(text) for text in texts]
    return values.reshape(content["shape"])


def _hexadecimal(value: int | Fraction) -> str:
    return f"{value:x}" if isinstance(value, int) else f"{value.numerator:x}/{value.denominator:x}"


def _exact(text: str) -> int | Fraction:
    over, _, under = text.partition("/")
    return Fraction(read_index(over), read_index(under)) if under else read_index(over)


def _decode_number(content: dict[str, Any], _: bytes) -> int:
    return read_index(content["index"])


NUMBER: Codec[int] = Codec(lambda index: ({"index": f"{index:x}"}, b""), _decode_number)


def numbers(count: int) -> Codec[tuple[int, ...]]:
    """Return the codec for a fixed count of numbers."""

    def decode(content: dict[str, Any], _: bytes) -> tuple[int, ...]:
        indices = tuple(read_index(index) for index in content["indices"])
        if len(indices) != count:
            raise ValueError
        return indices

    return Codec(lambda indices: ({"indices": [f"{index:x}" for index in indices]}, b""), decode)


ARRAY: "Codec[NDArray[Any]]" = Codec(_encode_array, _decode_array)
