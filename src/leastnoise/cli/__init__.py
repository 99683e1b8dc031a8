"""The command line: each command parses, makes one library call and prints.

A command is a file named after it, which is loaded when the command is first asked for.
"""

from leastnoise.cli.app import main

__all__ = [
    "main",
]
