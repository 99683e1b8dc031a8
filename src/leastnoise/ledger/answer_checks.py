"""Checks of stored answers: an answer must have the form that its query implies."""

import json
import math
import re
from collections.abc import Callable
from typing import Any

from leastnoise.ledger.rows import Content, check_types, read_index

# The hash of a card, which a table query has if it was asked under one.
_CARD = re.compile(r"[0-9a-f]{64}")
_NO_CARD = "0" * 64
# A check of an answer: its content, its payload, and whether the noise is for integers.
AnswerCheck = Callable[[Content, bytes, bool], None]


def find_answer_check(query: Content, mechanisms: list[str]) -> AnswerCheck:
    """Return the check of the answers to a query; raise a ValueError if the query is malformed."""
    if "answer" not in query:
        return _check_anything
    return _KINDS[query["answer"]](query, mechanisms)


def _expect_one(query: Content, mechanisms: list[str]) -> AnswerCheck:
    if len(query) != 1 or len(mechanisms) != 1:
        raise ValueError

    def check(answer: Content, payload: bytes, _: bool) -> None:
        _check_keys(answer, "index")
        _check_index(answer["index"])
        _check_empty(payload)

    return check


def _expect_pair(query: Content, mechanisms: list[str]) -> AnswerCheck:
    if len(query) != 1 or len(mechanisms) != 1:
        raise ValueError
    return _expect_indices(2)


def _expect_plan(query: Content, mechanisms: list[str]) -> AnswerCheck:
    _check_keys(query, "answer", "of")
    digests = [digest for each in query["of"].values() for digest in each]
    if not digests or set(digests) != set(mechanisms):
        raise ValueError
    return _expect_indices(len(query["of"]))


def _expect_indices(count: int) -> AnswerCheck:
    def check(answer: Content, payload: bytes, _: bool) -> None:
        _check_keys(answer, "indices")
        _check_numbers(answer["indices"], count)
        _check_empty(payload)

    return check


def _expect_array(query: Content, mechanisms: list[str]) -> AnswerCheck:
    _check_keys(query, "answer", "shape", "touches")
    shape = query["shape"]
    check_types([query["touches"], *shape], list, int)
    if type(shape) is not list or min(*shape, query["touches"], 1) < 1 or len(mechanisms) != 1:
        raise ValueError
    count = math.prod(shape)

    def check(answer: Content, payload: bytes, integer: bool) -> None:
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


def _expect_tables(query: Content, mechanisms: list[str]) -> AnswerCheck:
    noise, questions = query["noise"], query["questions"]
    check_types(questions, list, dict)
    check_types(noise, list, list)
    if not _CARD.fullmatch(query.get("card", _NO_CARD)):
        raise ValueError
    if len(noise) != len(questions) or {d for each in noise for d in each} != set(mechanisms):
        raise ValueError

    def check(answer: Content, payload: bytes, _: bool) -> None:
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
            # Not one number per mechanism: a quantile with an interval has three from one
            # mechanism, and the count that decides which groups are shown is not stored.
            count = max((len(numbers) for numbers in result["numbers"]), default=1)
            for numbers in result["numbers"]:
                _check_numbers(numbers, max(count, 1))

    return check


_KINDS: dict[str, Callable[[Content, list[str]], AnswerCheck]] = {
    "one": _expect_one,
    "many": _expect_array,
    "pair": _expect_pair,
    "plan": _expect_plan,
    "selection": _expect_one,
    "tables": _expect_tables,
}


def _check_anything(_: Content, __: bytes, ___: bool) -> None:
    """Accept any answer to a query of a caller's own kind."""


def _check_keys(content: Content, *keys: str) -> None:
    if type(content) is not dict or content.keys() != {*keys}:
        raise ValueError


def _check_empty(payload: bytes) -> None:
    if payload:
        raise ValueError


def _check_index(text: str) -> int:
    """Return an integer from hexadecimal; raise a ValueError unless its form is canonical."""
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
    """Check the numbers of an array that needs more than 64 bits: integers, reduced fractions."""
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
