"""Cards that state how a table is read: delimiter, types of columns, and lookups."""

from pathlib import Path

import pytest

import leastnoise as ln
from leastnoise.errors import InvalidParameter
from leastnoise.tables import ProtectedTable

# Counts are exact and sums within 1, but with a probability of about 2·e^−24 < 1e-10 each.
PRIVACY = ln.Privacy(24)
FORBIDDEN = r"people\.toml lists other columns only"
PEOPLE = "who;code;age;secret\n1;7;30;a\n2;7;x;b\n3;8;50;c\n4;;20;d\n"
REGIONS = "code,region\n7,north\n8,south\n"
CARD = """\
source = "people.csv"
delimiter = ";"
unit = "who"
max_rows = 1
max_groups = 1

[columns.age]
type = "integer"
bounds = [0, 100]

[columns.code]

[lookups.regions]
source = "regions.csv"
key = "code"
columns = ["region"]
"""


@pytest.fixture
def card(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "regions.csv").write_text(REGIONS)
    path = tmp_path / "people.toml"
    path.write_text(CARD)
    return path


def protect(card: Path) -> ProtectedTable:
    return ln.protect(card=card, ledger=ln.UNRECORDED)


def test_columns_are_converted_and_lookups_joined(card: Path) -> None:
    with protect(card) as people:
        assert people.source.kinds["age"] == "integer"
        assert abs(people.sum("age", privacy=PRIVACY).value - (30 + 50 + 20)) < 1
        counts = people.count(by="region", groups=["north", "south"], privacy=PRIVACY)
        assert [answer.value for _, answer in counts] == [2, 1]


def test_a_lookup_leaves_other_columns_forbidden(card: Path) -> None:
    """The control: the columns of the lookup may be used, and those of the card."""
    with protect(card) as people:
        with pytest.raises(InvalidParameter, match=FORBIDDEN):
            people.count(where="secret = 'a'", privacy=PRIVACY)
        secrets = card.parent / "secrets.csv"
        secrets.write_text("secret,value\na,1\nb,2\n")
        with pytest.raises(InvalidParameter, match=FORBIDDEN):
            people.join(str(secrets), on="secret")
        sizes = card.parent / "sizes.csv"
        sizes.write_text("code,size\n7,3\n8,4\n")
        further = people.join(str(sizes), on="code")
        total = further.sum("size", bounds=(0, 9), privacy=PRIVACY)
        assert abs(total.value - (3 + 3 + 4)) < 1
        with pytest.raises(InvalidParameter, match=FORBIDDEN):
            further.count(where="secret = 'a'", privacy=PRIVACY)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("regions.csv", "nowhere.csv"), r"people.toml, line \d+: No file at"),
        (('key = "code"', 'key = "age"'), r"people.toml, line \d+: "),
        (('delimiter = ";"', 'delimiter = "."'), r"people.toml, line 1: "),
    ],
)
def test_wrong_statements_are_rejected_with_their_line(
    card: Path, change: tuple[str, str], message: str
) -> None:
    card.write_text(card.read_text().replace(*change))
    with pytest.raises(InvalidParameter, match=message):
        protect(card)


def test_what_the_card_states_of_reading_is_fixed(card: Path) -> None:
    with pytest.raises(InvalidParameter, match="states the delimiter, which is fixed"):
        ln.protect(card=card, ledger=ln.UNRECORDED, **{"delimiter": "|"})  # type: ignore[call-overload]
    with pytest.raises(InvalidParameter, match="states the type of columns, which is fixed"):
        ln.protect(card=card, ledger=ln.UNRECORDED, types={"who": "int"})  # type: ignore[call-overload]


def test_a_card_states_decimal_commas_and_decimals(tmp_path: Path) -> None:
    lines = [f"{number};{number % 10},5" for number in range(2_000)]
    (tmp_path / "a.csv").write_text("id;price\n" + "\n".join(lines))
    card = tmp_path / "a.toml"
    card.write_text(
        'source = "a.csv"\ndelimiter = ";"\ndecimal = ","\nunit = "id"\nmax_rows = 1\n'
        '[columns.price]\ntype = "decimal"\nbounds = [0, 10]\n'
    )
    with ln.protect(card=card, ledger=ln.UNRECORDED) as table:
        assert table.source.kinds["price"] == "decimal"
        assert abs(table.mean("price", privacy=ln.Privacy(50)).value - 5) < 0.5
    card.write_text(card.read_text().replace('decimal = ","', 'decimal = "x"'))
    with pytest.raises(InvalidParameter, match="decimal must be a point or a comma, got 'x'"):
        ln.protect(card=card, ledger=ln.UNRECORDED)
