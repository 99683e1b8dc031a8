"""What every screen of the command line must look like."""

WIDTH = 80


def assert_readable(text: str) -> None:
    """Assert that an error is short, fits 80 columns, and is indented below its first line."""
    lines = text.splitlines()
    assert len(lines) <= 8, text
    assert all(len(line) <= WIDTH for line in lines), text
    assert all(line.startswith("  ") for line in lines[1:]), text


def unwrapped(text: str) -> str:
    """Return a screen as one line, so that a sentence can be looked for."""
    return " ".join(text.split())
