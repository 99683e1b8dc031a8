"""A generator of the operating system that fails is never used: nothing is released from it."""

import os
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import count, product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pytest

import leastnoise
from leastnoise.core.sampling import entropy
from leastnoise.core.sampling.entropy import CHECK_BYTES, REMEMBERED, SYSTEM, CipherTape
from leastnoise.errors import EntropyFailed
from leastnoise.mechanism import calibrate_pair
from tests.support.processes import forked, waited

ln: Any = leastnoise
MESSAGE = "random generator failed"


def raise_os_error(_: int) -> bytes:
    raise OSError("no entropy")


def raise_not_implemented(_: int) -> bytes:
    raise NotImplementedError


def raise_something(_: int) -> bytes:
    raise RuntimeError("7 is a secret")


BROKEN: dict[str, Callable[[int], Any]] = {
    "one byte short": lambda n: os.urandom(n - 1),
    "one byte long": lambda n: os.urandom(n + 1),
    "empty": lambda _: b"",
    "half": lambda n: os.urandom(n // 2),
    "all zeros": bytes,
    "all ones": lambda n: b"\xff" * n,
    "constant": lambda n: b"x" * n,
    "a word again and again": lambda n: (b"abcdefgh" * n)[:n],
    "a string": lambda n: "x" * n,
    "a list": lambda n: [0] * n,
    "None": lambda _: None,
    "an error": raise_os_error,
    "not there": raise_not_implemented,
    "another error": raise_something,
}


def noises() -> Iterator[tuple[str, Any]]:
    for name, options in {
        "laplace": {"privacy": ln.Privacy("0.2")},
        "integers": {"privacy": ln.Privacy("0.2"), "integer": True},
        "uniform": {"privacy": ln.Privacy(delta="0.1")},
        "gaussian": {"privacy": ln.Privacy("0.2", "1e-7"), "family": "gaussian"},
        "bounded": {"privacy": ln.Privacy("0.2", "1e-7"), "integer": True, "solve": False},
    }.items():
        yield name, ln.calibrate(sensitivity=1, **options)


MECHANISMS = dict(noises())
PAIR = calibrate_pair(ln.Privacy(1), sensitivity=1)
READS: dict[str, Callable[[], object]] = {
    "word": lambda: SYSTEM.word(64),
    "long word": lambda: SYSTEM.word(192),
    "words": lambda: SYSTEM.words(3),
    "fill": lambda: SYSTEM.fill(bytearray(4096)),
    "cipher": CipherTape,
    "pair": lambda: PAIR.release((1, 2)),
    **{name: partial(made.release, 7) for name, made in MECHANISMS.items()},
    **{
        f"{name}, {size}": partial(made.release, np.arange(size))
        for name, made in MECHANISMS.items()
        for size in (1, 1000)
    },
    "steps": lambda: MECHANISMS["integers"].releaser.add_noise_to_steps(
        [1, 2, 3], leastnoise.Privacy(1).epsilon
    ),
    "many steps": lambda: MECHANISMS["integers"].releaser.add_noise_to_steps(
        [*range(1000)], leastnoise.Privacy(1).epsilon
    ),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_nothing_comes_of_a_broken_generator(
    read: Callable[[], object], broken: Callable[[int], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    read()  # the control: it works with a generator that does
    monkeypatch.setattr(entropy, "urandom", broken)
    for _ in range(3):
        with pytest.raises(EntropyFailed, match=MESSAGE):
            read()


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_a_generator_that_repeats_itself_is_noticed_at_the_first_repetition(
    read: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks: dict[int, bytes] = {}
    monkeypatch.setattr(
        entropy, "urandom", lambda n: blocks[n] if n in blocks else blocks.setdefault(n, _fresh(n))
    )
    with suppress(EntropyFailed):  # some read several times
        read()
    for _ in range(2):
        with pytest.raises(EntropyFailed, match=MESSAGE):
            read()


def _fresh(size: int) -> bytes:
    return struct.pack("<QQ", size, size + 1) + os.urandom(size - CHECK_BYTES)


class Repeating:
    """A generator that returns the same bytes whenever the same number of them is read."""

    def __init__(self) -> None:
        self._blocks: dict[int, bytes] = {}

    def __call__(self, size: int) -> bytes:
        """Return the bytes of this size."""
        return self._blocks.setdefault(size, os.urandom(size))


@pytest.mark.parametrize("period", [2, 3, REMEMBERED - 1, REMEMBERED])
@pytest.mark.parametrize("before", [0, 1, REMEMBERED - 1, REMEMBERED, 2 * REMEMBERED - 1])
def test_a_repetition_is_noticed_whatever_was_read_in_between(
    period: int, before: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reads of different sizes in turn: the first one that is repeated is noticed."""
    for _ in range(before):
        SYSTEM.word(64)
    monkeypatch.setattr(entropy, "urandom", Repeating())
    for size in range(1, period + 1):
        SYSTEM.words(size)
    with pytest.raises(EntropyFailed, match=MESSAGE):
        SYSTEM.words(1)


def test_a_repetition_is_noticed_between_any_two_ways_to_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The check words come first, so also a prefix of what was read before is noticed."""
    reads = [READS[name] for name in ("word", "long word", "words", "fill", "cipher")]
    for one, other in product(reads, reads):
        stuck = partial(_first_bytes, os.urandom(1 << 13))
        monkeypatch.setattr(entropy, "urandom", stuck)
        one()
        with pytest.raises(EntropyFailed, match=MESSAGE):
            other()


def _first_bytes(block: bytes, size: int) -> bytes:
    return block[:size]


def test_a_quantile_does_not_repeat_its_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """It reads many bytes, then few, in turn."""
    table = ln.protect(
        pyarrow.table({"value": list(range(500))}), unit=None, max_rows=1, ledger=ln.UNRECORDED
    )
    ask = partial(table.median, "value", privacy=ln.Privacy("0.01"), bounds=(0, 1000))
    ask()
    monkeypatch.setattr(entropy, "urandom", Repeating())
    with suppress(EntropyFailed):
        ask()
    with pytest.raises(EntropyFailed, match=MESSAGE):
        ask()


def test_only_a_bounded_number_of_checks_is_remembered() -> None:
    for _ in range(10 * REMEMBERED):
        SYSTEM.word(64)
        assert len(vars(entropy)["_SEEN"]) <= 2 * REMEMBERED
    assert len(vars(entropy)["_SEEN"]) >= REMEMBERED


def test_an_interruption_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: int) -> bytes:
        raise KeyboardInterrupt("by hand")

    monkeypatch.setattr(entropy, "urandom", interrupt)
    for name in ("word", "words", "long word"):
        with pytest.raises(KeyboardInterrupt, match="by hand"):
            READS[name]()


def test_without_a_check_a_short_read_releases_the_exact_value() -> None:
    """The control: a tape like that of 0.5.0, with one byte too few. It is always 42."""

    class Unchecked:
        def word(self, bits: int) -> int:
            return int.from_bytes(os.urandom(bits // 8 - 1), "little") ^ (1 << (bits - 1))

    noise = ln.calibrate(ln.Privacy(delta="0.1"), sensitivity=1, integer=True).discretized.noise
    assert {42 + noise.scheme.draw(Unchecked()) for _ in range(100)} == {42}
    assert len({42 + noise.scheme.draw(SYSTEM) for _ in range(1000)}) > 1


def test_the_check_uses_no_byte_that_noise_is_made_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal words pass, as they must with their probability: else noise would not be exact."""
    numbers = count(1 << 40, 2)

    def stuck(size: int) -> bytes:
        number = next(numbers)
        return struct.pack("<QQ", number, number + 1) + bytes(size - CHECK_BYTES)

    monkeypatch.setattr(entropy, "urandom", stuck)
    assert {SYSTEM.word(64) for _ in range(5)} == {1 << 63}
    assert len({SYSTEM.words(2) for _ in range(5)}) == 1
    assert len({SYSTEM.word(128) for _ in range(5)}) == 1


def test_forks_and_threads_do_not_raise_false_alarms_nor_repeat_bits(tmp_path: Path) -> None:
    SYSTEM.word(64)

    def read(name: str) -> None:
        (tmp_path / name).write_text(" ".join(str(SYSTEM.word(64)) for _ in range(1000)))

    assert waited([forked(partial(read, str(i))) for i in range(4)]) == [0] * 4
    read("parent")
    words = [word for file in tmp_path.iterdir() for word in file.read_text().split()]
    assert len(set(words)) == len(words) == 5000  # two alike with probability below 10⁻¹²


def test_a_charge_stands_and_is_answered_under_the_same_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mechanism = MECHANISMS["integers"]
    with ln.Ledger(tmp_path / "ledger", limit=ln.Privacy(1)) as ledger:
        with monkeypatch.context() as broken:
            broken.setattr(entropy, "urandom", lambda n: os.urandom(n - 1))
            for value in (7, np.arange(5)):
                with pytest.raises(EntropyFailed, match="A charge in a ledger stands"):
                    mechanism.release(value, ledger=ledger, key=type(value).__name__)
        assert ledger.spent == ln.Privacy("0.4")
        assert [row.kind for row in ledger.rows()].count("answer") == 0
        mechanism.release(7, ledger=ledger, key="int")
        assert ledger.spent == ln.Privacy("0.4")
