"""Certificates as JSON: all claims and their evidence, in exact numbers.

Each value is an object with its kind and its fields. A rational is a string such as ``"3/10"``. e^ε
is the interval that the proof uses. A cost is stored by its parameters; a function is stored as a
table of all bounds that the proof reads (:mod:`leastnoise.costs.fit`). A digest detects files that
were damaged or edited; :meth:`Certificate.verify` decides whether a certificate is true.

Files are not trusted: only the classes of the table below are built, each from exactly its fields,
and each field by its own decoder.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

from leastnoise.certificate.canonical_bound import CanonicalBound
from leastnoise.certificate.evidence import (
    SHAPE_WORDS,
    CombBound,
    SupportingLine,
    certificate_error,
)
from leastnoise.certificate.lattice_bound import Frame, LatticeBound
from leastnoise.core.exact import Interval, exponential
from leastnoise.core.noise import (
    STORED_NOISES,
    Noise,
    Run,
    Smooth,
)
from leastnoise.core.privacy import Privacy
from leastnoise.costs import (
    Cost,
    Points,
    Power,
    RecordingCost,
    Tabled,
    Threshold,
    are_well_formed,
    lp,
    piecewise_linear,
    threshold,
)
from leastnoise.errors import InvalidParameter, LeastnoiseError
from leastnoise.json_types import Json

if TYPE_CHECKING:
    from leastnoise.certificate.certificate import Certificate

FORMAT = "leastnoise certificate 1"
_STATED = ("noise", "privacy", "sensitivity", "objective", "cost", "lower_bound", "source")
_LONGEST = 1 << 27
_LONGEST_LINE = 300
_LONGEST_NUMBER = 13_280  # binary digits, about 4000 decimal ones
_POWER = re.compile(r"lp\('([0-9]{1,9}(?:[./][0-9]{1,9})?)'\)")
_NUMBER = re.compile(r"-?[0-9]{1,4000}(/[0-9]{1,4000})?")

Decoder = Callable[[Any], Any]
Built = TypeVar("Built")


def certificate_to_json(certificate: Certificate) -> str:
    """Return a certificate as JSON."""
    if type(certificate.objective) is Cost:  # a function, which cannot be stored
        recording = RecordingCost(certificate.objective)
        certificate = replace(certificate, objective=recording)
        certificate.verify()
        recording.complete()
    content = {name: _to_plain(getattr(certificate, name)) for name in _STATED}
    content |= {
        "format": FORMAT,
        "among": SHAPE_WORDS[certificate.shape],
        "factor": _to_plain(exponential(certificate.privacy.epsilon)),
        "evidence": _to_plain(certificate.evidence),
    }
    return json.dumps({**content, "digest": _digest(content)}, ensure_ascii=False, indent=1) + "\n"


def certificate_from_json(
    make: type[Certificate], text: str, cost: Cost | None = None
) -> Certificate:
    """Return the certificate in a JSON text (Certificate.from_json), or reject the text."""
    if len(text) > _LONGEST:
        raise certificate_error(f"it is longer than {_LONGEST} characters")
    try:
        content = json.loads(text, object_pairs_hook=_read_object)
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise certificate_error(f'the format is not "{FORMAT}"')
        if content.pop("digest", None) != _digest(content):
            raise certificate_error("the digest does not match the content")
        if set(content) != {*_STATED, "format", "among", "factor", "evidence"}:
            raise certificate_error("a part is missing or unknown")
        certificate = _build_certificate(make, content)
        factor = _decode_object(content["factor"], Interval)
    except LeastnoiseError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError):
        raise certificate_error("the JSON is malformed") from None
    if exponential(certificate.privacy.epsilon) != factor:
        raise certificate_error("its interval for e^ε is wrong")
    return certificate if cost is None else replace(certificate, objective=cost)


def noise_to_json(noise: Noise) -> Json:
    """Return noise as a certificate stores it: equal for equal noise only."""
    plain: Json = _to_plain(noise)
    return plain


def _build_certificate(make: type[Certificate], content: dict[str, Any]) -> Certificate:
    evidence = None
    if content["evidence"] is not None:
        evidence = _decode_object(
            content["evidence"], CanonicalBound | CombBound | LatticeBound | SupportingLine
        )
    certificate = make(
        noise=_decode_object(content["noise"], Noise),
        privacy=_decode_object(content["privacy"], Privacy),
        sensitivity=_read_rational(content["sensitivity"]),
        objective=_decode_object(content["objective"], Cost),
        shape="any" if evidence is None else evidence.shape,
        cost=_read_rational(content["cost"]),
        lower_bound=_read_rational(content["lower_bound"]),
        source=_text(content["source"]),
        evidence=evidence,
    )
    if not _is_line(certificate.source):
        raise certificate_error("the source is not one line of text")
    if content["among"] != SHAPE_WORDS[certificate.shape] or certificate.sensitivity <= 0:
        raise certificate_error("the evidence is for another class of noise")
    return certificate


def _to_plain(value: object) -> Any:
    """Return a value for JSON."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Fraction):
        if max(value.numerator.bit_length(), value.denominator.bit_length()) > _LONGEST_NUMBER:
            raise InvalidParameter(
                "A number in this certificate has more than 4000 digits",
                fix="Use shorter parameters, for example another unit of the answer.",
            )
        return str(value)
    if isinstance(value, tuple | list):
        return [_to_plain(part) for part in value]
    if isinstance(value, Tabled):
        table = [
            [kind, *arguments, answer.lower, answer.upper]
            for (kind, arguments), answer in value.readings.items()
        ]
        return {"kind": "Tabled", "name": value.name, "readings": _to_plain(table)}
    name = type(value).__name__
    row = _ROWS.get(name)
    if row is None or row.built is not type(value):
        raise InvalidParameter(
            "A certificate must hold noise and costs of leastnoise",
            got=name,
            fix="Keep the mechanism instead.",
        )
    return {"kind": name, **{field: _to_plain(getattr(value, field)) for field in row.fields}}


def _decode_object(plain: Any, expected: Any) -> Any:
    """Return the object of an expected class from JSON."""
    if not isinstance(plain, dict):
        raise _other_kind()
    stored = dict(plain)
    kind = stored.pop("kind")
    if kind == "Tabled":
        if expected is not Cost:
            raise _other_kind()
        return _read_tabulated(stored)
    row = _ROWS[kind]
    if not issubclass(row.built, expected):
        raise _other_kind()
    values = {name: row.fields[name](part) for name, part in stored.items()}
    if len(values) != len(row.fields):
        raise certificate_error("a part is missing")
    return _build(row.build, **values)


def _build(make: Callable[..., Built], **values: Any) -> Built:
    """Return an object of the certificate; an error is about its file, not about an argument."""
    try:
        return make(**values)
    except InvalidParameter as error:
        raise certificate_error(error.problem) from None


def _read_tabulated(stored: dict[str, Any]) -> Cost:
    """Return a tabulated cost; its certificate requires a cost function that matches it.

    Version 0.5.0 also wrote tables of irrational powers, by name; these are read as the powers.
    """
    if set(stored) != {"name", "readings"} or not _is_line(_text(stored["name"])):
        raise _other_kind()
    power = _POWER.fullmatch(stored["name"])
    if power is not None:
        return _build(lp, p=_read_rational(power[1]) if "/" in power[1] else power[1])
    rows = [
        (_text(kind), tuple(_read_rational(number) for number in arguments), bounds)
        for kind, *arguments, lower, upper in stored["readings"]
        for bounds in (Interval(_read_rational(lower), _read_rational(upper)),)
    ]
    readings = {(kind, arguments): bounds for kind, arguments, bounds in rows}
    if len(readings) != len(rows) or not are_well_formed(rows):
        raise certificate_error("its table is not of a cost that never falls")
    if ("value", (Fraction(0),)) not in readings:
        raise certificate_error("its table does not have the cost of no error")
    return Tabled(stored["name"], readings)


def _read_rational(plain: Any) -> Fraction:
    """Return an integer or a ratio of two; reject exponents, which could be of any size."""
    if not isinstance(plain, str):
        raise _other_kind()
    if not _NUMBER.fullmatch(plain):
        raise certificate_error("a number is malformed")
    return Fraction(plain)


def _make_type_decoder(expected: type) -> Decoder:
    """Return the decoder of one JSON type; True is not a number."""

    def decode(plain: Any) -> Any:
        if type(plain) is not expected:
            raise _other_kind()
        return plain

    return decode


def _make_list_decoder(decode: Decoder) -> Decoder:
    """Return the decoder of a list of values, each of one kind."""

    def decode_each(plain: Any) -> tuple[Any, ...]:
        if not isinstance(plain, list):
            raise _other_kind()
        return tuple(decode(part) for part in plain)

    return decode_each


def _make_row_decoder(*decoders: Decoder) -> Decoder:
    """Return the decoder of a list of values of these kinds, in this order."""

    def decode_row(plain: Any) -> tuple[Any, ...]:
        if not isinstance(plain, list) or len(plain) != len(decoders):
            raise _other_kind()
        return tuple(decode(part) for decode, part in zip(decoders, plain, strict=True))

    return decode_row


def _make_object_decoder(expected: type) -> Decoder:
    return lambda plain: _decode_object(plain, expected)


def _other_kind() -> InvalidParameter:
    return certificate_error("a part has the wrong type")


def _is_line(text: str) -> bool:
    return text.isprintable() and len(text) <= _LONGEST_LINE


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; raise a ValueError for a repeated name, as parsers differ there."""
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError
    return content


def _digest(content: dict[str, Any]) -> str:
    canonical = json.dumps(content, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


@dataclass(frozen=True)
class _Row:
    """A class that a certificate can contain: its fields in order, and its constructor."""

    built: type
    build: Callable[..., Any]
    fields: Mapping[str, Decoder]


_integer, _boolean, _text = (
    _make_type_decoder(int),
    _make_type_decoder(bool),
    _make_type_decoder(str),
)
_integers, _rationals = _make_list_decoder(_integer), _make_list_decoder(_read_rational)
# A shift, the first point, and the multipliers from there on.
_tests = _make_list_decoder(_make_row_decoder(_integer, _integer, _integers))
# Names of classes and of fields are a file format. The functions that build costs also check them.
_ROWS = {
    row.built.__name__: row
    for row in (
        _Row(Interval, Interval, {"lower": _read_rational, "upper": _read_rational}),
        _Row(Privacy, Privacy, {"epsilon": _read_rational, "delta": _read_rational}),
        _Row(Run, Run, {"first": _integer, "points": _integer, "weight": _integer}),
        _Row(Power, lp, {"p": _read_rational}),
        _Row(Threshold, threshold, {"limit": _read_rational}),
        _Row(
            Points,
            lambda sizes, costs: piecewise_linear(zip(sizes, costs, strict=True)),
            {"sizes": _rationals, "costs": _rationals},
        ),
        _Row(
            SupportingLine,
            SupportingLine,
            dict.fromkeys(("slope", "intercept", "low", "high"), _read_rational)
            | {"integer": _boolean},
        ),
        _Row(CombBound, CombBound, {"root": _read_rational}),
        _Row(CanonicalBound, CanonicalBound, {"integer": _boolean}),
        _Row(Frame, Frame, {"rule": _text, "cells": _integer, "reach": _integer}),
        _Row(
            LatticeBound,
            LatticeBound,
            {
                "frame": _make_object_decoder(Frame),
                "unit": _read_rational,
                "weights": _integers,
                "tests": _tests,
                "falls": _integers,
                "floors": _rationals,
            },
        ),
    )
}
# The kinds of values that noise is stored by (Noise.stored).
_VALUES: Mapping[str, Decoder] = {
    "integer": _integer,
    "integers": _integers,
    "rational": _read_rational,
    "rationals": _rationals,
    "pairs": _make_list_decoder(_make_row_decoder(_read_rational, _read_rational)),
    "runs": _make_list_decoder(_make_object_decoder(Run)),
    "smooth noise": _make_object_decoder(Smooth),
}


def store_noise(noise: type[Noise]) -> None:
    """Allow noise of a class in certificates, with the fields in its attribute ``stored``.

    Raises:
        TypeError: If there is no decoder for a field, or another class has the same name.
    """
    unknown = sorted(set(noise.stored.values()) - set(_VALUES))
    if unknown:
        raise TypeError(f"{noise.__name__} is stored by values of unknown kinds: {unknown}")
    row = _Row(noise, noise.restore, {name: _VALUES[kind] for name, kind in noise.stored.items()})
    if _ROWS.setdefault(noise.__name__, row).built is not noise:
        raise TypeError(f"certificates hold another class named {noise.__name__}")


for _noise in STORED_NOISES:
    store_noise(_noise)
