"""CSV files: every physical line is one record, and no line changes the records of others."""

import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from leastnoise import UNRECORDED, Privacy, protect
from leastnoise.errors import InvalidParameter
from leastnoise.tables.sources import Source, fetch, open_source

NAMES = ["id", "group", "value"]
Record = tuple[str | None, ...]

# Lines of one person: quotes, separators, escapes, and bytes that are no UTF-8.
PIECES = st.sampled_from(
    [
        *(b"99", b"g", b",", b'"', b'""', b'",', b',"', b'","', b"\\", b'\\"', b"'", b"\0", b"#"),
        *(b" ", b"\t", b";", b"\x1a", b"\x01", b"\xff", b"\xc3", b"\xc3\xa9", b"\xef\xbb\xbf"),
        *(b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x80\xa8", b"\xc2\x85", b"1e999", b"x" * 99),
    ]
)
LINE = st.lists(PIECES, max_size=12).map(b"".join) | st.binary(max_size=30).map(
    lambda line: re.sub(rb"[\r\n]", b"", line)
)
BEFORE = [b"1,a,5", b'2,"b",6', b'3,"c, ""d""",7']
AFTER = [b'4,e,"8"', b"5,,9", b'6,7"7,10', b'7,f,"11"']
OTHERS: list[Record] = [
    ("1", "a", "5"),
    ("2", "b", "6"),
    ("3", 'c, "d"', "7"),
    ("4", "e", "8"),
    ("5", None, "9"),
    ("6", '7"7', "10"),
    ("7", "f", "11"),
]


def read_line(line: bytes, fields: int) -> Record | None:
    """Read one line character by character; None if it is omitted."""
    try:
        rest = line.decode()
    except UnicodeDecodeError:
        return None
    if not rest or len(line) > 2_000_000:
        return None
    found, more = list[str](), True
    while more:
        if rest.startswith('"'):
            field, rest = "", rest[1:]
            while True:
                inner, quote, rest = rest.partition('"')
                field += inner
                if not quote:
                    return None  # never closed
                if not rest.startswith('"'):
                    break
                field, rest = field + '"', rest[1:]
            if rest and not rest.startswith(","):
                return None  # something after the closing quote
            more, rest = bool(rest), rest[1:]
        else:
            field, comma, rest = rest.partition(",")
            more = bool(comma)
        found.append(field)
    return tuple(field or None for field in found[:fields]) if len(found) >= fields else None


def read_records(content: bytes, fields: int) -> Counter[Record]:
    """Read a whole file: every line feed, carriage return or both together ends a line."""
    _, *lines = re.split(rb"\r\n|\r|\n", content)
    return Counter(record for line in lines if (record := read_line(line, fields)) is not None)


def write(path: Path, lines: list[bytes], end: bytes = b"\n") -> None:
    path.write_bytes(end.join([",".join(NAMES).encode(), *lines, b""]))


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Source]:
    path = tmp_path_factory.mktemp("lines") / "people.csv"
    write(path, [])
    return path, open_source(path)


def as_quoted_file(path: Path) -> list[Any]:
    """Read as version 0.5 did: by a reader in which a quoted field may contain a line break."""
    with duckdb.connect() as connection:
        return connection.execute(
            "SELECT * FROM read_csv(?, columns = {'id': 'VARCHAR', 'group': 'VARCHAR', 'value': "
            "'VARCHAR'}, header = true, delim = ',', quote = '\"', escape = '\"', "
            "ignore_errors = true, strict_mode = false, parallel = false)",
            [str(path)],
        ).fetchall()


@pytest.mark.parametrize("line", [b'99,g,7"7,,"', b'99,"g', b'"', b'99,g,"7" 7,"', b'99,\\","'])
def test_one_line_takes_no_other_with_it(line: bytes, opened: tuple[Path, Source]) -> None:
    """The naive control, a reader with quotes over lines, loses all lines after it."""
    path, source = opened
    write(path, [*BEFORE, line, *AFTER])
    rows = fetch(source, source.table)
    assert [row for row in rows if row[0] in "1234567"] == OTHERS
    naive = [row[0] for row in as_quoted_file(path)]
    assert not {"5", "6"} & set(naive)


@example(lines=[b'99,g,7"7,,"'], end=b"\n")
@example(lines=[b'99,"g', b'"'], end=b"\r\n")
@given(lines=st.lists(LINE, max_size=4), end=st.sampled_from([b"\n", b"\r\n", b"\r"]))
def test_the_records_of_others_stay_the_same(
    lines: list[bytes], end: bytes, opened: tuple[Path, Source]
) -> None:
    """Whatever one person's lines are: before and after them, all records are those of the others.

    And those of the person are what another reader makes of them, line by line.
    """
    path, source = opened
    write(path, [*BEFORE, *lines, *AFTER], end)
    own = [record for line in lines if (record := read_line(line, len(NAMES))) is not None]
    assert Counter(fetch(source, source.table)) == Counter(OTHERS) + Counter(own)
    assert fetch(source, source.table.aggregate(n=source.table.count())) == [(7 + len(own),)]


ENDS = [b"\n", b"\r\n", b"\r"]
TOKENS = [b"a", b"b", b"1", b",", b",", b",", b'"', b'""', b" ", b"\0", b"\xff", b"\xc3\xa9", b"\\"]
TOKENS += [
    *ENDS,
    *ENDS,
    b"\r\r",
    b"\n\r",
    b"\r\r\n",
    b"\xef\xbb\xbf",
    b"\xc2\x85",
    b"\x0b",
    b"\x1a",
]


@pytest.mark.parametrize("seed", range(9))
def test_line_ends_may_be_mixed_in_any_way(seed: int, tmp_path: Path) -> None:
    """450 files: each is opened by itself, because how a header ends must decide nothing.

    Version 0.5 let DuckDB detect how lines end. If the header ended with both signs, the byte after
    every single carriage return was lost, or became part of another record.
    """
    chance = random.Random(seed)
    path = tmp_path / "mixed.csv"
    for _ in range(50):
        start = chance.choice([b"", b"\xef\xbb\xbf"]) + b"p,q" + ENDS[seed % 3]
        content = start + b"".join(chance.choices(TOKENS, k=chance.randint(0, 60)))
        path.write_bytes(content)
        source = open_source(path)
        assert Counter(fetch(source, source.table)) == read_records(content, 2), content
        source.close()


def test_a_carriage_return_of_one_person_removes_no_other(tmp_path: Path) -> None:
    """The attack: 1000 lines of one person, each ending with one carriage return too many."""
    counts = list[int]()
    for own in (b"", b"x,evil\r\r\n"):
        lines = b"".join(own + b"north,p%d\r\n" % person for person in range(1_000))
        (tmp_path / "a.csv").write_bytes(b"region,person\r\n" + lines)
        source = open_source(tmp_path / "a.csv")
        north = source.table.filter(source.table.region == "north")
        counts += fetch(source, north.aggregate(n=north.person.nunique()))[0]
    assert counts == [1_000, 1_000]


@pytest.mark.parametrize("shift", [0, 1, 2, 40, 2_000_000, 2_500_000])
@pytest.mark.parametrize(
    "line",
    [b'99,g,"' + b"," * 2_400_000, b"99,g," + b"\xff" * 99, b'99,"g,","7"', b"99,g,\r7\r\n"],
    ids=["long", "bytes", "quoted", "ends"],
)
def test_where_a_line_lies_in_the_file_does_not_matter(
    line: bytes, shift: int, opened: tuple[Path, Source]
) -> None:
    """DuckDB reads 33.6 MB at a time: here the line lies across the end of such a piece."""
    path, source = opened
    filler = b"1,a," + b"5" * 999_995 + b"\n"
    place = 16 * 2_100_000 - shift
    header = ",".join(NAMES).encode() + b"\n"
    count, rest = divmod(place - len(header) - 100, len(filler))
    padding = b"2,b," + b"6" * rest + b"\n"
    path.write_bytes(header + filler * count + padding + line + b"\n" + filler * 4 + b"3,c,7\n")
    table = source.table.group_by("id").aggregate(n=source.table.count())
    own = sum(read_line(one, 3) is not None for one in re.split(rb"[\r\n]", line))
    expected = {"1": count + 4, "2": 1, "3": 1} | ({"99": own} if own else {})
    assert dict(fetch(source, table)) == expected


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("blank", [0, 2_000])
@pytest.mark.parametrize("size", [1_999_990, 2_000_000, 2_000_001, 2_100_000])
def test_the_length_of_a_line_alone_decides_whether_it_is_too_long(
    size: int, blank: int, end: bytes, opened: tuple[Path, Source]
) -> None:
    """DuckDB's own limit counts the empty lines before a line, which anybody can write."""
    path, source = opened
    line = b"99,g," + b"x" * (size - 5)
    for last in (b"", end, end + b"1,a,5" + end):
        path.write_bytes(b"id,group,value" + end + b"1,a,5" + end * (1 + blank) + line + last)
        rows = fetch(source, source.table.select("id"))
        assert Counter(rows)[("99",)] == (size <= 2_000_000)
        assert len(rows) == (size <= 2_000_000) + 1 + (b"a" in last)


def test_a_last_line_is_too_long_by_the_same_rule(opened: tuple[Path, Source]) -> None:
    """DuckDB ignores its limit for a last line that fills what it reads at a time."""
    path, source = opened
    line = b"99,g," + b"x," * 17_500_000 + b"7"
    for last in (b"", b"\n", b"\n1,a,5"):
        path.write_bytes(b"id,group,value\n2,b,6\n" + line + last)
        rows = fetch(source, source.table.select("id"))
        assert rows == [("2",), *([("1",)] if b"a" in last else [])]


def test_fields_far_to_the_right_are_read(tmp_path: Path) -> None:
    names = [f"c{place}" for place in range(1_500)]
    plain = ",".join(map(str, range(1_500)))
    quoted = ",".join(f'"{place}, ""x"""' for place in range(1_500))
    short = ",".join(f'"{place}, ""x"""' for place in range(1_499))
    lines = [",".join(names), plain, quoted, short, plain + ",more", ""]
    (tmp_path / "wide.csv").write_text("\n".join(lines))
    source = open_source(tmp_path / "wide.csv")
    chosen = source.table.select("c0", "c49", "c50", "c1499")
    right = ("0", "49", "50", "1499")
    assert fetch(source, chosen) == [right, tuple(f'{value}, "x"' for value in right), right]


def test_each_file_has_its_own_line_of_names(tmp_path: Path) -> None:
    for number, start in enumerate([b"", b"\xef\xbb\xbf", b""]):
        end = b"\r\n" if number == 2 else b"\n"
        body = end.join([b'id,"group",value', b"%d,g,7" % number])
        (tmp_path / f"{number}.csv").write_bytes(start + body)
    source = open_source(tmp_path / "*.csv")
    assert fetch(source, source.table) == [(str(number), "g", "7") for number in range(3)]


def test_names_stand_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('a,"b\nc"\n1,x\n')
    with pytest.raises(InvalidParameter, match="The file cannot be read"):
        open_source(tmp_path / "a.csv")


def test_a_count_of_people_loses_one_person_at_most(tmp_path: Path) -> None:
    """The attack from the outside: one line with a quote, in a file of 5,000 people."""
    counts = list[int]()
    for line in (b"99,g,7", b'99,g,7"7,,"'):
        write(tmp_path / "a.csv", [line, *(b"%d,g,7" % person for person in range(100, 5_100))])
        people = protect(tmp_path / "a.csv", unit="id", max_rows=1, ledger=UNRECORDED)
        answer: Any = people.count(privacy=Privacy(1, "1e-6"))
        assert abs(answer.value - 5_000) <= answer.max_error + 1
        counts.append(answer.value)
    assert abs(counts[0] - counts[1]) <= 2 * answer.max_error + 1


def test_a_line_inside_of_quotes_is_a_row_of_its_own_and_every_page_says_so(
    opened: tuple[Path, Source],
) -> None:
    """So whoever writes line breaks into a quoted field can write rows of any other unit.

    No reader that keeps lines apart can tell such lines from others. To reject the file would
    reveal that somebody wrote a line break.
    """
    path, source = opened
    write(path, [b'1,g,"a remark', b"98,g,1", b"99,g,1", b'and its end"', b"5,g,1"])
    assert [row[0] for row in fetch(source, source.table)] == ["98", "99", "5"]
    root = Path(__file__).parents[2]
    for text in (
        (root / "docs/csv.md").read_text(encoding="utf-8"),
        (root / "docs/limits.md").read_text(encoding="utf-8"),
        protect.__doc__ or "",
    ):
        said = " ".join(text.split())
        assert "one line is one row" in said.lower()
        assert "could otherwise write lines that count as other units" in said
        assert "convert" in said.lower()


@pytest.mark.parametrize(
    ("sign", "python", "command"),
    [(";", "delimiter=';'", "--delimiter ';'"), ("\t", "delimiter='\\t'", "--delimiter tab")],
)
def test_a_missing_column_of_a_file_with_another_delimiter_names_the_option(
    sign: str, python: str, command: str, tmp_path: Path
) -> None:
    file = tmp_path / "visits.csv"
    file.write_text(f"patient{sign}ward\np1{sign}icu\n", "utf-8")
    with pytest.raises(InvalidParameter, match="No column 'patient' in ") as caught:
        protect(file, unit="patient", max_rows=1, ledger=UNRECORDED)
    assert f"If that separates columns, pass {python}." in str(caught.value)
    assert f"If that separates columns, pass {command}." in caught.value.advice
    with pytest.raises(
        InvalidParameter, match="names a column 'age' that the table lacks"
    ) as typed:
        protect(file, unit=None, ledger=UNRECORDED, types={"age": int})
    assert python in str(typed.value)
