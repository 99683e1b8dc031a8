"""Check that rows fit together: each must be what a ledger writes after the rows before it.

Hashes show that rows were not changed by mistake. Whoever can write to a ledger can compute them,
so `verify` also rejects rows that no release leaves behind: an answer without its charge or of
another shape, a charge beyond the limit, a mechanism that is not described. Times are not compared,
because clocks are set back.
"""

import json
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from leastnoise.errors import InvalidParameter
from leastnoise.ledger.accounts import LONGEST_SUM, Name, Sum, names_charged
from leastnoise.ledger.rows import (
    ANSWER,
    CHARGE,
    LIMIT,
    MECHANISM,
    OPENED,
    Json,
    Row,
    amount,
    canonical,
    check_types,
    mechanism_key,
    read_content,
    read_index,
    reading_content,
)

# What checks an answer: its content and payload, and whether the noise is for integers.
_Check = Callable[[Json, bytes, bool], None]


class _Charge(NamedTuple):
    """What a charge says: cached, because most charges are alike."""

    names: list[Name]
    amounts: Sum
    mechanisms: list[str]
    check: _Check


class Audit:
    """The rows followed so far, as far as later rows are checked against them."""

    def __init__(self) -> None:
        self._seq = 0
        self._limits: dict[Name, Sum] = {}
        self._spent: dict[Name, Sum] = {}
        self._integers: dict[str, bool] = {}  # by the digest of a mechanism
        self._unanswered: dict[int, tuple[str, _Charge]] = {}

    def follow(self, rows: Iterator[Row]) -> Iterator[Row]:
        """Give out rows whose hashes are checked next, each checked against those before it."""
        for row in rows:
            yield row  # its hash comes first: it says more of what happened
            self.check(row)
        if self._seq and not self._limits:
            with reading_content(self._seq):
                raise ValueError

    def check(self, row: Row) -> None:
        """Check one row.

        Raises:
            LedgerDamaged: If no ledger writes it after the rows before.
        """
        with reading_content(row.seq):
            if (row.kind == OPENED) != (self._seq == 0):
                raise ValueError
            if row.kind == LIMIT:
                content = row.content
                amounts = amount(content["epsilon"]), amount(content["delta"])
                self._limits[content["dataset"], content["analyst"]] = amounts
            elif row.kind == MECHANISM:
                self._describe(row)
            elif row.kind == CHARGE:
                self._charge(row)
            elif row.kind == ANSWER:
                self._answer(row)
            self._seq = row.seq

    def _describe(self, row: Row) -> None:
        digest = row.key.removeprefix(mechanism_key(""))
        if digest in self._integers:
            raise ValueError
        self._integers[digest] = row.content.get("integer", True)  # a selection is of integers

    def _charge(self, row: Row) -> None:
        charge = _read_charge(row.body)
        if any(digest not in self._integers for digest in charge.mechanisms):
            raise ValueError
        if charge.names[0] not in self._limits:
            raise ValueError
        for name in charge.names:
            total = _add_down(self._spent.get(name, _NOTHING), charge.amounts)
            limit = self._limits.get(name, total)  # an analyst need not have one
            if total[0] > limit[0] or total[1] > limit[1]:
                raise ValueError
            self._spent[name] = total
        self._unanswered[row.seq] = row.key, charge

    def _answer(self, row: Row) -> None:
        content = row.content
        key, charge = self._unanswered.pop(content["charge"])
        if key != row.key:
            raise ValueError
        integer = all(self._integers[digest] for digest in charge.mechanisms)
        charge.check(content["answer"], row.payload, integer)


def check_charge(body: Json) -> None:
    """Check a charge before it is written, so that no caller writes what is damage later.

    Raises:
        InvalidParameter: If the mechanisms, or what is asked of them, cannot be verified.
    """
    try:
        text = canonical(body)
        text.encode()
        _read_charge(text)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        readable = False
    else:
        readable = True
    if not readable:
        raise InvalidParameter(
            "A charge must name its mechanisms and state the query in JSON. Nothing was charged",
            fix="Use the spending of a mechanism, a plan or a table query.",
        )


_NOTHING: Sum = (Fraction(0), Fraction(0))


@lru_cache(maxsize=1024)
def _read_charge(body: str) -> _Charge:
    content = read_content(CHARGE, body)
    amounts = amount(content["epsilon"]), amount(content["delta"])
    names = names_charged(content["dataset"], content["analyst"])
    mechanisms, asked = content["mechanisms"], content["asked"]
    if not mechanisms or len(set(mechanisms)) < len(mechanisms):
        raise ValueError
    check: _Check = _check_anything
    if "answer" in asked:
        check = _KINDS[asked["answer"]](asked, mechanisms)
    return _Charge(names, amounts, mechanisms, check)


def _expect_one(asked: Json, mechanisms: list[str]) -> _Check:
    if len(asked) != 1 or len(mechanisms) != 1:
        raise ValueError

    def check(answer: Json, payload: bytes, _: bool) -> None:
        _check_keys(answer, "index")
        _check_index(answer["index"])
        _check_empty(payload)

    return check


def _expect_pair(asked: Json, mechanisms: list[str]) -> _Check:
    if len(asked) != 1 or len(mechanisms) != 1:
        raise ValueError
    return _expect_indices(2)


def _expect_plan(asked: Json, mechanisms: list[str]) -> _Check:
    _check_keys(asked, "answer", "of")
    digests = [digest for each in asked["of"].values() for digest in each]
    if not digests or set(digests) != set(mechanisms):
        raise ValueError
    return _expect_indices(len(asked["of"]))


def _expect_indices(count: int) -> _Check:
    def check(answer: Json, payload: bytes, _: bool) -> None:
        _check_keys(answer, "indices")
        _check_numbers(answer["indices"], count)
        _check_empty(payload)

    return check


def _expect_array(asked: Json, mechanisms: list[str]) -> _Check:
    _check_keys(asked, "answer", "shape", "touches")
    shape = asked["shape"]
    check_types([asked["touches"], *shape], list, int)
    if type(shape) is not list or min(*shape, asked["touches"], 1) < 1 or len(mechanisms) != 1:
        raise ValueError
    count = math.prod(shape)

    def check(answer: Json, payload: bytes, integer: bool) -> None:
        _check_keys(answer, "dtype", "shape")
        if answer["shape"] != shape:
            raise ValueError
        if answer["dtype"] == "object":
            _check_exact(payload.decode().split("\n"), count, integer=integer)
        elif answer["dtype"] != ("<i8" if integer else "<f8") or len(payload) != 8 * count:
            raise ValueError
        elif not integer:
            _check_finite(payload)

    return check


def _expect_tables(asked: Json, mechanisms: list[str]) -> _Check:
    noise, questions = asked["noise"], asked["questions"]
    check_types(questions, list, dict)
    check_types(noise, list, list)
    if len(noise) != len(questions) or {d for each in noise for d in each} != set(mechanisms):
        raise ValueError

    def check(answer: Json, payload: bytes, _: bool) -> None:
        results = json.loads(payload)
        check_types(results, list, dict)
        if answer != {"tables": len(noise)} or len(results) != len(noise):
            raise ValueError
        for result in results:
            _check_keys(result, "keys", "numbers")
            check_types(result["keys"], list, list)
            check_types(result["numbers"], list, list)
            if len(result["keys"]) != len(result["numbers"]):
                raise ValueError
            # Not one for each mechanism: a quantile with an interval has three numbers of one, and
            # the count that decides which groups are shown is not stored.
            count = max((len(numbers) for numbers in result["numbers"]), default=1)
            for numbers in result["numbers"]:
                _check_numbers(numbers, max(count, 1))

    return check


_KINDS: dict[str, Callable[[Json, list[str]], _Check]] = {
    "one": _expect_one,
    "many": _expect_array,
    "pair": _expect_pair,
    "plan": _expect_plan,
    "selection": _expect_one,
    "tables": _expect_tables,
}


def _check_anything(_: Json, __: bytes, ___: bool) -> None:
    """Accept the answer of a query that states no kind of answer: a program's own."""


def _check_keys(content: Json, *keys: str) -> None:
    if type(content) is not dict or content.keys() != {*keys}:
        raise ValueError


def _check_empty(payload: bytes) -> None:
    if payload:
        raise ValueError


def _check_index(text: str) -> int:
    """Return an integer in hexadecimal, written in the one way that it is stored."""
    index = read_index(text)
    if f"{index:x}" != text:
        raise ValueError
    return index


def _check_numbers(texts: Any, count: int) -> None:
    check_types(texts, list, str)
    if len(texts) != count:
        raise ValueError
    for text in texts:
        _check_index(text)


def _check_exact(texts: list[str], count: int, *, integer: bool) -> None:
    """Check the numbers of an array that does not fit 64 bits: integers, or reduced fractions."""
    if len(texts) != count:
        raise ValueError
    for text in texts:
        over, bar, under = text.partition("/")
        numerator, denominator = _check_index(over), _check_index(under) if bar else 1
        reduced = denominator > 0 and math.gcd(numerator, denominator) == 1
        if bar and (integer or not reduced):
            raise ValueError


def _check_finite(payload: bytes) -> None:
    import numpy as np

    if not np.isfinite(np.frombuffer(payload, dtype="<f8")).all():
        raise ValueError


def _add_down(spent: Sum, more: Sum) -> Sum:
    """Add two charges, rounded down: never more than a ledger that rounds up has spent."""
    epsilon, delta = (_plus_down(a, b) for a, b in zip(spent, more, strict=True))
    return epsilon, delta


def _plus_down(a: Fraction, b: Fraction) -> Fraction:
    total = a + b
    if total.denominator.bit_length() <= LONGEST_SUM:
        return total
    return Fraction((total.numerator << LONGEST_SUM) // total.denominator, 1 << LONGEST_SUM)
