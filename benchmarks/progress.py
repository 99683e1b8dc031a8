"""Progress messages of a run."""

import sys
import time

_START = time.monotonic()


def say(message: str) -> None:
    """Print a line to stderr, with the time since the start."""
    print(f"bench: {time.monotonic() - _START:6.1f} s  {message}", file=sys.stderr, flush=True)
