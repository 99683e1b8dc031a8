"""Draws: every word enumerated, both routes on one tape, and the distribution that comes out."""

import multiprocessing
import os
import pickle
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import leastnoise as ln
from leastnoise.core.arrays import draw as bulk
from leastnoise.core.arrays import prepare_array
from leastnoise.core.lattice import Grid, Run
from leastnoise.core.noise import DiscreteSteps, Laplace, LatticeNoise, Rounded
from leastnoise.core.noise.uniform import DiscreteUniform
from leastnoise.core.release import Releaser
from leastnoise.core.sampling.entropy import CipherTape, SystemTape, Tape
from leastnoise.core.sampling.schemes import ticket_if_accepted, uniform_below, word_bits
from tests.support.confidence_intervals import FALSE_ALARM, clopper_pearson
from tests.support.tapes import Replay, with_checks

DISTRIBUTIONS = [
    DiscreteUniform(reach=0),
    DiscreteUniform(reach=2, atom=3),
    DiscreteUniform(reach=4, level=2, rim=1),
    DiscreteUniform(reach=1, level=7, rim=7, atom=11),
    DiscreteUniform(reach=0, level=18, rim=1),
    DiscreteUniform(reach=5, level=3, rim=2, atom=1),
]


@pytest.mark.parametrize("bits", range(1, 11))
def test_every_word_enumerated_gives_every_ticket_equally_often(bits: int) -> None:
    for total in range(1, (1 << bits) + 1):
        found = Counter(ticket_if_accepted(word, bits, total) for word in range(1 << bits))
        refused = found.pop(None, 0)
        assert refused == (1 << bits) % total
        assert found == dict.fromkeys(range(total), (1 << bits) // total)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS, ids=repr)
@pytest.mark.parametrize("bits", [6, 9])
def test_every_tape_enumerated_gives_the_claimed_law(
    distribution: DiscreteUniform, bits: int
) -> None:
    """Two words deep: the exact pmf is the share of accepted tapes, and equals the rationals."""
    pmf: Counter[int] = Counter()
    for first in range(1 << bits):
        found = ticket_if_accepted(first, bits, distribution.total)
        if found is not None:
            pmf[distribution.scheme.index_of(found)] += 1 << bits
            continue
        for second in range(1 << bits):
            again = ticket_if_accepted(second, bits, distribution.total)
            if again is not None:
                pmf[distribution.scheme.index_of(again)] += 1
    decided = sum(pmf.values())
    assert {j: Fraction(n, decided) for j, n in pmf.items()} == {
        j: Fraction(distribution.weight(j), distribution.total)
        for j in range(-distribution.farthest, distribution.farthest + 1)
    }


@given(st.integers(1, 1 << 200), st.data())
def test_long_words_are_mapped_in_order(total: int, data: st.DataObject) -> None:
    """Words just before and at the edge of a ticket land on either side of it."""
    bits = word_bits(total)
    edge = data.draw(st.integers(1, total)) if total > 1 else 1
    first = -(-(edge << bits) // total)
    at, before = (
        ticket_if_accepted(first % (1 << bits), bits, total),
        ticket_if_accepted(first - 1, bits, total),
    )
    assert before in (edge - 1, None)
    assert at in (edge % total, None)
    assert (1 << bits) >= 4 * total  # so that a word is refused at most one time in four


def edge_words(total: int) -> list[int]:
    """Words at and around the edges of tickets, where refusal and rounding are decided."""
    rng = np.random.default_rng(7)
    tickets = [0, 1, total // 2, total - 1, *(int(t) for t in rng.integers(0, total, 200))]
    words = [-(-(t << 64) // total) + shift for t in tickets for shift in (-2, -1, 0, 1, 2)]
    return [w for w in words if 0 <= w < 1 << 64] + [0, (1 << 64) - 1]


@pytest.mark.parametrize(
    "distribution",
    [
        *DISTRIBUTIONS,
        DiscreteUniform(reach=(1 << 23) + 5, step="1/1048576"),
        DiscreteUniform(reach=1 << 20, atom=12345677),
        DiscreteUniform(reach=1 << 39),
        DiscreteUniform(reach=1 << 50),
        DiscreteUniform(reach=(1 << 51) + 3, level=5, rim=2, atom=1 << 58),
        DiscreteUniform(reach=3, atom=(1 << 61) + 1),
        DiscreteUniform(reach=3, level=(1 << 57) + 3, rim=12, atom=9),
    ],
    ids=repr,
)
def test_bulk_and_single_draws_agree_on_one_tape(
    distribution: DiscreteUniform, replay: Callable[[list[int]], CipherTape]
) -> None:
    rng = np.random.default_rng(3)
    words = [
        *edge_words(distribution.total),
        *rng.integers(0, 1 << 64, 4000, dtype=np.uint64).tolist(),
    ]
    kept = [w for w in words if ticket_if_accepted(w, 64, distribution.total) is not None]
    tape = replay(words)
    singles = [distribution.scheme.draw(tape) for _ in kept]
    spare = words + [1 << 63] * (len(words) - len(kept))  # for the words that are refused
    drawn: list[float] = []
    for block, _, _ in bulk.sample_blocks(distribution.scheme, len(kept), replay(spare)):
        drawn += block.tolist()
    assert np.array_equal(drawn, singles)
    assert len(kept) < len(words) or distribution.total & (distribution.total - 1) == 0


@pytest.mark.parametrize("count", [1, 199, 200, 1 << 18])
def test_several_are_drawn_by_the_law_and_each_anew(count: int) -> None:
    """Few one by one, many in blocks of which the last is short: as often as the distribution
    says."""
    distribution = DiscreteUniform(reach=2, atom=3)
    releaser = Releaser(distribution, ln.Privacy(delta="1/2"), Fraction(1), integer=True)
    drawn = Counter[int]()
    for _ in range(-(-20_000 // count)):
        found = releaser.add_noise_to_steps([7] * count, Fraction(3))
        assert len(found) == count
        drawn.update(number - 21 for number in found)

    def likely(weights: dict[int, int]) -> bool:
        """Whether each point came up as often as it should, wrongly not at a rate of 1e-9."""
        each = FALSE_ALARM / len(weights)
        shares = {at: weight / sum(weights.values()) for at, weight in weights.items()}
        return all(
            stats.binomtest(drawn[at], drawn.total(), share).pvalue > each
            for at, share in shares.items()
        )

    weights = {index: distribution.weight(index) for index in range(-2, 3)}
    assert set(drawn) == set(weights)
    assert likely(weights)
    assert not likely(dict.fromkeys(weights, 1))  # the control: the mass at 0 left out


def test_without_the_integers_the_float_filter_would_differ() -> None:
    """The control for the agreement above: plain float rounding of the same words is wrong."""
    distribution = DiscreteUniform(reach=(1 << 23) + 5)
    words = [
        w
        for w in edge_words(distribution.total)
        if ticket_if_accepted(w, 64, distribution.total) is not None
    ]
    centred = np.array([w - (1 << 63) for w in words])
    naive = np.floor(centred * (distribution.total * 2.0**-64) + 0.5)
    exact = [
        distribution.scheme.index_of(ticket_if_accepted(w, 64, distribution.total) or 0)
        for w in words
    ]
    assert not np.array_equal(naive, exact)


def test_both_production_tapes_read_whole_words() -> None:
    for tape in (SystemTape(), CipherTape()):
        words = [tape.word(64) for _ in range(64)]
        assert all(0 <= word < 1 << 64 for word in words)
        assert len(set(words)) == 64
        assert any(word >> 63 for word in words)
        buffer = bytearray(4096)
        tape.fill(buffer)
        assert len(set(buffer)) > 200
        assert 0 <= uniform_below(10**40, tape) < 10**40


@pytest.mark.parametrize("tape", [SystemTape, CipherTape])
def test_words_are_what_arrays_read_and_what_is_read_at_once(
    tape: Callable[[], Tape], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the same bits of the operating system: one by one, all in one, and as int64."""
    given = bytes(np.random.default_rng(6).integers(0, 256, 64, dtype=np.uint8))

    def replayed() -> Tape:
        handed = iter(given * 4)
        monkeypatch.setattr(
            "leastnoise.core.sampling.entropy.urandom",
            with_checks(lambda n: bytes(islice(handed, n))),
        )
        return tape()

    one = replayed()
    singles = [one.word(64) for _ in range(5)]
    joined = replayed().words(5)
    assert [(joined >> 64 * i) % (1 << 64) for i in range(5)] == singles
    assert joined >> 64 * 5 == 0
    buffer = bytearray(40)
    replayed().fill(buffer)
    assert [int(word) + (1 << 63) for word in np.frombuffer(buffer, "<i8")] == singles
    assert len(set(singles)) == 5


def test_what_is_in_a_buffer_is_hidden_by_bits_that_nothing_else_was_hidden_by(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A used buffer gets the next bits of the key stream on top of the last ones, not the last."""
    monkeypatch.setattr(
        "leastnoise.core.sampling.entropy.urandom", with_checks(lambda n: bytes(range(n)))
    )
    stream, used, other = bytearray(128), bytearray(64), bytearray(b"x" * 64)
    CipherTape().fill(stream)
    tape = CipherTape()
    tape.fill(used)
    assert used == stream[:64]
    tape.fill(used)
    assert used == bytes(a ^ b for a, b in zip(stream[:64], stream[64:], strict=True))
    CipherTape().fill(other)
    assert other == bytes(a ^ ord("x") for a in stream[:64])


def test_equal_noise_shares_a_scheme_and_pickling_leaves_it_out() -> None:
    """Tables are built once for all noise that is equal; a copy is sampled like the original."""
    runs = (Run(-1, 3, 2), Run(2, 1, 5))
    pairs: list[tuple[LatticeNoise, LatticeNoise]] = [
        (DiscreteSteps(Fraction(1), runs), DiscreteSteps(Fraction(1, 2), runs)),
        (Rounded(Fraction(1), Laplace(3)), Rounded(Fraction(1), Laplace(3))),
    ]
    for noise, same in pairs:
        assert noise.scheme is same.scheme
        copied = pickle.loads(pickle.dumps(noise))
        assert copied == noise
        assert "scheme" not in vars(copied)
        assert copied.scheme is noise.scheme


def test_a_scheme_without_an_array_sampler_is_sampled_one_by_one() -> None:
    """Exactly, element by element: the same integers as of one draw after the other."""

    class Coin:
        reach = 1

        def draw(self, tape: Tape) -> int:
            return tape.word(64) >> 63

    words = np.random.default_rng(2).integers(0, 1 << 64, 300, dtype=np.uint64).tolist()
    bits = [word >> 63 for word in words]
    assert not bulk.fits(Coin())
    assert bulk.draw_integers(Coin(), 300, Replay(words)) == bits
    values = np.arange(300)
    for integer in (True, False):
        draw = prepare_array(
            values, Grid(Fraction(1)), Coin(), partial(Replay, words), integer=integer
        )
        assert draw().tolist() == (values + bits).tolist()


@pytest.mark.parametrize("delta", ["0.1", "0.3", "0.75"])
def test_the_mass_of_the_central_points_is_delta(delta: str) -> None:
    """A one-sample Clopper–Pearson test through release; false alarms at most 1e-9 a case."""
    mechanism = ln.calibrate(ln.Privacy(delta=delta), sensitivity=1)
    trials = 6_000_000
    values = mechanism.release(np.zeros(trials), allow_exact=True).values
    half = float(mechanism.effective_sensitivity) / 2
    low, high = clopper_pearson(int((abs(values) < half).sum()), trials, FALSE_ALARM)
    claimed = float(mechanism.discretized.noise.total_variation(mechanism.effective_sensitivity))
    assert low <= claimed <= high
    # The control: noise narrower by one part in a hundred is caught by the same interval.
    narrow = np.random.default_rng(5).uniform(-0.99, 0.99, trials) * float(mechanism.noise.radius)
    if not mechanism.exact_probability:
        low, high = clopper_pearson(int((abs(narrow) < half).sum()), trials, FALSE_ALARM)
        assert not low <= claimed <= high


@pytest.mark.parametrize("distribution", DISTRIBUTIONS, ids=repr)
def test_single_draws_follow_the_law(distribution: DiscreteUniform) -> None:
    """Every point's count lies in its Clopper–Pearson interval; false alarms at most 1e-9 a
    distribution."""
    trials, points = 40_000, 2 * distribution.farthest + 1
    tape = CipherTape()
    found = Counter(distribution.scheme.draw(tape) for _ in range(trials))
    for j in range(-distribution.farthest, distribution.farthest + 1):
        low, high = clopper_pearson(found[j], trials, FALSE_ALARM / points)
        assert low <= distribution.weight(j) / distribution.total <= high


def _child(queue: "multiprocessing.Queue[tuple[object, ...]]") -> None:
    mechanism = ln.calibrate(ln.Privacy(delta="1e-6"), sensitivity=1)
    single = mechanism.release(0).value
    queue.put((os.getpid(), single, *mechanism.release(np.zeros(4)).values.tolist()))


def test_forked_children_never_repeat_noise() -> None:
    """Loaded and used before the fork; a generator kept in memory is the control that repeats."""
    ln.calibrate(ln.Privacy(delta="1e-6"), sensitivity=1).release(np.zeros(4))
    context = multiprocessing.get_context("fork")
    queue: multiprocessing.Queue[tuple[object, ...]] = context.Queue()
    children = [context.Process(target=_child, args=(queue,)) for _ in range(6)]
    for child in children:
        child.start()
    drawn = [queue.get(timeout=60) for _ in children]
    for child in children:
        child.join()
    numbers = [number for pid, *rest in drawn for number in rest]
    assert len(set(numbers)) == len(numbers) == 30

    kept = np.random.default_rng()
    control: multiprocessing.Queue[float] = context.Queue()

    def repeats() -> None:
        control.put(kept.uniform())

    copies = [context.Process(target=repeats) for _ in range(2)]
    for copy in copies:
        copy.start()
    assert control.get(timeout=60) == control.get(timeout=60)
    for copy in copies:
        copy.join()
