"""A line on the terminal while a command waits for one long call."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

import click

_PATIENCE = 2


@contextmanager
def waiting(doing: str) -> Iterator[Callable[[str], None]]:
    """Say on the error stream what is being done once it takes long, and only on a terminal.

    The block gets a function by which it can say that it does something else from now on. It prints
    nothing itself: the line is wiped when it has ended.
    """
    now = [doing]
    if sys.stderr is None or not sys.stderr.isatty():
        yield now.append
        return
    ended = Event()
    telling = Thread(target=_tell, args=(now, ended), daemon=True)
    telling.start()
    try:
        yield now.append
    finally:
        ended.set()
        telling.join()


def _tell(now: list[str], ended: Event) -> None:
    """Write the seconds that have passed until it has ended; then wipe the line."""
    longest, seconds = 0, _PATIENCE
    if not ended.wait(_PATIENCE):
        while True:
            line = f"leastnoise: {now[-1]}, {seconds} s"
            click.echo(f"\r{line:<{longest}}", nl=False, err=True)
            longest = max(longest, len(line))
            if ended.wait(1):
                break
            seconds += 1
    if longest:
        click.echo(f"\r{' ' * longest}\r", nl=False, err=True)
