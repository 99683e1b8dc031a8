"""HUGEINT and DECIMAL(38, 0) in conditions and histograms: every number, and no failure."""

import math
import operator as op
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import duckdb
import ibis
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from leastnoise import UNRECORDED, Privacy, protect
from leastnoise.tables.sources import Source, fetch, open_source
from leastnoise.tables.where import parse_condition, truth

SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "=": op.eq, "!=": op.ne, "<": op.lt, "<=": op.le, ">": op.gt, ">=": op.ge,
}  # fmt: skip
ENDS = [0, 5, 2**63 - 1, 2**63, 2**63 + 1, 2**64, 10**19, 10**20, 10**37, 10**38 - 1]
BEYOND = [10**38, 10**38 + 1, 15 * 10**37, 2**127 - 1]
HUGE = sorted({sign * end for end in [*ENDS, *BEYOND] for sign in (1, -1)} | {-(2**127)})
WIDE = sorted({sign * end for end in ENDS for sign in (1, -1)})
NUMBERS = [*HUGE, 2**127, 2**127 + 1, -(2**127) - 1, 10**39, -(10**50)]
number = st.sampled_from(NUMBERS) | st.integers(-(2**128), 2**128)


@pytest.fixture(scope="module")
def tables() -> dict[str, tuple[Source, list[int]]]:
    connection = ibis.duckdb.connect()
    made = {}
    for name, kind, values in (("huge", "HUGEINT", HUGE), ("wide", "DECIMAL(38, 0)", WIDE)):
        connection.con.execute(f"CREATE TABLE {name} (n {kind})")
        rows = ", ".join(f"({value})" for value in values)
        connection.con.execute(f"INSERT INTO {name} VALUES {rows}, (NULL)")
        made[name] = open_source(connection.table(name)), values
    return made


def kept(source: Source, condition: str) -> list[int]:
    table = source.table
    rows = fetch(source, table.filter(truth(parse_condition(condition), source, table)))
    return sorted(value for (value,) in rows)


@example(value=10**20, sign=">", half=False)
@example(value=10**20, sign="=", half=False)
@example(value=10**38 + 1, sign="<=", half=True)
@given(value=number, sign=st.sampled_from(list(SIGNS)), half=st.booleans())
def test_comparisons_are_those_of_integers(
    *, value: int, sign: str, half: bool, tables: dict[str, tuple[Source, list[int]]]
) -> None:
    half = half and value >= 0
    bound, written = value + Fraction(half, 2), f"{value}.5" if half else str(value)
    for source, values in tables.values():
        expected = [one for one in values if SIGNS[sign](one, bound)]
        assert kept(source, f"n {sign} {written}") == expected
        assert kept(source, f"not n {sign} {written}") == sorted(set(values) - set(expected))


@example(listed=[5, 10**20])
@given(listed=st.lists(number, min_size=1, max_size=5))
def test_lists_are_those_of_integers(
    listed: list[int], tables: dict[str, tuple[Source, list[int]]]
) -> None:
    for source, values in tables.values():
        expected = [one for one in values if one in listed]
        among = f"({', '.join(map(str, listed))})"
        assert kept(source, f"n in {among}") == expected
        assert kept(source, f"n not in {among}") == sorted(set(values) - set(expected))


def test_edges_of_a_histogram_may_be_anywhere(
    tables: dict[str, tuple[Source, list[int]]],
) -> None:
    edges = [-(2**127), -(10**38), -(2**63), 0, 10**20, 10**38, 2**127 - 1]
    for source, values in tables.values():
        people = protect(source.table, unit=None, ledger=UNRECORDED)
        answers: Any = people.histogram("n", edges=edges, privacy=Privacy(1, "1e-3"))
        for (low, high), (_, answer) in zip(pairwise(edges), answers, strict=True):
            last = high == edges[-1]
            expected = sum(low <= one < high + last for one in values)
            assert abs(answer.value - expected) <= answer.max_error < math.inf


def test_the_naive_comparison_fails_for_one_row() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t AS SELECT 5::HUGEINT AS n")
        naive = "SELECT n > CAST('100000000000000000000' AS DECIMAL(38, 0)) FROM t"
        assert connection.execute(naive).fetchall() == [(False,)]
        connection.execute(f"INSERT INTO t VALUES ({2**127 - 1})")
        with pytest.raises(duckdb.ConversionException, match="Could not cast"):
            connection.execute(naive).fetchall()
