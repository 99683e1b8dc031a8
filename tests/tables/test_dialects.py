"""CSV with other delimiters, compressed or in other encodings, and JSON lines.

For each of them a line changes no row but its own, and nothing is guessed.
"""

import gzip
import itertools
import json
import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner

from leastnoise import UNRECORDED, Privacy, protect
from leastnoise.cli import main
from leastnoise.errors import InvalidParameter, Unsupported
from leastnoise.tables.sources import fetch, open_source, transcode
from leastnoise.tables.where import parse_condition, truth
from tests.tables.test_csv_lines import read_line

DELIMITERS = [",", ";", "\t", "|"]
ENDS = [b"\n", b"\r\n", b"\r"]
PIECES = [
    *(b"a", b"1", b",", b";", b"\t", b"|", b'"', b'""', b"\\", b"^", b"]", b"[", b" ", b"\0", b"'"),
    *(b'",', b'";', b'"|', b'"\t', b',"', b';"', b'|"', b'\t"'),
    *(b"\xff", b"\xc3\xa9", b"\xed\xa0\x80"),
]  # fmt: skip


def read_by(line: bytes, delimiter: str, fields: int) -> tuple[str | None, ...] | None:
    """Read a line by the reader of commas: the delimiter and the comma change their places."""
    if delimiter == ",":
        return read_line(line, fields)
    swap = bytes.maketrans(f",{delimiter}".encode(), f"{delimiter},".encode())
    found = read_line(line.translate(swap), fields)
    back = str.maketrans(f",{delimiter}", f"{delimiter},")
    return found and tuple(field and field.translate(back) for field in found)


@pytest.mark.parametrize("compressed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("delimiter", DELIMITERS, ids=["comma", "semicolon", "tab", "bar"])
def test_every_line_is_read_by_itself(delimiter: str, compressed: bool, tmp_path: Path) -> None:
    """80 files of random pieces, against a reader that looks at one line at a time."""
    chance = random.Random(ord(delimiter))
    path = tmp_path / ("a.csv.gz" if compressed else "a.csv")
    kept = 0
    for _ in range(80):
        lines = [b"".join(chance.choices(PIECES, k=chance.randint(0, 14))) for _ in range(12)]
        end = chance.choice(ENDS)
        content = end.join([f"p{delimiter}q".encode(), *lines, b""])
        path.write_bytes(gzip.compress(content) if compressed else content)
        source = open_source(path, delimiter=delimiter)
        expected = [read_by(line, delimiter, 2) for line in lines]
        found = fetch(source, source.table)
        assert Counter(found) == Counter(row for row in expected if row is not None), content
        kept += len(found)
        source.close()
    assert kept > 80


@pytest.mark.parametrize("delimiter", DELIMITERS, ids=["comma", "semicolon", "tab", "bar"])
def test_the_lines_of_one_person_change_no_other_row(delimiter: str, tmp_path: Path) -> None:
    """The naive control, DuckDB's own reader of quotes over lines, loses rows of others."""
    path = tmp_path / "a.csv"
    others = [f"{person}{delimiter}g".encode() for person in range(50)]
    attack = f'99{delimiter}"g'.encode()
    path.write_bytes(
        b"\n".join([f"id{delimiter}h".encode(), *others[:25], attack, *others[25:], b""])
    )
    source = open_source(path, delimiter=delimiter)
    assert [row[0] for row in fetch(source, source.table)] == [*map(str, range(50))]
    with duckdb.connect() as connection:
        naive = connection.execute(
            "SELECT id FROM read_csv(?, columns = {'id': 'VARCHAR', 'h': 'VARCHAR'}, "
            "header = true, delim = ?, quote = '\"', escape = '\"', "
            "auto_detect = false, ignore_errors = true, strict_mode = false, parallel = false)",
            [str(path), delimiter],
        ).fetchall()
    assert len(naive) < 40


def test_a_compressed_file_of_several_parts_is_read_whole(tmp_path: Path) -> None:
    """Lines across the parts that a reader takes at a time, and across members of gzip."""
    lines = [b"%d,%s" % (number, b"x" * 9_000) for number in range(6_000)]
    content = b"\n".join([b"id,text", *lines, b""])
    third = len(content) // 3 + 5
    parts = (content[:third], content[third : 2 * third], content[2 * third :])
    (tmp_path / "a.csv.gz").write_bytes(b"".join(gzip.compress(part, 1) for part in parts))
    source = open_source(tmp_path / "a.csv.gz")
    table = source.table
    rows = fetch(source, table.aggregate(n=table.id.nunique(), m=table.text.length().sum()))
    assert rows == [(6_000, 6_000 * 9_000)]


def test_the_name_alone_states_tabs_and_compression(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_bytes(b"a\tb\n1,2\t3\n")
    (tmp_path / "b.TSV.GZ").write_bytes(gzip.compress(b"a\tb\n1,2\t3\n"))
    (tmp_path / "c.csv").write_bytes(b"a;b\n1;2\n")
    for name in ("a.tsv", "b.TSV.GZ"):
        source = open_source(tmp_path / name)
        assert fetch(source, source.table) == [("1,2", "3")]
    assert list(open_source(tmp_path / "c.csv").kinds) == ["a;b"]  # nothing is guessed
    (tmp_path / "d.csv.gz").write_bytes(b"a,b\n1,2\n")
    with pytest.raises(InvalidParameter, match="The file cannot be read"):
        open_source(tmp_path / "d.csv.gz")


# ------------------------------------------------------------------------------------- encodings


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "iso8859-15", "cp850", "cp1251"])
def test_each_byte_of_an_encoding_is_its_character_or_omits_its_line(
    encoding: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.csv"
    free = [bytes([byte]) for byte in range(256) if byte not in b'\r\n,"']
    path.write_bytes(b"n,c\n" + b"".join(b"%d,%s\n" % (byte[0], byte) for byte in free))
    expected = {}
    for byte in free:
        try:
            expected[str(byte[0])] = byte.decode(encoding)
        except UnicodeDecodeError:
            continue
    source = open_source(path, encoding=encoding)
    assert dict(fetch(source, source.table)) == expected


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_half_of_a_pair_in_utf_16_omits_its_own_line(
    encoding: str, compressed: bool, tmp_path: Path
) -> None:
    lines = [
        "n,c",
        "1,é",
        "2,\ud83d",
        "3,\U0001f600",
        "4,\ude00\ud83d",
        "5,\u0a0a\u0d0d",
        "6,x",
        "",
    ]
    content = "\n".join(lines).encode(encoding, "surrogatepass") + b"\n"[:1]
    path = tmp_path / ("a.csv.gz" if compressed else "a.csv")
    path.write_bytes(gzip.compress(content) if compressed else content)
    source = open_source(path, encoding=encoding)
    expected = [("1", "é"), ("3", "\U0001f600"), ("5", "\u0a0a\u0d0d"), ("6", "x")]
    assert fetch(source, source.table) == expected


SEVERAL = {
    "shift_jis": "日本語ｱ表ソ",
    "cp932": "日本語①髙ソ",
    "euc_jp": "日本語ｱ丂",
    "euc_kr": "한국어",
    "cp949": "한국어똠",
    "gb2312": "中文",
    "gbk": "中文镕",
    "gb18030": "中文镕é\U0001f600",
    "big5": "中文功許",
    "big5hkscs": "中文功許",
}


@pytest.mark.parametrize("encoding", [*SEVERAL, "shift_jis_2004", "euc_jis_2004", "cp950"])
def test_no_character_of_several_bytes_contains_a_line_end(encoding: str) -> None:
    """So a file can be split at the line ends before it is decoded: all sequences of bytes.

    A sequence of four bytes, in gb18030 alone, has digits as its second and fourth byte.
    """
    starts = [bytes(pair) for pair in itertools.product(range(256), repeat=2)]
    starts += [bytes([first]) for first in range(256)]
    if encoding == "gb18030":
        starts += [bytes([a, b, c]) for a in range(0x81, 0xFF) for b in range(0x30, 0x3A)
                   for c in (0x81, 0xA0, 0xFE)]  # fmt: skip
    for start in starts:
        for end in (b"\n", b"\r"):
            text = end.decode()
            try:
                read = (start + end).decode(encoding)
            except UnicodeDecodeError:
                continue
            assert read.endswith(text), (start, end)
            assert read[:-1] == start.decode(encoding), (start, end)
            ends = start.count(b"\n") + start.count(b"\r")
            assert read.count("\n") + read.count("\r") == ends + 1, (start, end)


@pytest.mark.parametrize("compressed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("encoding", SEVERAL)
def test_a_line_of_several_bytes_per_character_is_read_by_itself(
    encoding: str, compressed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files of random pieces, in blocks of 7 bytes; each line is decoded by Python alone."""
    monkeypatch.setattr(transcode, "_AT_ONCE", 7)
    chance = random.Random(encoding)
    known = [character.encode(encoding) for character in SEVERAL[encoding]]
    pieces = [*known * 2, *[b","] * 6, b"a", b'"', b"7", b"\x81", b"\xff", *(c[:1] for c in known)]
    path = tmp_path / ("a.csv.gz" if compressed else "a.csv")
    kept = 0
    for _ in range(20):
        lines = [b"".join(chance.choices(pieces, k=chance.randint(0, 9))) for _ in range(24)]
        content = chance.choice(ENDS).join([b"p,q", *lines])
        path.write_bytes(gzip.compress(content) if compressed else content)
        expected = []
        for line in lines:
            try:
                expected.append(read_line(line.decode(encoding).encode(), 2))
            except UnicodeDecodeError:
                continue
        source = open_source(path, encoding=encoding)
        found = fetch(source, source.table)
        assert Counter(found) == Counter(row for row in expected if row is not None), content
        kept += len(found)
        source.close()
    assert kept > 40


def test_a_long_line_of_several_bytes_per_character_is_omitted_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcode, "_LONGEST_LINE", 50)
    monkeypatch.setattr(transcode, "_AT_ONCE", 16)
    long = "語" * 100
    lines = ["p,q", "1,日", f"2,{long}", f"3,{long}", "4,本", f"5,{long}"]
    (tmp_path / "a.csv").write_bytes("\n".join(lines).encode("euc_jp"))
    source = open_source(tmp_path / "a.csv", encoding="euc_jp")
    assert fetch(source, source.table) == [("1", "日"), ("4", "本")]


# ------------------------------------------------------------------------------ decimal commas

NUMBERS = {
    "3,14": 3.14, "-0,5": -0.5, ",5": 0.5, "7": 7.0, "1e3": 1000.0, " 2,5 ": 2.5, "5,": 5.0,
    "3.14": None, "1.234,5": None, "1,234,5": None, "1,2.3": None, ",": None, "x": None,
}  # fmt: skip


@pytest.mark.parametrize("types", [{}, {"n": float}, {"n": "decimal"}])
def test_numbers_have_commas_and_no_points(types: dict[str, Any], tmp_path: Path) -> None:
    """In sums, in conditions and in expressions, converted or not; texts stay as they are."""
    (tmp_path / "a.csv").write_text("n;d\n" + "".join(f"{n};2024-01-01\n" for n in NUMBERS))
    source = open_source(tmp_path / "a.csv", delimiter=";", decimal=",", types=types)
    values = [value for value in NUMBERS.values() if value is not None]
    if types == {"n": "decimal"}:
        values.remove(1000)  # it has an exponent
    found = fetch(source, source.table.select(source.number("n").cast("float64").name("n")))
    assert Counter(n for (n,) in found if n is not None) == Counter(values)
    found = fetch(source, source.table.select(source.value("n * 2").name("n")))
    assert Counter(n for (n,) in found if n is not None) == Counter(2 * n for n in values)
    conditions: dict[str, Callable[[float], bool]] = {
        "n > 2.9": lambda n: n > 2.9,
        "n = 0.5": lambda n: n == 0.5,
        "n <= -0.5": lambda n: n <= -0.5,
        "n * 2 > n + 3": lambda n: n * 2 > n + 3,
    }
    for text, holds in conditions.items():
        rows = source.table.filter(truth(parse_condition(text), source, source.table))
        assert fetch(source, rows.aggregate(n=rows.count())) == [(sum(map(holds, values)),)], text
    if not types:
        assert {row[0] for row in fetch(source, source.table)} == set(NUMBERS)


def test_a_rewritten_file_is_deleted_with_its_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import gc
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "a.csv").write_bytes("n,c\n1,é\n".encode("cp1252"))
    source = open_source(tmp_path / "a.csv", encoding="cp1252")
    folders = [path for path in tmp_path.iterdir() if path.is_dir()]
    assert all(path.stat().st_mode & 0o077 == 0 for path in folders)
    assert any(list(path.glob("*.csv")) for path in folders)
    source.close()
    del source
    gc.collect()
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        (
            {"delimiter": "x"},
            InvalidParameter,
            "delimiter must be a comma, a semicolon, a tab or |",
        ),
        ({"delimiter": 5}, InvalidParameter, "delimiter must be a comma, a semicolon, a tab or |"),
        ({"encoding": "klingon"}, InvalidParameter, "encoding must name an encoding"),
        ({"encoding": 7}, InvalidParameter, "encoding must name an encoding"),
        (
            {"encoding": "iso2022_jp"},
            Unsupported,
            "encoding must be UTF-8, UTF-16, one with one byte for each character, or for instance",
        ),
        ({"encoding": "hz"}, Unsupported, "encoding must be UTF-8, UTF-16"),
        ({"encoding": "utf-7"}, Unsupported, "encoding must be UTF-8, UTF-16"),
        ({"decimal": ";"}, InvalidParameter, "decimal must be a point or a comma, got ';'"),
        ({"decimal": 1}, InvalidParameter, "decimal must be a point or a comma, got 1"),
    ],
)
def test_wrong_dialects_are_rejected(
    how: dict[str, Any], error: type[Exception], message: str, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    with pytest.raises(error, match=re.escape(message)):
        protect(tmp_path / "a.csv", unit=None, ledger=UNRECORDED, **how)


def test_dialects_are_of_csv_files_and_part_of_the_identity(tmp_path: Path) -> None:
    import pyarrow as pa

    with pytest.raises(
        InvalidParameter, match="delimiter=, encoding= and decimal= are of CSV files"
    ):
        open_source(pa.table({"a": [1]}), delimiter=";")
    (tmp_path / "a.csv").write_text("a\n1\n")
    ways: list[dict[str, Any]] = [{}, {"delimiter": ";"}, {"encoding": "cp1252"}, {"decimal": ","}]
    tables = [open_source(tmp_path / "a.csv", **how).words["table"] for how in ways]
    assert len(set(tables)) == 4
    plain = open_source(tmp_path / "a.csv", decimal=".").words["table"]
    assert plain == tables[0]


# ------------------------------------------------------------------------------------- JSON lines


def read_object(line: bytes) -> dict[str, Any] | None:
    """Read a line of JSON; None if it is no object."""
    try:
        found = json.loads(line.decode(), object_pairs_hook=lambda pairs: dict(reversed(pairs)))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


OBJECTS = [
    b'{"a": "x", "n": 5}', b'{"n": "7", "a": null}', b'{"a": "line\\nbreak", "n": 1.0}', b"{}",
    b"[]",
    b"5", b"null", b"", b'{"a": "x"', b'{"a": "x"}}', b'{"a": "one", "a": "two"}', b'{"a": "\xff"}',
    b'{"a": "\\ud800"}', b'{"a": "q\\"uote", "n": true}', b'{"A": 1}', b'"{\\"a\\": 1}"',
    b"{'a': 1}",
    b'{"a": "x"} {"a": "y"}', b'["a', b'{"a": "' + b"x" * 2_100_000 + b'"}',
    b'{"a": ' + b"[" * 20_000, b'{"n": 99999999999999999999}',
]  # fmt: skip


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson.gz"])
def test_every_object_is_read_by_itself(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    pack: Callable[[bytes], bytes] = gzip.compress if name.endswith("gz") else bytes
    path.write_bytes(pack(b"\n".join(OBJECTS)))
    source = open_source(path, types={"a": str, "n": int})
    assert dict(source.kinds) == {"a": "text", "n": "integer"}
    rows = fetch(source, source.table)
    objects = [read_object(line) for line in OBJECTS if len(line) < 2_000_000]
    readable = [each for each in objects if each is not None and each.get("a") != "\ud800"]
    texts = [None if each.get("a") is None else str(each["a"]) for each in readable]
    assert Counter(row[0] for row in rows) == Counter(texts)
    assert Counter(row[1] for row in rows) == Counter([5, 7, 1] + [None] * (len(readable) - 3))
    for place in range(len(OBJECTS)):  # each line by itself has the same row
        path.write_bytes(pack(OBJECTS[place]))
        alone = fetch(source, source.table)
        assert len(alone) <= 1
        assert set(alone) <= set(rows)


def test_json_names_may_have_any_character(tmp_path: Path) -> None:
    names = ["a/b", "a~b", 'q"', "$.x", "*", "0", "ü", "a.b", "'"]
    (tmp_path / "a.jsonl").write_text(json.dumps({name: name for name in names}))
    source = open_source(tmp_path / "a.jsonl", types=dict.fromkeys(names, str))
    assert [dict(zip(source.kinds, row, strict=True)) for row in fetch(source, source.table)] == [
        {name: name for name in names}
    ]


def test_the_columns_of_json_lines_are_stated(tmp_path: Path) -> None:
    """The names in the first line are those of a person's row: it decides nothing."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n')
    with pytest.raises(InvalidParameter, match="so types= must name the columns"):
        open_source(path)
    for line in ("", "{", '{"b": 2}', "\0"):
        path.write_text(line + '\n{"a": 1}\n')
        source = open_source(path, types={"a": int})
        assert list(source.kinds) == ["a"]


def test_a_question_about_json_lines(tmp_path: Path) -> None:
    lines = [
        {"id": i, "region": "north" if i % 2 else "south", "age": i % 90} for i in range(2_000)
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)))
    types: dict[str, str | type] = {"id": int, "region": str, "age": int}
    people = protect(tmp_path / "a.jsonl", unit="id", max_rows=1, ledger=UNRECORDED, types=types)
    answers: Any = people.count(
        by="region", max_groups=1, where="age >= 0", privacy=Privacy(1, "1e-6")
    )
    assert [key[0] for key in answers.keys] == ["north", "south"]
    assert "lines that are no JSON object" in answers.subject.statement


def test_the_command_reads_dialects(tmp_path: Path) -> None:
    with (tmp_path / "a.csv.gz").open("wb") as file:
        lines = [["id", "größe"], *([str(i), "5"] for i in range(1_000))]
        text = "\r\n".join(";".join(line) for line in lines)
        file.write(gzip.compress(text.encode("cp1252")))
    words = ["sum", str(tmp_path / "a.csv.gz"), "größe", "--bounds", "0", "9", "--row-is-unit"]
    words += [
        "--epsilon",
        "1",
        "--unrecorded",
        "--delimiter",
        ";",
        "--encoding",
        "cp1252",
        "--json",
    ]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    assert abs(float(json.loads(done.stdout)["value_float"]) - 5_000) < 200
    done = CliRunner().invoke(main, [*words[:-5], "--delimiter", "x"])
    assert "--delimiter must be a comma" in done.output
    done = CliRunner().invoke(main, ["tab" if word == ";" else word for word in words])
    assert "No column" in done.output
