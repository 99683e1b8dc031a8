"""The journeys of examples/, from their data to the last line that they print."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(name: str, folder: Path, **environment: str) -> str:
    """Run a script in an empty folder; return what it prints."""
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name)],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert environment or not done.stderr
    assert not list(folder.iterdir())
    return done.stdout


@pytest.mark.parametrize("name", ["analyst.py", "team.py", "spark_table.py", "researcher.py"])
def test_a_journey_is_short(name: str) -> None:
    assert len((EXAMPLES / name).read_text(encoding="utf-8").splitlines()) <= 80


def test_an_analyst_gets_from_a_file_to_a_published_table(tmp_path: Path) -> None:
    """The exact counts and means are computed from the rows that the script writes."""
    printed = run("analyst.py", tmp_path)
    # 20,000 visits of patients visit·7919 mod 8000: of the six remainders of a patient by 6, two
    # are of Köln, two of Bonn and two of Aachen.
    patients = [visit * 7_919 % 8_000 for visit in range(20_000)]
    clinics = [("Köln", "Bonn")[each % 2] if each % 3 else "Aachen" for each in patients]
    counts = re.findall(r"(?m)^(\w+) +(\d+) +\d+ to \d+$", printed)
    assert [name for name, _ in counts] == ["Aachen", "Bonn", "Köln"]
    (most,) = re.findall(r"(?m)^Max error +(\d+) in every row$", printed)
    for name, count in counts:
        assert abs(int(count) - clinics.count(name)) <= int(most)
    late = re.findall(r"(?m)^count: (\d+) ± \d+ \(95% confidence, max error (\d+)\)$", printed)
    # From day 181, the 1st of July; 17 o'clock is 540 minutes after 8.
    exact = sum(visit % 365 >= 181 and visit * 17 % 660 >= 540 for visit in range(20_000))
    assert [abs(int(count) - exact) <= int(most) for count, most in late] == [True]
    ages = [each % 90 if visit % 3 else None for visit, each in enumerate(patients)]
    fees = [20 + visit * 37 % 9_000 / 100 for visit in range(20_000)]
    known = [
        fee
        for fee, age, each in zip(fees, ages, patients, strict=True)
        if age is not None and age < 18 and each % 7
    ]
    found = re.findall(
        r"mean of fee, clipped to \[0, 200\]: ([0-9.]+)\n.*max error ([0-9.]+)", printed
    )
    ((mean, error),) = found
    assert abs(float(mean) - sum(known) / len(known)) <= float(error)
    assert "which may be published: clinic,value,low,high" in printed
    assert printed.endswith("Spent ε = 1, δ = 1e-6; remaining ε = 0, δ = 0.\n")


def test_three_analysts_share_a_card_and_a_budget(tmp_path: Path) -> None:
    printed = run("team.py", tmp_path)
    charged = re.findall(r"(?m)^(ann|bob|cyd) +(\d+) +(\d+)  charged: <count: ", printed)
    assert charged == [("ann", "100", "0"), ("bob", "100", "0"), ("cyd", "50", "50")]
    answers = re.findall(r"(?m)^(?:ann|A query of ann:) .*<(count: \d+ ± \d+) \(95%\)", printed)
    assert len(answers) == 2
    assert answers[0] == answers[1]
    for reason in (
        "A new query: +rejected: Not enough budget in allocation 'default'",
        r"Wider bounds: +rejected: people.toml, line \d+ allows bounds of 'income' within",
        "Another column: +rejected: Queries must not use the column 'hours': people.toml lists",
        r"Too large a share: +rejected: people.toml, line \d+ allows a share of at most 0.01",
    ):
        assert re.search(f"(?m)^{reason}", printed), reason
    assert "\n250 releases. Remaining: 0% of μ²" in printed


def test_a_researcher_verifies_and_compares_a_noise(tmp_path: Path) -> None:
    """δ at ε = 0 is the mass between −1/2 and 1/2: 24 + 23 of 1 + 2 + … + 24 = 300 parts.

    Of the other triangle, each side has steps of 1/4 with 40, 39, …, 1 parts.
    """
    parts = range(40, 0, -1)
    mean = sum(part * (place + 0.5) / 4 for place, part in enumerate(parts)) / sum(parts)
    assert mean == 3.375
    printed = run("researcher.py", tmp_path)
    assert "δ of a triangle of radius 6 at ε = 0: 47/300\n" in printed
    assert "So it is rejected: This noise does not satisfy ε = 0, δ = 0.1" in printed
    assert "A radius of 10 suffices: E|error| = 3.3750." in printed
    assert "The triangle costs 1.35 times the optimum." in printed
    assert ": optimal among symmetric unimodal noise (proved by a supporting line)." in printed
    ((largest,),) = [re.findall(r"largest error ([0-9.]+)\n", printed)]
    assert float(largest) <= 10.26  # and a lattice step on either side
    ((sampled,),) = [re.findall(r"in 100,000 samples: ([0-9.]+)\n", printed)]
    # By Hoeffding within 0.12 of the mean, but for 2·exp(−2·10⁵·0.12²/10²) < 1e-12.
    assert abs(float(sampled) - mean) < 0.12


@pytest.mark.long
def test_a_data_engineer_asks_a_folder_on_spark(tmp_path: Path) -> None:
    quiet = {"SPARK_LOCAL_IP": "127.0.0.1"}
    printed = run("spark_table.py", tmp_path, **quiet)
    counts = re.findall(r"(?m)^([1-7]) +(\d+) +\d+ to \d+$", printed)
    assert [day for day, _ in counts] == list("1234567")
    # A ride every 632 seconds, from Monday, the 1st of January 2024: a week has 604,800 seconds.
    days = [1 + ride * 632 % 604_800 // 86_400 for ride in range(50_000)]
    (most,) = re.findall(r"(?m)^Max error +(\d+) in every row$", printed)
    for day, count in counts:
        assert abs(int(count) - days.count(int(day))) <= int(most)
    assert "\nmean of fare, clipped to [0, 100]: " in printed
    assert "\nmedian of fare, clipped to [0, 100]: " in printed
    assert printed.endswith("Spent ε = 0.75, δ = 5e-7; remaining ε = 0.25, δ = 5e-7.\n")
