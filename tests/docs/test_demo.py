"""The demonstration runs, fits on a screen and shows only what may be published."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_demo_shows_its_four_steps_in_80_columns(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "examples" / "demo.py")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert [line[:2] for line in lines if line[:1].isdigit()] == ["1.", "2.", "3.", "4."]
    regions = [line.split()[0] for line in lines if " to " in line and line.startswith("   ")]
    assert regions[:5] == ["east", "islands", "north", "south", "west"]
    assert "rock" not in done.stdout
    assert done.stdout.count("BudgetExceeded: ") == 1
    assert done.stdout.count("Certificate, verified in exact arithmetic: ") == 2
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")
    assert {path.name for path in tmp_path.iterdir()} == {"demo.png"}
