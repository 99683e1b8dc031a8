"""What is loaded: no numpy to calibrate, and no more to check a certificate than in 0.5.0."""

import subprocess
import sys
from pathlib import Path

import pytest

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
CERTIFICATES = sorted(map(str, GOLDEN.glob("certificate-*.json")))
# How many modules and packages of leastnoise version 0.5.0 loaded (measured at commit db022fb): to
# check a certificate should not come to need the code that finds it. Since then there is one more
# kind of noise: that of one number of joint noise.
HELP_OF_CHECK = 55 + 1
CHECK = 56 + 1


def loaded(script: str) -> set[str]:
    """Return the names of the modules that a script loads."""
    script += "\nimport sys; print(*sys.modules)"
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, check=True, encoding="utf-8")
    return set(done.stdout.splitlines()[-1].split())


def ours(modules: set[str]) -> set[str]:
    return {name for name in modules if name.partition(".")[0] == "leastnoise"}


@pytest.mark.parametrize(
    "arguments",
    [
        "ln.Privacy(delta='0.1'), sensitivity=1",
        "ln.Privacy(delta='0.1'), sensitivity=3, integer=True",
        "ln.Privacy(1), sensitivity=1, integer=True",
        "ln.Privacy(1), sensitivity=1, solve=False",
        "ln.Privacy(1, '1e-6'), sensitivity=2, family='gaussian'",
    ],
)
def test_a_closed_form_is_found_without_numpy_or_the_solver(arguments: str) -> None:
    modules = loaded(f"import leastnoise as ln; ln.calibrate({arguments})")
    assert ours(modules)
    assert not {"numpy", "highspy"} & modules


def test_a_noise_that_is_solved_for_needs_the_solver() -> None:
    """The control: what is looked for above is found where it is needed."""
    solved = "ln.Privacy('0.5', '0.1'), sensitivity=1, cost=ln.lp('1/2'), gap='0.1'"
    modules = loaded(
        "import os, tempfile; os.environ['LEASTNOISE_CACHE'] = tempfile.mkdtemp()\n"
        f"import leastnoise as ln; ln.calibrate({solved})"
    )
    assert {"numpy", "highspy"} <= modules


def test_checking_loads_no_more_modules_than_in_0_5_0() -> None:
    asked = "from leastnoise.cli import main; main(['verify', '--help'], standalone_mode=False)"
    assert len(ours(loaded(asked))) <= HELP_OF_CHECK
    assert len(CERTIFICATES) > 20
    every = f"[main(['verify', file], standalone_mode=False) for file in {CERTIFICATES!r}]"
    modules = loaded(f"from leastnoise.cli import main; {every}")
    assert "leastnoise.certificate" in modules
    assert len(ours(modules)) <= CHECK
