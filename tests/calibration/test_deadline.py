"""A search ends by its clock: the clock is consulted, and what was verified by then is returned."""

import io
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

import leastnoise as ln
from leastnoise.calibration import solve as solving
from leastnoise.calibration.deadline import Deadline
from leastnoise.calibration.finder import find_noise
from leastnoise.calibration.problem import Effort, Problem
from leastnoise.calibration.solve import Bracket, Search, Solution, narrow
from leastnoise.certificate import CanonicalBound, Frame
from leastnoise.core.noise import DiscreteSteps, Run
from leastnoise.rendering import Progress

PROBLEM = Problem(ln.Privacy(1, "0.06"), Fraction(1), ln.l2, False, "any")


class Clock:
    """A clock that advances by ``tick`` seconds whenever it is read."""

    def __init__(self, tick: float) -> None:
        self.now, self.tick, self.reads = 0.0, tick, 0

    def __call__(self) -> float:
        self.reads += 1
        self.now += self.tick
        return self.now


@pytest.fixture
def frames(monkeypatch: pytest.MonkeyPatch) -> list[Frame]:
    """The lattices that are solved, in order."""
    solved: list[Frame] = []
    plain = solving.solve

    def watched(problem: Problem, frame: Frame, *rest: Any) -> Solution:
        solved.append(frame)
        return plain(problem, frame, *rest)

    monkeypatch.setattr(solving, "solve", watched)
    monkeypatch.setenv("LEASTNOISE_CACHE", "off")
    return solved


def test_when_the_time_is_over_nothing_is_solved(frames: list[Frame]) -> None:
    """The closed form is verified and returned."""
    noise, certificate = find_noise(PROBLEM, Effort(seconds=5.0), clock=Clock(tick=100.0))
    assert certificate.verified
    assert not frames
    assert noise == find_noise(PROBLEM, Effort(solve=False))[0]


def test_a_clock_that_stands_still_lets_the_solver_finish(frames: list[Frame]) -> None:
    """The control: with the same number of seconds the gap is reached, over several lattices."""
    _, certificate = find_noise(PROBLEM, Effort(seconds=5.0), clock=Clock(tick=0.0))
    assert certificate.gap <= Effort().gap
    assert len(frames) > 1


def test_a_fast_clock_ends_the_search_earlier(frames: list[Frame]) -> None:
    effort = Effort(gap=Fraction(1, 10**6), seconds=5.0)
    counted = []
    for tick in (0.05, 0.5):
        frames.clear()
        _, certificate = find_noise(PROBLEM, effort, clock=Clock(tick))
        assert certificate.verified
        counted.append(len(frames))
    assert counted[1] < counted[0]


def test_the_solver_leaves_time_to_verify() -> None:
    search = Search(PROBLEM, Fraction(1, 1000), Deadline(10.0, lambda: 0.0))
    assert search.solver_deadline.left == 10
    search.verifying = 3.0
    assert search.solver_deadline.left == 4
    frame = search.first_frame()
    solved = Solution(frame, 3.9, ())
    assert search.next_frame(solved, 0.5) is not None
    assert search.next_frame(replace(solved, took=4.1), 0.5) is None


def test_lattices_that_cannot_reach_the_gap_are_not_refined_for_long() -> None:
    """The gap 0.008 + c/m² never comes to 0.001: the search ends near 0.008."""
    problem = replace(PROBLEM, sensitivity=Fraction(100), integer=True, cost=ln.l1)
    search = Search(problem, Fraction(1, 1000), Deadline(1e9, lambda: 0.0))
    frame: Frame | None = search.first_frame()
    cells: list[int] = []
    while frame is not None and len(cells) < 50:
        cells.append(frame.cells)
        frame = search.next_frame(Solution(frame, 1.0, ()), 0.008 + 1.6 / frame.cells**2)
    assert len(cells) < 6
    assert 1.6 / cells[-1] ** 2 < 0.25 * 0.008
    # The control: without that limit the search goes on until the gap is reached.
    search = Search(problem, Fraction(1, 1000), Deadline(1e9, lambda: 0.0))
    frame = search.first_frame()
    while frame is not None:
        last = frame
        frame = search.next_frame(Solution(frame, 1.0, ()), 1.6 / frame.cells**2)
    assert 1.6 / last.cells**2 <= 0.001


def test_noise_that_rounding_took_out_of_its_class_is_not_taken() -> None:
    """calibrate(Privacy("0.5", "1e-6"), sensitivity=200, integer=True) failed because of it."""
    problem = Problem(ln.Privacy(1, "0.1"), Fraction(3), ln.l1, True, "unimodal")
    noise = find_noise(problem, Effort(solve=False))[0]
    bracket = Bracket.of(problem, noise, CanonicalBound(integer=True))
    peaks = DiscreteSteps(Fraction(1), (Run(-1, 1, 1), Run(1, 1, 1)))
    solution = Solution(Frame("points", 3, 3), 0.0, (), noise=peaks)
    assert peaks.expected(ln.l1) < bracket.cost
    assert bracket.tightened_by(solution).noise is noise
    loose = replace(bracket, problem=replace(problem, shape="any"))
    assert loose.tightened_by(solution).noise is peaks


def test_a_deadline_is_asked_before_each_lattice() -> None:
    noise = find_noise(PROBLEM, Effort(solve=False))[0]
    bracket = Bracket.of(PROBLEM, noise, CanonicalBound(integer=False))
    said: list[str] = []
    over = Deadline(0.0, lambda: 1.0)
    assert narrow(bracket, gap=Fraction(1, 10**6), deadline=over, progress=said.append) is bracket
    assert not said


def _stream(module: str, terminal: bool) -> io.StringIO:
    methods: dict[str, Callable[[Any], bool] | str] = {
        "isatty": lambda _: terminal,
        "__module__": module,
    }
    made: io.StringIO = type("Stream", (io.StringIO,), methods)()
    return made


@pytest.mark.parametrize(
    ("module", "terminal", "shown"),
    [("io", True, True), ("ipykernel.iostream", False, True), ("io", False, False)],
)
def test_progress_is_shown_where_somebody_sees_it(
    module: str, terminal: bool, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = _stream(module, terminal)
    monkeypatch.setattr("sys.stderr", stream)
    clock = Clock(tick=0.0)
    with Progress("starting", clock) as report:
        report("too early")
        assert not stream.getvalue()
        clock.now = 3.0
        report("solving")
    assert ("leastnoise: solving, 3 s" in stream.getvalue()) == shown
    assert stream.getvalue().endswith("\r") == shown


def test_progress_inside_progress_reports_on_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = _stream("io", terminal=True)
    monkeypatch.setattr("sys.stderr", stream)
    clock = Clock(tick=0.0)
    with Progress("outside", clock):
        clock.now = 3.0
        with Progress("inside") as report:
            report("further inside")
        # One reporter alone wipes the line, at the end of the outer block.
        assert not stream.getvalue().endswith("\r")
    said = [line.strip() for line in stream.getvalue().split("\r") if line.strip()]
    words = ["inside", "further inside", "outside"]
    assert said == [f"leastnoise: {word}, 3 s" for word in words]
