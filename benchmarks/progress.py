"""What a run says while it runs."""

import sys
import time

_BEGUN = time.monotonic()


def say(what: str) -> None:
    """Print a line to stderr, with the time since the start."""
    print(f"bench: {time.monotonic() - _BEGUN:6.1f} s  {what}", file=sys.stderr, flush=True)
