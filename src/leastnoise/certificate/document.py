"""Certificates as JSON: everything that is claimed and proved, in exact numbers.

Each value is an object that names its kind and its parts; a rational is a text ``"3/10"``. e^ε is
given as the interval that the proof uses, a cost by its parameters or, where it was a function, by
the table of all values that the proof needs. A digest tells a file that was damaged or edited
from one that was not; whether what it says is true is for the check to say.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from itertools import pairwise
from types import UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

from leastnoise.certificate.canonical_bound import CanonicalBound
from leastnoise.certificate.evidence import CombBound, SupportingLine, certificate_error
from leastnoise.certificate.lattice_bound import Frame, LatticeBound
from leastnoise.core.exact import Interval, exponential
from leastnoise.core.noise import (
    DiscreteStaircase,
    DiscreteSteps,
    DiscreteUniform,
    Gaussian,
    Laplace,
    Noise,
    Rounded,
    Run,
    Smooth,
    Staircase,
    Steps,
    TruncatedLaplace,
    Uniform,
)
from leastnoise.core.privacy import Privacy
from leastnoise.costs import (
    Cost,
    Points,
    Power,
    Recording,
    Tabled,
    Threshold,
    lp,
    points,
    threshold,
)
from leastnoise.errors import InvalidParameter, LeastnoiseError

if TYPE_CHECKING:
    from leastnoise.certificate.certificate import Certificate


FORMAT = "leastnoise certificate 1"
# The parts of each kind; those of the costs are named after what their constructors take.
_PARTS: dict[type, tuple[str, ...]] = {
    Power: ("p",),
    Threshold: ("limit",),
    Points: ("sizes", "costs"),
    Privacy: ("epsilon", "delta"),
    TruncatedLaplace: ("scale", "radius"),
    Uniform: ("radius", "atom"),
} | {
    kind: tuple(field.name for field in fields(kind))
    for kind in (
        CanonicalBound,
        CombBound,
        DiscreteStaircase,
        DiscreteSteps,
        DiscreteUniform,
        Frame,
        Gaussian,
        Interval,
        Laplace,
        LatticeBound,
        Rounded,
        Run,
        Staircase,
        Steps,
        SupportingLine,
    )
}
_KINDS = {kind.__name__: kind for kind in _PARTS}
_EVIDENCE = CanonicalBound | CombBound | LatticeBound | SupportingLine | None
_STATED = ("noise", "privacy", "sensitivity", "objective", "cost", "lower_bound", "source")
_LONGEST = 1 << 27
_LONGEST_LINE = 300
_LONGEST_NUMBER = 13_280  # binary digits: 4000 decimal ones, but for a few
_NUMBER = re.compile(r"-?[0-9]{1,4000}(/[0-9]{1,4000})?")
# Costs are made by what checks them.
_READERS: dict[type, Callable[..., Cost]] = {
    Power: lp,
    Threshold: threshold,
    Points: lambda sizes, costs: points(zip(sizes, costs, strict=True)),
}


def certificate_to_json(certificate: Certificate) -> str:
    """Return a certificate as JSON."""
    if _needs_table(certificate):
        certificate = _with_cost(certificate, Recording(certificate.objective))
        certificate.check()
    content = {name: _plain(getattr(certificate, name)) for name in _STATED}
    content |= {
        "format": FORMAT,
        "among": certificate.among,
        "factor": _plain(exponential(certificate.privacy.epsilon)),
        "evidence": _plain(certificate.evidence),
    }
    return json.dumps({**content, "digest": _digest(content)}, ensure_ascii=False, indent=1) + "\n"


def certificate_from_json(
    make: type[Certificate], text: str, cost: Cost | None = None
) -> Certificate:
    """Return the certificate that a text holds; whether it is true, its check says.

    Args:
        make: The class of certificates.
        text: What :func:`certificate_to_json` returned.
        cost: The cost, to check the certificate of a function against the function itself.

    Raises:
        InvalidParameter: If the text is no certificate, or was changed.
    """
    if len(text) > _LONGEST:
        raise certificate_error(f"it is longer than {_LONGEST} characters")
    try:
        content = json.loads(text)
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise certificate_error(f'it does not say "{FORMAT}"')
        if content.pop("digest", None) != _digest(content):
            raise certificate_error("its digest is not that of its content")
        if set(content) != {*_STATED, "format", "among", "factor", "evidence"}:
            raise certificate_error("it says less or more than certificates do")
        certificate = _certificate(make, content)
        factor = _made(content["factor"], Interval)
    except LeastnoiseError:
        raise
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError):
        raise certificate_error("it is not written as certificates are") from None
    if exponential(certificate.privacy.epsilon) != factor:
        raise certificate_error("its interval for e^ε is another")
    return certificate if cost is None else _with_cost(certificate, cost)


def noise_to_json(noise: Noise) -> dict[str, Any]:
    """Return a law as a certificate writes it: equal for equal laws and for no others."""
    plain: dict[str, Any] = _plain(noise)
    return plain


def _needs_table(certificate: Certificate) -> bool:
    """Tell whether the cost cannot be written down, or not be computed without further libraries.

    So it is with functions and with powers that are irrational. (A staircase never ends, and
    neither would the table; a smooth law needs the libraries anyway.)
    """
    cost = certificate.objective
    endless = isinstance(certificate.noise, DiscreteStaircase | Rounded | Smooth | Staircase)
    irrational = isinstance(cost, Power) and cost.p.denominator != 1
    return type(cost) is Cost or (irrational and not endless)


def _certificate(make: type[Certificate], content: dict[str, Any]) -> Certificate:
    evidence = _made(content["evidence"], _EVIDENCE)
    certificate = make(
        noise=_made(content["noise"], Noise),
        privacy=_made(content["privacy"], Privacy),
        sensitivity=_made(content["sensitivity"], Fraction),
        objective=_made(content["objective"], Cost),
        among="any" if evidence is None else evidence.among,
        cost=_made(content["cost"], Fraction),
        lower_bound=_made(content["lower_bound"], Fraction),
        source=_made(content["source"], str),
        evidence=evidence,
    )
    if not _is_line(certificate.source):
        raise certificate_error("its source is not one line of text")
    if content["among"] != certificate.among or certificate.sensitivity <= 0:
        raise certificate_error("it speaks of another class of noises than its evidence")
    return certificate


def _with_cost(certificate: Certificate, cost: Cost) -> Certificate:
    parts = {name: getattr(certificate, name) for name in (*_STATED, "among", "evidence")}
    return type(certificate)(**{**parts, "objective": cost})


def _plain(value: object) -> Any:
    """Return a value as JSON has it."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Fraction):
        if max(value.numerator.bit_length(), value.denominator.bit_length()) > _LONGEST_NUMBER:
            raise InvalidParameter(
                "a number in a certificate may have at most 4000 digits to be written; got a "
                "longer one. Give shorter parameters, for instance another unit of the answer."
            )
        return str(value)
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    if isinstance(value, Tabled):
        table = [
            [kind, *asked, answer.lower, answer.upper]
            for (kind, asked), answer in value.readings.items()
        ]
        return {"kind": "Tabled", "name": value.name, "readings": _plain(table)}
    parts = _PARTS.get(type(value))
    if parts is None:
        raise InvalidParameter(
            f"a certificate can hold the noises and costs of leastnoise; got {type(value).__name__}"
            ". Keep the mechanism instead."
        )
    return {"kind": type(value).__name__, **{part: _plain(getattr(value, part)) for part in parts}}


def _made(plain: Any, wanted: Any) -> Any:
    """Return the value that JSON stands for, if it is of the wanted type."""
    value = _value(plain, wanted)
    if not _fits(value, wanted):
        raise certificate_error("a part of it is of another kind than it should be")
    return value


def _value(plain: Any, wanted: Any) -> Any:
    if isinstance(plain, dict):
        return _tabled(plain) if plain.get("kind") == "Tabled" else _object(dict(plain))
    if isinstance(plain, list):
        return tuple(
            _value(part, hint) for part, hint in zip(plain, _each(wanted, len(plain)), strict=True)
        )
    return _number(plain) if isinstance(plain, str) and wanted is Fraction else plain


def _number(text: object) -> Fraction:
    """Return a whole number or a ratio of two; no exponents, which could be of any size."""
    if not isinstance(text, str) or not _NUMBER.fullmatch(text):
        raise certificate_error("a number in it is not written as one")
    return Fraction(text)


def _is_line(text: str) -> bool:
    """Tell whether a text can be printed as part of a line."""
    return text.isprintable() and len(text) <= _LONGEST_LINE


def _object(plain: dict[str, Any]) -> Any:
    kind = _KINDS[plain.pop("kind")]
    hints = {"radius": Fraction} | get_type_hints(kind)
    parts = {name: _made(part, hints[name]) for name, part in plain.items()}
    if set(parts) != set(_PARTS[kind]):
        raise certificate_error("a part of it is missing")
    if kind in _READERS:
        return _READERS[kind](*(parts[name] for name in _PARTS[kind]))
    if kind is Steps:
        return Steps(parts["breaks"], parts["heights"], dict(parts["points"]))
    return kind(**parts)


def _tabled(plain: dict[str, Any]) -> Tabled:
    readings = {}
    for kind, *numbers in plain["readings"]:
        *asked, lower, upper = (_number(number) for number in numbers)
        readings[str(kind), tuple(asked)] = Interval(lower, upper)
    values = sorted((asked, kept) for (kind, asked), kept in readings.items() if kind == "value")
    falls = any(after.upper < before.lower for (_, before), (_, after) in pairwise(values))
    wrong = any(
        kept.lower > kept.upper or (kept.lower < 0 and "sag" in kind)
        for (kind, _), kept in readings.items()
    )
    if falls or wrong or not _is_line(str(plain["name"])):
        raise certificate_error("its table is not that of a cost that never falls")
    return Tabled(str(plain["name"]), readings)


def _each(wanted: Any, count: int) -> list[Any]:
    """Return the type of each part of a tuple."""
    hints = get_args(wanted)
    if len(hints) == 2 and hints[1] is ...:  # tuple[X, ...]
        return [hints[0]] * count
    return [*hints, *[None] * (count - len(hints))]


def _fits(value: Any, wanted: Any) -> bool:
    """Tell whether a value is of a type, parts of tuples included; bool is no int here."""
    origin = get_origin(wanted)
    if origin is tuple:
        hints = _each(wanted, len(value)) if isinstance(value, tuple) else []
        return len(hints) == len(value) and all(map(_fits, value, hints))
    if origin in (Union, UnionType):
        return any(_fits(value, hint) for hint in get_args(wanted))
    if wanted is int and isinstance(value, bool):
        return False
    return isinstance(value, wanted)


def _digest(content: dict[str, Any]) -> str:
    canonical = json.dumps(content, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
