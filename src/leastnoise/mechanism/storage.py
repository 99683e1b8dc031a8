"""What a ledger stores: descriptions of mechanisms, and answers.

Indices are integers in hexadecimal, of any length; arrays are bytes.
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


def description(mechanism: "Mechanism") -> tuple[Json, str]:
    """Describe a mechanism for a ledger and its export; return that with its digest.

    The digest is of the noise and the guarantee alone: another proof of the same noise keeps it.
    """
    noise = mechanism.discretized
    drawn = {
        "privacy": privacy_to_json(mechanism.privacy),
        "drawn": noise_to_json(noise.noise),
        "sensitivity": format_ratio(mechanism.sensitivity),
        "integer": mechanism.integer,
    }
    facts = {
        "noise": repr(mechanism.noise),
        "step": format_ratio(noise.step),
        "radius": format_ratio(noise.radius),
        "exact_probability": format_ratio(mechanism.exact_probability),
        "cost": format_ratio(mechanism.cost),
        "certificate": json.loads(certificate_to_json(mechanism.certificate)),
    }
    return drawn | facts, digest(drawn)


def digest(drawn: Json) -> str:
    """Return the digest of a discretized noise with its guarantee."""
    return hashlib.sha256(canonical(drawn).encode()).hexdigest()


def _encode_array(values: "NDArray[Any]") -> Encoded:
    """Encode an array: numbers of 64 bits as they are, others as strings."""
    shape = list(values.shape)
    if values.dtype == object:
        texts = "\n".join(_hexadecimal(value) for value in values.ravel().tolist())
        return {"dtype": "object", "shape": shape}, texts.encode()
    little = values.astype(values.dtype.newbyteorder("<"), copy=False)
    return {"dtype": little.dtype.str, "shape": shape}, little.tobytes()


def _decode_array(content: Json, payload: bytes) -> "NDArray[Any]":
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


NUMBER: Codec[int] = Codec(
    lambda index: ({"index": f"{index:x}"}, b""),
    lambda content, _: read_index(content["index"]),
)


def numbers(count: int) -> Codec[tuple[int, ...]]:
    """Return how so many numbers are stored."""

    def decode(content: Json, _: bytes) -> tuple[int, ...]:
        indices = tuple(read_index(index) for index in content["indices"])
        if len(indices) != count:
            raise ValueError
        return indices

    return Codec(lambda indices: ({"indices": [f"{index:x}" for index in indices]}, b""), decode)


ARRAY: "Codec[NDArray[Any]]" = Codec(_encode_array, _decode_array)
