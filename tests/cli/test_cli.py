"""The command line, mostly as a shell runs it."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from fractions import Fraction
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import leastnoise as ln
from leastnoise.cli import main
from leastnoise.tables import census
from tests.support.screens import assert_readable, unwrapped

CANARY = "31337.4242"  # the value that no error may repeat
QUESTION = ["--delta", "0.1", "--sensitivity", "1"]


def run(
    *arguments: str, cwd: Path | None = None, variables: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command as a program of its own, with its output in pipes."""
    return subprocess.run(
        [sys.executable, "-m", "leastnoise", *arguments],
        capture_output=True,
        check=False,
        encoding="utf-8",
        env={**os.environ, **(variables or {})},
        cwd=cwd,
        timeout=60,
    )


def call(*arguments: str) -> Result:
    """Run the command inside this process, which is much faster."""
    return CliRunner().invoke(main, arguments, prog_name="leastnoise")


def data(result: Result) -> Any:
    """Return printed JSON, which must be strict: NaN and Infinity are none."""
    assert result.exit_code == 0, result.output
    assert result.stdout.count("\n") == 1
    return json.loads(result.stdout, parse_constant=pytest.fail)


# ------------------------------------------------------------------- what it prints

COSTS = {
    "l1": ln.l1,
    "l2": ln.l2,
    "lp:1/2": ln.lp("1/2"),
    "lp:3": ln.lp(3),
    "threshold:2.5": ln.threshold("2.5"),
    "points:0,0;1,2;9,4": ln.piecewise_linear([(0, 0), (1, 2), (9, 4)]),
}
QUESTIONS = [
    *(
        (delta, size, cost, integer)
        for delta in ("0.1", "2/3")
        for size in ("1", "3")
        for cost in COSTS
        for integer in (False, True)
    ),
    *(
        (delta, size, cost, False)
        for delta in ("1e-300", "0.1")
        for size in ("1e-300", "1e300")
        for cost in ("l1", "l2", "lp:1/2")
    ),
]


def options(delta: str, size: str, cost: str, integer: bool) -> list[str]:
    whole = ["--integer"] if integer else []
    return ["--delta", delta, "--sensitivity", size, "--cost", cost, *whole, "--json"]


def asked(delta: str, size: str, cost: str, integer: bool) -> ln.Mechanism:
    guarantee = ln.Privacy(delta=delta)
    return ln.calibrate(guarantee, sensitivity=size, cost=COSTS[cost], integer=integer)


@pytest.mark.parametrize(("delta", "size", "cost", "integer"), QUESTIONS)
def test_json_of_calibrate_is_the_mechanism_exactly(
    delta: str, size: str, cost: str, integer: bool
) -> None:
    found = data(call("calibrate", *options(delta, size, cost, integer)))
    mechanism = asked(delta, size, cost, integer)
    certificate, drawn = mechanism.certificate, mechanism.discretized
    exact = {
        "sensitivity": mechanism.sensitivity,
        "radius": mechanism.noise.radius,
        "exact_probability": mechanism.exact_probability,
        "cost": mechanism.cost,
        "privacy.epsilon": 0,
        "privacy.delta": mechanism.privacy.delta,
        "certificate.lower_bound": certificate.lower_bound,
        "certificate.gap": certificate.gap,
        "drawn.step": drawn.step,
        "drawn.radius": drawn.radius,
        "drawn.cost": drawn.cost,
        "drawn.protected": mechanism.effective_sensitivity,
    }
    assert {name: Fraction(at(found, name)) for name in exact} == exact
    plain = {
        "integer": integer,
        "noise": repr(mechanism.noise),
        "certificate.exact": certificate.exact,
        "certificate.cost_is_upper_bound": certificate.cost_is_upper_bound,
        "certificate.source": certificate.source,
        "certificate.among": "decreasing",
        "certificate.objective": repr(COSTS[cost]).replace("piecewise_linear", "points"),
    }
    assert {name: at(found, name) for name in plain} == plain


@pytest.mark.parametrize(("delta", "size", "cost", "integer"), QUESTIONS)
def test_json_of_release_is_an_answer_exactly(
    delta: str, size: str, cost: str, integer: bool
) -> None:
    found = data(call("release", "42", "--allow-exact", *options(delta, size, cost, integer)))
    mechanism = asked(delta, size, cost, integer)
    value, bound = Fraction(found["value"]), Fraction(found["bound"])
    twin = ln.Answer(int(value / mechanism.discretized.step), mechanism)
    assert (twin.value, twin.max_error) == (value, bound)
    assert abs(value - 42) <= bound
    assert tuple(map(Fraction, found["interval_95"])) == twin.interval("0.95")
    assert Fraction(found["exact_probability"]) == mechanism.exact_probability
    assert Fraction(found["privacy"]["delta"]) == Fraction(delta)
    assert found["recorded"] is False


def test_numbers_longer_than_python_prints_are_still_json() -> None:
    question = ["--delta", "1e-300", "--sensitivity", "1e300", "--cost", "lp:20", "--json"]
    assert data(call("calibrate", *question))["certificate"]["exact"] is True
    assert data(call("release", "5", *question))["recorded"] is False


def at(found: Any, name: str) -> Any:
    return reduce(lambda inner, key: inner[key], name.split("."), found)


def test_calibrate_prints_what_the_library_finds() -> None:
    done = run("calibrate", *QUESTION)
    mechanism = ln.calibrate(ln.Privacy(delta="0.1"), sensitivity=1)
    assert (done.returncode, done.stderr) == (0, "")
    errors, table = done.stdout.split("\n\n")
    assert errors == "95% error ± 4.751, expected error 2.5 (E|error|)"
    assert max(map(len, table.splitlines())) <= 80
    lines = re.sub(r"\n +", " ", table).splitlines()
    rows = dict(re.split(r"  +", row, maxsplit=1) for row in lines)
    assert rows == {
        "Max error": "5.00001",
        "Noise": "uniform: Uniform(radius=5, atom=0)",
        "Lower bound": "2.5",
        "Optimality": str(mechanism.certificate),
        "Source": mechanism.certificate.source,
        "Guarantee": "ε = 0, δ = 0.1 at sensitivity 1",
        "Sampled from": repr(mechanism.discretized.noise),
        "Sampled cost": rows["Sampled cost"],
        "Meaning": "leastnoise explain --delta 0.1",
    }
    assert rows["Sampled cost"].startswith("2.50000")


ASKED = {
    "calibrate": ["--epsilon", "1/3", "--sensitivity", "1", "--no-solve"],
    "compare": ["--epsilon", "1/3", "--sensitivity", "1", "--no-solve"],
    "privacy-for": [
        *("--error", "2", "--confidence", "0.95", "--sensitivity", "1", "--delta", "1e-6")
    ],
}


@pytest.mark.parametrize("command", ASKED)
def test_the_meaning_is_printed_on_request_and_its_command_runs(command: str) -> None:
    plain = call(command, *ASKED[command]).stdout
    assert max(map(len, plain.splitlines())) <= 80
    assert "attacker" not in plain
    (line,) = re.findall(r"(?m)^Meaning +leastnoise (explain .*)$", plain)
    meaning = unwrapped(call(*line.split()).stdout)
    told = call(command, *ASKED[command], "--explain").stdout
    assert "Meaning" not in told
    assert meaning in unwrapped(told)


def test_explain_is_the_explanation_of_the_library() -> None:
    asked = ["explain", "--epsilon", "1", "--delta", "1e-6"]
    assert unwrapped(call(*asked).stdout) == unwrapped(ln.Privacy(1, "1e-6").explain())
    told = call(*asked, "--people", "8000").stdout
    assert unwrapped(told) == unwrapped(ln.Privacy(1, "1e-6").explain(people=8000))
    assert max(map(len, told.splitlines())) <= 80
    told = call("explain", "--delta", "0.1").stdout
    assert unwrapped(told) == unwrapped(ln.Privacy(delta="0.1").explain())


@pytest.mark.parametrize("value", ["42", "-5", "-1e5", "-0.5", "-1/3", "1/3", "0"])
def test_release_prints_a_value_within_the_bound(value: str) -> None:
    done = call("release", value, *QUESTION)
    assert done.exit_code == 0
    result, facts = done.stdout.split("\n\n")
    assert result.startswith("release: ")
    printed = Fraction(result.split()[1])
    assert abs(printed - Fraction(value)) <= Fraction("5.01")
    assert facts == (
        "Max error  5.001\nGuarantee  ε = 0, δ = 0.1 at sensitivity 1\nBudget     not recorded\n"
    )


def test_a_negative_value_is_no_option_in_a_real_shell_either() -> None:
    done = run("release", "-5", *QUESTION)
    assert (done.returncode, done.stderr) == (0, "")
    assert -11 < float(done.stdout.split()[1]) < 1


def test_version() -> None:
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"leastnoise, version {ln.__version__}\n")


# ------------------------------------------------------------------- families and planning


@pytest.mark.parametrize("family", ["laplace", "gaussian", "staircase", "truncated_laplace"])
def test_a_family_is_used_when_asked_for(family: str) -> None:
    question = ["--epsilon", "1/2", "--delta", "1e-3", "--sensitivity", "1", "--family", family]
    mechanism = ln.calibrate(ln.Privacy("1/2", "1e-3"), sensitivity=1, family=family)
    found = data(call("calibrate", *question, "--json"))
    assert found["noise"] == repr(mechanism.noise)
    assert Fraction(found["cost"]) == mechanism.cost
    released = data(call("release", "42", *question, "--json"))
    assert (released["bound"] is None) == (family != "truncated_laplace")


COMPARED = ["--epsilon", "1/2", "--delta", "1e-3", "--sensitivity", "2", "--cost", "l2"]


@pytest.mark.parametrize(("options", "asked"), [([], {}), (["--integer"], {"integer": True})])
def test_compare_is_the_comparison_of_the_library(
    options: list[str], asked: dict[str, bool]
) -> None:
    comparison = ln.compare(
        ln.Privacy("1/2", "1e-3"),
        sensitivity=2,
        cost=ln.l2,
        releases=3,
        solve=False,
        integer=asked.get("integer", False),
    )
    question = ["compare", *COMPARED, *options, "--releases", "3", "--no-solve"]
    assert data(call(*question, "--json")) == comparison.to_dict()
    done = call(*question)
    assert done.exit_code == 0
    assert done.stdout == (
        f"{comparison}\nMeaning    leastnoise explain --epsilon 0.5 --delta 0.001\n"
    )
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_compare_draws_pictures_into_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "pictures"
    found = data(call("compare", *QUESTION, "--no-solve", "--plot", str(folder), "--json"))
    assert sorted(found["pictures"]) == sorted(str(path) for path in folder.iterdir())
    assert len(found["pictures"]) == 6


def test_privacy_for_is_the_promise_of_the_library() -> None:
    question = ["--error", "2", "--confidence", "0.95", "--sensitivity", "1", "--epsilon", "0"]
    guarantee = ln.privacy_for(error=2, confidence="0.95", sensitivity=1, epsilon=0)
    found = data(call("privacy-for", *question, "--json"))
    assert {name: Fraction(number) for name, number in found["privacy"].items()} == {
        "epsilon": guarantee.epsilon,
        "delta": guarantee.delta,
    }
    told = call("privacy-for", *question).stdout
    assert told.startswith(f"ε = 0, δ = {float(guarantee.delta)}\n\n")
    assert "\nAccuracy     error at most 2 with probability 0.95 or more\n" in told


# ------------------------------------------------------------------- help


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(name, marks=[pytest.mark.long] * (name == "paper"))
        for name, command in main.commands.items()
        if not command.hidden
    ],
)
def test_help_has_an_example_that_runs(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names the library's call, by which the command itself is named, and an example."""
    told = call(command, "--help").stdout
    certificate = ln.calibrate(ln.Privacy(delta=0.1), sensitivity=1).certificate
    (tmp_path / "certificate.json").write_text(certificate.to_json(), encoding="utf-8")
    ln.Ledger(tmp_path / "people.ledger", limit=ln.Privacy(1, "1e-6")).close()
    shutil.copy(census(), tmp_path / "people.csv")
    if command == "sql":
        (tmp_path / "people.toml").write_text(
            'source = "people.csv"\nunit = "person_id"\nmax_rows = 1\n'
            "[columns.income]\nbounds = [0, 150000]\n"
            '[ledger]\npath = "people.ledger"\nepsilon = 1\ndelta = "1e-6"\n'
        )
    (tmp_path / "answers.toml").write_text('[[answers]]\nname = "people"\nsensitivity = 1\n')
    (tmp_path / "releases.toml").write_text("[[releases]]\nepsilon = 0.1\ntimes = 9\n")
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"(?m)^ +(leastnoise .*)$", told.replace("\\\n", ""))
    assert examples
    for example in examples:
        words = shlex.split(example)
        assert words[1] == command
        if "people.csv" in words:  # a program of its own would have to load Ibis
            found = call(*words[1:])
            code, printed, errors = found.exit_code, found.stdout, found.stderr
        else:
            done = run(*words[1:], cwd=tmp_path)
            code, printed, errors = done.returncode, done.stdout, done.stderr
        assert (code, errors) == (0, "")
        assert len(printed) > 60
    (dotted,) = re.findall(r"In Python: ([\w.]*\w)", unwrapped(told))
    path = dotted.removeprefix("leastnoise.").split(".")
    assert command.replace("-", "_") in [part.lower() for part in path]
    import_module("leastnoise.paper")  # a part that is loaded on first use
    home = import_module("leastnoise.tables") if path[0] == "ProtectedTable" else ln
    assert callable(reduce(getattr, path, home))


# ------------------------------------------------------------------- what it refuses

REFUSED = [
    (
        ["calibrate", "--delta", "x", "--sensitivity", "1"],
        "--delta must be a finite number, got 'x'.",
    ),
    (
        ["calibrate", "--delta", "1", "--sensitivity", "1"],
        "--delta must be at least 0 and less than 1,",
    ),
    (["calibrate", "--epsilon", "0", "--sensitivity", "1"], "No noise satisfies ε = 0, δ = 0"),
    (["calibrate", "--epsilon", "-1", *QUESTION], "--epsilon must be 0 or more, got '-1'."),
    (["calibrate", *QUESTION, "--gap", "0"], "--gap must be greater than 0, got '0'."),
    (["calibrate", *QUESTION, "--seconds", "x"], "--seconds must be a finite number, got 'x'."),
    (
        ["calibrate", "--delta", "0.1", "--sensitivity", "-1"],
        "--sensitivity must be greater than 0,",
    ),
    (["calibrate", *QUESTION, "--cost", "l3"], "--cost must be l1, l2, lp:P, threshold:T"),
    (["calibrate", *QUESTION, "--cost", "lp:"], "--cost must be l1, l2, lp:P, threshold:T"),
    (
        ["calibrate", *QUESTION, "--cost", "lp:0"],
        "P of --cost lp:P must be greater than 0, got '0'.",
    ),
    (
        ["calibrate", *QUESTION, "--cost", "threshold:-1"],
        "T of --cost threshold:T must be 0 or more, got '-1'.",
    ),
    (["calibrate", *QUESTION, "--family", "beta"], "--family must be one of uniform, comb,"),
    (["calibrate", *QUESTION, "--family", "staircase"], "the staircase requires ε > 0, got"),
    (["compare", *QUESTION, "--releases", "0"], "--releases must be an integer of at least 1,"),
    (
        ["privacy-for", "--error", "2", "--confidence", "1", *QUESTION],
        "--confidence must be above 0 and below 1, got '1'.",
    ),
    (["calibrate", *QUESTION, "--cost", "points:0"], "--cost points:… must have pairs X,Y"),
    (["calibrate", *QUESTION, "--cost", "a\n\x1b[31m" * 99], "--cost must be l1, l2, lp:P"),
    (
        ["release", f"{CANARY}x", *QUESTION],
        "VALUE is not a finite number. Write it with digits, such as",
    ),
    (
        ["release", "nan", *QUESTION],
        "VALUE is not a finite number. Write it with digits, such as",
    ),
    (
        ["release", "True", *QUESTION],
        "VALUE is not a finite number. Write it with digits, such as",
    ),
    (
        ["release", f"{CANARY}e99999", *QUESTION],
        "VALUE is not a finite number. Write it with digits, such as",
    ),
    (["release", CANARY, *QUESTION, "--integer"], "The value to release must be an integer"),
    (
        ["release", CANARY, "--delta", "0.75", "--sensitivity", "1"],
        "this noise adds nothing",
    ),
    (
        ["release", CANARY, "--delta", CANARY[:3], "--sensitivity", "1"],
        "--delta must be at least 0",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED)
def test_a_mistake_is_a_readable_error_and_exit_code_2(arguments: list[str], message: str) -> None:
    done = call(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: ")
    assert message in unwrapped(done.stderr)
    assert_readable(done.stderr)
    assert "\x1b" not in done.stderr
    assert CANARY not in done.stderr


HELP = """Usage: leastnoise COMMAND [OPTIONS]

  Publish statistics about people with differential privacy.
"""


def test_help_lists_every_command_once_by_purpose_uncut() -> None:
    told = call("--help").stdout
    assert told.startswith(HELP)
    assert max(map(len, told.splitlines())) <= 80
    assert "..." not in told
    listed = re.findall(r"(?m)^  ([a-z][a-z-]+)  +[A-Z]", told)
    shown = {name for name, command in main.commands.items() if not command.hidden}
    assert len(listed) == len(shown)
    assert set(listed) == shown
    assert unwrapped(told).endswith(
        "Exit codes: 0 success, 1 query or release failed, 2 usage error, 3 budget exceeded, "
        "4 verification failed"
    )


@pytest.mark.parametrize(
    "command",
    [
        *("calibrate", "compare", "compose", "explain", "paper", "plan", "privacy-for", "release"),
        "verify",
    ],
)
def test_help_of_a_command_has_groups_and_fits(command: str) -> None:
    told = call(command, "--help").stdout
    assert max(map(len, told.splitlines())) <= 80
    titles = re.findall(r"(?m)^([A-Z][a-z ]+):$", told)
    assert titles[-1] in ("Options", "Other options")
    assert len(titles) == len(set(titles))


USAGE = [
    (
        ["calibrate", "--sensitivity", "1"],
        "1 option is missing. --epsilon E ε of the guarantee; or --delta D, or both Example: "
        "leastnoise calibrate --sensitivity 1 --epsilon 1 --delta 1e-6",
    ),
    (["calibrate"], "2 options are missing. --sensitivity S the most"),
    (["compare", "--sensitivity", "1"], "1 option is missing. --epsilon E"),
    (["privacy-for", *QUESTION], "2 options are missing. --error A"),
    (
        ["privacy-for", "--error", "2", "--confidence", "0.9", "--sensitivity", "1"],
        "1 option is missing. --delta D δ, to find the smallest ε; or --epsilon E, to find the",
    ),
    (["release", CANARY, "--delta", "0.1"], "1 option is missing. --sensitivity S"),
    (["release", CANARY, "--sensitivity", "1"], "1 option is missing. --epsilon E"),
    (["release", *QUESTION], "1 argument is missing. VALUE"),
    (["release"], "3 arguments and options are missing. VALUE"),
    (["release", "1", CANARY, *QUESTION], "argument"),
    (
        ["release", "--dleta", "0.1", CANARY, "--sensitivity", "1"],
        "No such option '--dleta'. (Did you mean one of: '--dataset', '--delta'?)",
    ),
    (["release", f"--frsh={CANARY}", "1", *QUESTION], "No such option '--frsh'. "),
    (["release", "-e", "1", CANARY, *QUESTION], "No such option '-e'."),
    (["release", "-inf", *QUESTION], "VALUE is not a finite number"),
    (["release", *QUESTION, "--", CANARY, "--fresh"], "VALUE must be one number, got 2 arguments"),
    (["release", CANARY, *QUESTION, "--sensitivity"], "'--sensitivity' requires an argument"),
    (["calibrate", "--dleta", "0.1"], "No such option"),
    (["calibrat"], "No such command 'calibrat'"),
    ([], "Usage: leastnoise COMMAND [OPTIONS]"),
]


@pytest.mark.parametrize("columns", [40, 80])
def test_a_usage_error_is_wrapped_to_the_terminal(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    done = call("count", "people.csv", "--epsilno", "1")
    message = done.stderr.partition("\n\n")[2]
    assert unwrapped(message) == (
        "Error: No such option '--epsilno'. "
        "(Did you mean one of: '--epsilon', '--plot', '--version'?)"
    )
    lines = message.splitlines()
    assert len(lines) > 1
    assert all(len(line) <= columns for line in lines)
    assert all(line.startswith("  ") for line in lines[1:])


@pytest.mark.parametrize(
    ("command", "codes"),
    [
        (["count"], [0, 1, 2, 3, 4]),
        (["release"], [0, 1, 2, 3, 4]),
        (["verify"], [0, 2, 4]),
        (["ledger"], [0, 2, 3, 4]),
        (["ledger", "allocate"], [0, 2, 3, 4]),
        (["ledger", "verify"], [0, 2, 4]),
    ],
)
def test_exit_codes_have_the_same_words_in_every_help(command: list[str], codes: list[int]) -> None:
    (listed,) = re.findall(r"(?s)\nExit codes: (.*)", call("--help").stdout)
    words = unwrapped(listed).split(", ")
    told = call(*command, "--help").stdout
    assert told.count("Exit codes: ") == 1
    assert unwrapped(told).endswith("Exit codes: " + ", ".join(words[code] for code in codes))


@pytest.mark.parametrize("command", [["count"], ["release"], ["ledger", "show"]])
def test_the_help_says_what_a_witness_is_for(command: list[str]) -> None:
    told = unwrapped(call(*command, "--help").stdout)
    assert "--witness WITNESS A file of ledger heads stored elsewhere, or one head. Detects" in told


@pytest.mark.parametrize(
    ("setting", "probability"),
    [
        (["--epsilon", "1", "--delta", "1e-6", "--integer"], "0.462118"),
        (["--delta", "0.7"], "0.400001"),
    ],
)
def test_calibrate_prints_the_probability_of_an_exact_release(
    setting: list[str], probability: str
) -> None:
    """The atom of a noise is not that probability: it is the excess over an adjacent point."""
    told = unwrapped(call("calibrate", *setting, "--sensitivity", "1").stdout)
    (adjacent,) = re.findall(
        f"Exact release with probability {probability}, the answer is the true value. The atom is "
        r"this probability minus that of an adjacent point, ≈?(\S+) ",
        told,
    )
    (atom,) = re.findall(r"Sampled from .*atom=≈?(\S+)\)", told)
    assert 0 < Fraction(adjacent) < Fraction(atom)
    # The probability is rounded up to 6 digits, the others to 9.
    assert 0 <= Fraction(probability) - Fraction(atom) - Fraction(adjacent) < Fraction("1.01e-6")


def test_calibrate_prints_no_probability_of_an_exact_release_without_a_point_mass() -> None:
    told = call("calibrate", "--delta", "0.1", "--sensitivity", "1").stdout
    assert "Sampled from" in told
    assert "Exact release" not in told


@pytest.mark.parametrize(("arguments", "message"), USAGE)
def test_wrong_usage_is_told_without_the_value(arguments: list[str], message: str) -> None:
    done = call(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in unwrapped(done.stderr)
    assert CANARY not in done.stderr


@pytest.mark.parametrize(
    ("value", "delta", "way"), [(CANARY, "0.75", "--allow-exact"), (CANARY, "0.1", "--integer")]
)
def test_a_refusal_names_the_option_and_not_the_keyword(value: str, delta: str, way: str) -> None:
    """What to do must be something that can be typed here."""
    whole = ["--integer"] if way == "--integer" else []
    assert way in call("release", value, "--delta", delta, "--sensitivity", "1", *whole).stderr


def test_in_a_pipe_and_under_no_color_nothing_is_coloured_and_no_traceback_shown() -> None:
    for arguments in (["calibrate", *QUESTION], ["release", f"{CANARY}x", *QUESTION], ["--help"]):
        for variables in ({"NO_COLOR": "1", "TERM": "xterm-256color"}, {"TERM": "xterm-256color"}):
            done = run(*arguments, variables=variables)
            assert done.returncode == (2 if arguments[0] == "release" else 0)
            assert "\x1b" not in done.stdout + done.stderr
            assert "Traceback" not in done.stderr
            assert CANARY not in done.stdout + done.stderr


@pytest.mark.parametrize("command", [["calibrate"], ["release", "5"]])
def test_no_heavy_library_is_loaded_for_the_common_case(command: list[str]) -> None:
    script = (
        "import sys; from leastnoise.cli import main\n"
        f"main({[*command, *QUESTION]!r}, standalone_mode=False)\n"
        "print(sorted({'numpy', 'flint', 'cryptography', 'altair', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, encoding="utf-8"
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_certificate_is_not_saved_over_a_ledger(tmp_path: Path) -> None:
    file = tmp_path / "people.ledger"
    ln.Ledger(file, limit=ln.Privacy(1)).close()
    before = file.read_bytes()
    result = CliRunner().invoke(
        main, ["calibrate", "--delta", "0.1", "--sensitivity", "1", "--save", str(file)]
    )
    assert result.exit_code == 2
    assert "--save must not overwrite a ledger or a witness" in result.stderr
    assert file.read_bytes() == before


def test_a_certificate_replaces_a_certificate_and_no_other_file(tmp_path: Path) -> None:
    data, saved = tmp_path / "people.csv", tmp_path / "certificate.json"
    data.write_text("person_id\n1\n")
    command = ["calibrate", "--delta", "0.1", "--sensitivity", "1", "--save"]
    result = CliRunner().invoke(main, [*command, str(data)])
    assert result.exit_code == 2
    assert "--save must not overwrite a file that is no certificate" in result.stderr
    assert data.read_text() == "person_id\n1\n"
    for _ in range(2):
        assert CliRunner().invoke(main, [*command, str(saved)]).exit_code == 0


def test_a_certificate_is_saved_where_a_link_leads(tmp_path: Path) -> None:
    kept, link = tmp_path / "kept.json", tmp_path / "link.json"
    kept.touch()
    link.symlink_to(kept)
    asked = ["calibrate", "--delta", "0.1", "--sensitivity", "1", "--save"]
    assert CliRunner().invoke(main, [*asked, str(link)]).exit_code == 0
    assert link.is_symlink()
    ln.Certificate.from_json(kept.read_text(encoding="utf-8")).verify()
    assert CliRunner().invoke(main, [*asked, "/dev/null"]).exit_code == 0
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
