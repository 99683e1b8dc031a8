"""The commands plan and compose: their files, tables, figures and errors."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import leastnoise as ln
from leastnoise.cli import main

ANSWERS = """\
epsilon = 1
delta = 1e-6

[[answers]]
name = "people"
sensitivity = 1
integer = true

[[answers]]
name = "visits"
sensitivity = 5
weight = 2
cost = "l1"
"""
QUERIES = [
    ln.NumericQuery("people", sensitivity=1, integer=True),
    ln.NumericQuery("visits", sensitivity=5, weight=2),
]
RELEASES = """\
[[releases]]
name = "weekly"
epsilon = 0.1
delta = 1e-7
family = "gaussian"
times = 20

[[releases]]
epsilon = "1/2"
"""


def call(*words: str) -> Result:
    return CliRunner(env={"COLUMNS": "80"}).invoke(main, words)


def data(done: Result) -> Any:
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def unwrapped(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("answers.toml").write_text(ANSWERS)
    Path("releases.toml").write_text(RELEASES)
    return tmp_path


# -------------------------------------------------------------------------------------------- plan


def test_a_plan_is_that_of_the_library() -> None:
    expected = ln.plan(ln.Privacy(1, "1e-6"), QUERIES, solve=False)
    assert data(call("plan", "answers.toml", "--no-solve", "--json")) == expected.to_dict()
    printed = call("plan", "answers.toml", "--no-solve").stdout
    assert printed.startswith(f"{expected}\n")
    assert "Meaning  leastnoise explain --epsilon 1" in printed
    assert max(map(len, printed.splitlines())) <= 80
    meaning = call("plan", "answers.toml", "--no-solve", "--explain").stdout
    assert unwrapped(expected.explain()) in unwrapped(meaning)


def test_json_and_toml_are_the_same_plan() -> None:
    entries = [
        {"name": "people", "sensitivity": 1, "integer": True},
        {"name": "visits", "sensitivity": 5.0, "weight": "2", "cost": "l1"},
    ]
    Path("answers.json").write_text(json.dumps({"delta": 1e-6, "epsilon": 1, "answers": entries}))
    first = data(call("plan", "answers.toml", "--no-solve", "--json"))
    assert data(call("plan", "answers.json", "--no-solve", "--json")) == first
    del entries[0]["integer"]
    Path("answers.json").write_text(json.dumps({"answers": entries}))
    typed = call(
        "plan", "answers.json", "--epsilon", "1", "--delta", "1e-6", "--no-solve", "--json"
    )
    assert data(typed)["privacy"] == first["privacy"]
    assert data(typed)["cost"] != first["cost"]


def test_decimals_are_exact() -> None:
    Path("a.toml").write_text('epsilon = 0.1\n[[answers]]\nname = "a"\nsensitivity = 0.3\n')
    found = data(call("plan", "a.toml", "--no-solve", "--json"))
    assert found["privacy"]["epsilon"] == "1/10"
    assert found["wanted"][0]["sensitivity"] == "3/10"


def test_targets_and_families_are_in_the_file() -> None:
    Path("a.toml").write_text(
        'epsilon = 1\n[[answers]]\nname = "a"\nsensitivity = 1\nerror = 20\nconfidence = 0.9\n'
        '[[answers]]\nname = "b"\nsensitivity = 1\ncost = "lp:2"\nfamily = "laplace"\n'
    )
    found = data(call("plan", "a.toml", "--no-solve", "--json"))
    assert found["wanted"][0]["confidence"] == "9/10"
    assert found["wanted"][1]["family"] == "laplace"


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_a_figure_of_errors_and_shares(ending: str) -> None:
    figure = f"plan.{ending}"
    done = call("plan", "answers.toml", "--no-solve", "--plot", figure)
    assert done.exit_code == 0, done.stderr
    assert f"Figure  {figure}" in done.stdout
    content = Path(figure).read_bytes()
    if ending == "svg":
        text = content.decode()
        for words in (
            "people",
            "visits",
            "joint boxes",
            "shared gaussian",
            "95% error",
            "share of",
        ):
            assert words in text
    else:
        assert content.startswith(b"\x89PNG")
    found = data(call("plan", "answers.toml", "--no-solve", "--plot", figure, "--json"))
    assert found["figure"] == figure


def test_no_file_that_matters_is_overwritten_by_a_figure() -> None:
    ln.Ledger("a.ledger", limit=ln.Privacy(1)).close()
    before = Path("a.ledger").read_bytes()
    done = call("plan", "answers.toml", "--plot", "a.ledger")
    assert done.exit_code == 2
    assert "--plot must not overwrite" in done.stderr
    assert Path("a.ledger").read_bytes() == before
    Path("answers.json").write_text('{"answers": [{"name": "a", "sensitivity": 1}]}')
    done = call("plan", "answers.json", "--epsilon", "1", "--plot", "answers.json")
    assert done.exit_code == 2
    assert "--plot must not overwrite a file that is read" in done.stderr


WRONG = [
    (
        "weight = 2",
        "wieght = 2",
        "line 12, answer 2: There is no field 'wieght' here. Did you mean",
    ),
    ("weight = 2", "size = 2", "line 12, answer 2: There is no field 'size' here. Use name, "),
    ("epsilon = 1", "epsilonn = 1", "line 1: There is no field 'epsilonn' here. Did you mean eps"),
    ("epsilon = 1", "epsilon = -1", "line 1: epsilon must be"),
    ("sensitivity = 5\n", "", "line 9, answer 2: sensitivity is missing"),
    ('name = "people"\n', "", "line 4, answer 1: name is missing"),
    ("sensitivity = 5", "sensitivity = 0", "line 11, answer 2: sensitivity must be greater than 0"),
    ("sensitivity = 5", "sensitivity = [5]", "line 11, answer 2: sensitivity must be a number"),
    ("sensitivity = 5", "sensitivity = true", "line 11, answer 2: sensitivity must be a number"),
    ("integer = true", 'integer = "yes"', "line 7, answer 1: integer must be true or false"),
    ('cost = "l1"', 'cost = "l9"', "line 13, answer 2: cost must be l1, l2, lp:P"),
    ('cost = "l1"', "cost = 1", "line 13, answer 2: cost must be a text in quotes, got 1"),
    ('cost = "l1"', 'family = "laplac"', "line 13, answer 2: family must be one of"),
    ("weight = 2", "weight = -2", "line 12, answer 2: weight must be greater than 0, got -2"),
    ('"visits"', '"people"', "The names of answers must be different"),
    ("weight = 2", "weight = 2\nweight = 3", "answers.toml, line 13: Cannot overwrite a value"),
    ("weight = 2", "weight 2", "answers.toml, line 12: Expected '='"),
    ("[[answers]]", "[answers]", "answers.toml, line 9: Cannot declare"),
]


@pytest.mark.parametrize(("before", "after", "message"), WRONG)
def test_an_error_names_the_line_and_the_field(before: str, after: str, message: str) -> None:
    assert before in ANSWERS
    Path("answers.toml").write_text(ANSWERS.replace(before, after))
    done = call("plan", "answers.toml", "--no-solve")
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in unwrapped(done.stderr)
    assert max(map(len, done.stderr.splitlines())) <= 80


FILES = [
    (
        "a.json",
        '{"answers": [{"name": "a", "sensitivity": 1, "sensitivity": 2}]}',
        "is there twice",
    ),
    ("a.json", '{"answers": [{"name": "a", "sensitivity": NaN}]}', "NaN is no number of JSON"),
    ("a.json", '{"answers": [{"name": "a",}]}', "a.json, line 1"),
    ("a.json", '{"answers": [3]}', "a.json, answer 1: This must be a table of fields"),
    ("a.json", "[1]", "answers must be a list of at least one entry, got none"),
    ("a.json", '{"answers": []}', "answers must be a list of at least one entry"),
    ("a.toml", "answers = 3", "a.toml, line 1: answers must be a list of at least one entry"),
    ("a.toml", "", "Write [[answers]] in TOML before each entry."),
    ("a.toml", "# \udcff", "a.toml is not text in UTF-8"),
    ("a.toml", "#" * (1 << 20) + "\n", "a.toml is longer than 1 MiB"),
]


@pytest.mark.parametrize(("name", "text", "message"), FILES)
def test_another_file_is_rejected(name: str, text: str, message: str) -> None:
    Path(name).write_bytes(text.encode(errors="surrogateescape"))
    done = call("plan", name, "--epsilon", "1")
    assert done.exit_code == 2
    assert message in unwrapped(done.stderr)


def test_the_guarantee_is_given_once() -> None:
    done = call("plan", "answers.toml", "--epsilon", "1")
    assert "--epsilon is also in answers.toml, got both. Remove one" in unwrapped(done.stderr)
    Path("answers.toml").write_text(ANSWERS.partition("[[")[1] + ANSWERS.partition("[[")[2])
    done = call("plan", "answers.toml")
    assert done.exit_code == 2
    assert "A guarantee needs --epsilon, --delta or both" in unwrapped(done.stderr)
    missing = call("plan", "answer.toml")
    assert missing.exit_code == 2
    assert "cannot be read: No such file or directory. Did you mean answers.toml?" in unwrapped(
        missing.stderr
    )


def test_an_impossible_target_suggests_what_is_possible() -> None:
    Path("a.toml").write_text('epsilon = 1\n[[answers]]\nname = "a"\nsensitivity = 9\nerror = 1\n')
    done = call("plan", "a.toml", "--no-solve")
    assert done.exit_code == 2
    assert "The targets cannot be met with ε = 1" in done.stderr
    assert "A total ε of" in done.stderr


# ----------------------------------------------------------------------------------------- compose


def test_a_composition_is_that_of_the_library() -> None:
    gaussian = ln.calibrate(ln.Privacy("0.1", "1e-7"), sensitivity=1, family="gaussian")
    expected = ln.compose([(gaussian, 20), ln.Privacy("1/2")])
    found = data(call("compose", "releases.toml", "--delta", "1e-6", "--json"))
    assert found["releases"] == 21
    assert Fraction(found["privacy"]["epsilon"]) == expected.epsilon("1e-6")
    assert Fraction(found["added_up"]["epsilon"]) == Fraction(5, 2)
    assert Fraction(found["advantage"]) == expected.advantage
    other = data(call("compose", "releases.toml", "--epsilon", "1", "--json"))
    assert Fraction(other["privacy"]["delta"]) == expected.delta(1)
    assert data(call("compose", "releases.toml", "--json"))["privacy"] is None
    printed = call("compose", "releases.toml").stdout
    assert str(expected) in unwrapped(printed)
    at = call("compose", "releases.toml", "--delta", "1e-6", "--explain").stdout
    assert "21 releases together: ε = " in at
    assert "δ = 1e-6 (added up: ε = 2.5, δ = " in unwrapped(at)
    assert unwrapped(expected.explain()) in unwrapped(at)
    assert max(map(len, at.splitlines())) <= 80


def test_basic_guarantees_compose_to_a_known_number() -> None:
    """Two releases at δ 0.1 and 0.2 have 1 − 0.9·0.8 at ε = 0."""
    Path("a.json").write_text('{"releases": [{"delta": 0.1}, {"delta": 0.2}]}')
    found = data(call("compose", "a.json", "--epsilon", "0", "--json"))
    assert found["privacy"] == {"epsilon": "0", "delta": "7/25"}


WRONG_RELEASES = [
    ("times = 20", "times = 0", "line 6, release 1: times must be an integer of at least 1"),
    ("times = 20", "tims = 20", "line 6, release 1: There is no field 'tims' here. Did you mean"),
    ('epsilon = "1/2"', "times = 2", "line 8, release 2: epsilon or delta is missing"),
    ('epsilon = "1/2"', "epsilon = -1", "line 9, release 2: epsilon must be"),
    (
        'epsilon = "1/2"',
        "epsilon = 1\nsensitivity = 2",
        "line 10, release 2: sensitivity needs a family",
    ),
    ('"gaussian"', '"gausian"', "line 5, release 1: family must be one of"),
    ("delta = 1e-7\n", "", "release 1: "),
]


@pytest.mark.parametrize(("before", "after", "message"), WRONG_RELEASES)
def test_a_wrong_release_names_its_line(before: str, after: str, message: str) -> None:
    Path("releases.toml").write_text(RELEASES.replace(before, after))
    done = call("compose", "releases.toml")
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in unwrapped(done.stderr)


def test_a_composition_is_at_one_number() -> None:
    done = call("compose", "releases.toml", "--epsilon", "1", "--delta", "1e-6")
    assert done.exit_code == 2
    assert "--epsilon and --delta exclude each other, got both." in unwrapped(done.stderr)
