"""Mutants: each known way to get the guarantee slightly wrong is caught by some test."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long  # they test the tests: a minute and a half

ROOT = Path(__file__).resolve().parents[2]
# The tests that must catch them; the control below runs the same ones on the code as it is.
WORDS = "tests/core/test_sampling.py::test_every_word_enumerated_gives_every_ticket_equally_often"
LAW = "tests/core/test_sampling.py::test_every_tape_enumerated_gives_the_claimed_law"
BULK = "tests/core/test_sampling.py::test_bulk_and_single_draws_agree_on_one_tape"
ROUNDING = "tests/core/test_exact.py::test_rounding_moves_with_the_lattice"
EDGES = "tests/core/test_exact.py::test_fast_rounding_is_exact_rounding_at_the_edges_of_cells"
THEOREM_3 = "tests/calibration/test_line.py::test_theorem_3_exactly"
TAMPERED = (
    "tests/certificate/test_certificate.py::test_a_promise_smaller_by_a_trillionth_is_refused"
)
DISTANCE = (
    "tests/core/test_profile_curves.py::test_the_worst_distance_is_the_largest_over_all_moves"
)
INVERSION = "tests/core/test_inversion.py"
STAIRCASE = "tests/core/test_staircase.py"
DECIDED = f"{INVERSION}::test_every_word_of_every_length_is_decided_iff_it_can_be"
RUNS = f"{INVERSION}::test_adversarial_words_land_where_exact_inversion_puts_them"
DIGITS = f"{STAIRCASE}::test_digits_one_by_one_and_together_are_the_same"
PARTS = f"{STAIRCASE}::test_every_pair_of_parts_gives_one_index_of_their_weight"
STEEPER = f"{STAIRCASE}::test_a_ratio_a_hair_smaller_is_not_private"
WINDOW = (
    "tests/certificate/test_lattice_bound.py::"
    "test_multipliers_of_a_window_too_small_prove_no_more_than_the_truth"
)
FLOORS = "tests/certificate/test_lattice_bound.py::test_floors_lie_below_the_cost"
CHANGED = "tests/certificate/test_document.py::test_any_change_is_refused"
DISTANCES = "tests/core/test_steps.py::test_the_profile_is_brute_force_over_a_grid_of_moves"
LOSSES = "tests/accounting/test_privacy_loss.py"
CHORDS = f"{LOSSES}::test_chords_lie_above_and_the_hull_below"
TRIMMED = f"{LOSSES}::test_trimming_moves_losses_to_the_stated_side"
CONVOLVED = f"{LOSSES}::test_convolving_in_floats_would_break_the_bound"
LEDGER, CHAIN, SHARED = (f"tests/ledger/test_{of}.py" for of in ("ledger", "chain", "shared"))
CHARGED_FIRST = f"{LEDGER}::test_the_charge_is_on_disk_before_noise_is_drawn"
JUST_REACHED = f"{LEDGER}::test_a_limit_is_never_passed_and_just_reached"
DELTA_ALONE = f"{LEDGER}::test_a_delta_alone_can_pass_a_limit"
ANALYSTS = f"{LEDGER}::test_limits_of_data_sets_and_analysts_hold_together"
ONE_QUESTION = f"{LEDGER}::test_a_key_stands_for_one_question"
LONG_SUMS = f"{CHAIN}::test_a_sum_that_grows_too_long_is_never_too_small"
HAIR = f"{CHAIN}::test_a_sum_that_just_fits_and_one_a_hair_above"
EDITED = f"{CHAIN}::test_an_edited_field_is_noticed"
EDITED_LATER = f"{CHAIN}::test_a_row_that_is_damaged_while_the_ledger_is_open_gives_no_answer"
OLDER = f"{CHAIN}::test_an_older_copy_is_told_by_a_head_or_a_log"
WITNESSED = f"{CHAIN}::test_an_answer_that_was_stored_but_not_witnessed_is_witnessed_by_the_retry"
FORKED = f"{SHARED}::test_a_ledger_can_be_used_on_both_sides_of_a_fork"
ON_DISK = f"{SHARED}::test_a_commit_is_on_disk_when_it_returns"
TESTS = [
    CHARGED_FIRST,
    JUST_REACHED,
    DELTA_ALONE,
    ANALYSTS,
    ONE_QUESTION,
    LONG_SUMS,
    HAIR,
    EDITED,
    EDITED_LATER,
    OLDER,
    WITNESSED,
    FORKED,
    ON_DISK,
    CHORDS,
    TRIMMED,
    CONVOLVED,
    WINDOW,
    FLOORS,
    CHANGED,
    DISTANCES,
    DECIDED,
    RUNS,
    DIGITS,
    PARTS,
    STEEPER,
    WORDS,
    LAW,
    BULK,
    ROUNDING,
    EDGES,
    THEOREM_3,
    TAMPERED,
    DISTANCE,
]

MUTANTS = {
    "width × 0.99": (
        "core/noise/uniform.py",
        "reach = ceil(self.width / sensitivity * protected - Fraction(1, 2))",
        "reach = ceil(self.width / sensitivity * protected * Fraction(99, 100) - Fraction(1, 2))",
        THEOREM_3,
    ),
    "width × 0.99 on the line, unchecked": (
        "certificate/certificate.py",
        "        check_privacy(self.noise, self.privacy, sensitivity=self.sensitivity)\n",
        "        check_privacy(self.noise, self.privacy, sensitivity=self.sensitivity * 99 / "
        "100)\n",
        TAMPERED,
    ),
    "atom off by one unit": (
        "core/noise/uniform.py",
        "atom=floor(spare)",
        "atom=floor(spare) + 1",
        THEOREM_3,
    ),
    "<= for < when refusing a word": (
        "core/sampling/sampler.py",
        "low < (1 << bits) % total",
        "low <= (1 << bits) % total",
        WORDS,
    ),
    "% instead of refusing words": (
        "core/sampling/sampler.py",
        "    product = word * total\n",
        "    return word % total\n    product = word * total\n",
        WORDS,
    ),
    "no word refused in bulk": (
        "core/arrays/draw.py",
        "words * factor >= np.uint64((1 << 64) % total)",
        "words * factor >= np.uint64(0)",
        BULK,
    ),
    "half-even rounding": (
        "core/lattice.py",
        "return (2 * numerator * self._under + lower) // (2 * lower)",
        "return round(Fraction(numerator * self._under, lower))",
        ROUNDING,
    ),
    "floats decide at cell edges": (
        "core/arrays/release.py",
        "if scratch.min() < 2 * self.doubt:",
        "if scratch.min() < 0:",
        EDGES,
    ),
    "k for k + 1": (
        "core/lattice.py",
        "return step, ceil(sensitivity / step) + 1",
        "return step, ceil(sensitivity / step)",
        THEOREM_3,
    ),
    "k - 1 for k in the distance": (
        "core/noise/piecewise.py",
        "return self.central(sensitivity // self.step)",
        "return self.central(sensitivity // self.step - 1)",
        DISTANCE,
    ),
    "> for >= at the atom": (
        "core/noise/uniform.py",
        "if ticket >= self.total - self.atom:",
        "if ticket > self.total - self.atom:",
        LAW,
    ),
    "the first word decides, whatever it is": (
        "core/sampling/inversion.py",
        "return lowest if lowest == highest else None",
        "return lowest",
        DECIDED,
    ),
    "floats decide at the edges of points": (
        "core/arrays/lookup.py",
        "near = np.flatnonzero(places < 2 * self._doubt)",
        "near = np.flatnonzero(places == 0)",
        RUNS,
    ),
    "floats decide at the edges of runs": (
        "core/arrays/lookup.py",
        "unsure = np.flatnonzero(place - index < 2 * self._doubts[run])",
        "unsure = np.flatnonzero(place - index < 0)",
        RUNS,
    ),
    "thresholds decide for digits": (
        "core/arrays/lookup.py",
        "unsure = (unsigned - self._thresholds[place] <= 1) & (place > 0)",
        "unsure = place < 0",
        DIGITS,
    ),
    "the next period begun with its full weight": (
        "core/sampling/sampler.py",
        "end = Run(-law.steps, 1, fall * law.runs[0].weight)",
        "end = Run(-law.steps, 1, whole * law.runs[0].weight)",
        PARTS,
    ),
    "e^ε rounded up for a staircase": (
        "core/guarantee.py",
        "exponential(privacy.epsilon / periods).lower >= 1",
        "exponential(privacy.epsilon / periods).upper >= 1 - Fraction(1, 1 << 100)",
        STEEPER,
    ),
    "mass beyond the lattice charged too much": (
        "certificate/lattice_bound.py",
        "charges.append((1 - factor) * total / 2)",
        "charges.append(Fraction(total))",
        WINDOW,
    ),
    "no sag below the chords": (
        "certificate/lattice_bound.py",
        "low - max(before, after)",
        "low",
        FLOORS,
    ),
    "the longest move worst for any noise": (
        "core/profile/piecewise.py",
        "if self.falls:",
        "if self.pieces:",
        DISTANCES,
    ),
    "products of masses rounded down": (
        "accounting/privacy_loss.py",
        "return -(-exact >> self.grid.bits) if self.above else exact >> self.grid.bits",
        "return exact >> self.grid.bits",
        CONVOLVED,
    ),
    "losses beyond the highest forgotten": (
        "accounting/privacy_loss.py",
        "infinite += sum(masses[len(masses) - after :])",
        "infinite += 0",
        TRIMMED,
    ),
    "no sag below the chords of a curve": (
        "accounting/discretise.py",
        "values = [low - max(pair) for",
        "values = [low for",
        CHORDS,
    ),
    "what lies in a cell at its lower end": (
        "accounting/discretise.py",
        "(after << bits) - (one + low) * here + high * before",
        "(after << bits) - (one + high) * here + one * before",
        CHORDS,
    ),
    "no digest": (
        "certificate/document.py",
        'if content.pop("digest", None) != _digest(content):',
        'if not content.pop("digest", None):',
        CHANGED,
    ),
    "the sign of zero survives": (
        "core/arrays/release.py",
        "np.floor(scratch, out=out)",
        "np.copysign(np.floor(scratch), block, out=out)",
        EDGES,
    ),
    "drawn before it is charged": (
        "ledger/recording.py",
        "        receipt, stored = ledger.asked(spending(), self.key, fresh=self.fresh)\n",
        "        drawn = release()\n"
        "        release = lambda: drawn\n"
        "        receipt, stored = ledger.asked(spending(), self.key, fresh=self.fresh)\n",
        CHARGED_FIRST,
    ),
    "a limit that cannot be reached": (
        "ledger/accounts.py",
        "any(part > most for",
        "any(part >= most > 0 for",
        JUST_REACHED,
    ),
    "a limit passed by a hair": (
        "ledger/accounts.py",
        "any(part > most for",
        "any(float(part) > float(most) for",
        HAIR,
    ),
    "the δ of a charge forgotten": (
        "ledger/accounts.py",
        "zip(total, limit, strict=True)",
        "zip(total[:1], limit[:1], strict=True)",
        DELTA_ALONE,
    ),
    "an analyst's limit forgotten": (
        "ledger/accounts.py",
        "        for name in _names(dataset, analyst):\n            limit = self",
        "        for name in _names(dataset, None):\n            limit = self",
        ANALYSTS,
    ),
    "a long sum rounded down": (
        "ledger/accounts.py",
        "Fraction(-(-(total.numerator << _LONGEST) // total.denominator), 1 << _LONGEST)",
        "Fraction((total.numerator << _LONGEST) // total.denominator, 1 << _LONGEST)",
        LONG_SUMS,
    ),
    "any promise under a key": (
        "ledger/ledger.py",
        "_same_question(key, row.content, body)",
        "_same_question(key, row.content, row.content)",
        ONE_QUESTION,
    ),
    "no hash checked": (
        "ledger/accounts.py",
        "if row.version != VERSION or row.seq != seq or row.hashed(before) != row.hash:",
        "if not row.hash:",
        EDITED,
    ),
    "rows read out of turn unchecked": (
        "ledger/chain.py",
        "if row.hash != row.hashed(",
        "if not row.hashed(",
        EDITED_LATER,
    ),
    "the witness not asked": (
        "ledger/chain.py",
        "wanted = [*wanted, *self._witness.heads()]",
        "wanted = [*wanted, *self._witness.heads()[:0]]",
        OLDER,
    ),
    "a retry not witnessed": (
        "ledger/chain.py",
        "            # Also of a row that somebody wrote who did not live to note it.\n",
        "            self._noted, before = known.head, self._noted\n"
        "            if before == self._noted:\n"
        "                return\n"
        "            self._witness and self._witness.note(known.head)\n",
        WITNESSED,
    ),
    "open across a fork": (
        "ledger/stores/sqlite.py",
        "        before=_fork,\n",
        "        before=_ONE.acquire,\n",
        FORKED,
    ),
    "a commit that is not on disk": (
        "ledger/stores/sqlite.py",
        "PRAGMA synchronous = FULL",
        "PRAGMA synchronous = NORMAL",
        ON_DISK,
    ),
}


def run(package: Path, *tests: str) -> subprocess.CompletedProcess[str]:
    """Run tests against a copy of the package."""
    environment = {**os.environ, "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"}
    cache = f"cache_dir={package.parent / 'cache'}"
    # A failure is wanted here; explaining it, at length where CI is set, is not.
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "--assert=plain", "-o", cache]
    command += ["--hypothesis-profile", "first-failure", *tests]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_caught(name: str, tmp_path: Path) -> None:
    file, right, wrong, test = MUTANTS[name]
    shutil.copytree(ROOT / "src", tmp_path / "src")
    target = tmp_path / "src" / "leastnoise" / file
    text = target.read_text()
    assert text.count(right) == 1, "the mutant's place has moved: update this table"
    target.write_text(text.replace(right, wrong))
    finished = run(tmp_path / "src", test)
    assert finished.returncode == 1, finished.stdout[-2000:]  # 1: the test ran and failed


def test_the_copy_without_a_mutation_passes(tmp_path: Path) -> None:
    """The control: it is the mutation that fails, not the copy."""
    shutil.copytree(ROOT / "src", tmp_path / "src")
    finished = run(tmp_path / "src", *TESTS)
    assert finished.returncode == 0, finished.stdout[-2000:]
