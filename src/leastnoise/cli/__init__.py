"""The command line: each command parses, makes one library call and prints.

A command is loaded when it is first used.
"""

from leastnoise.cli.app import main

__all__ = [
    "main",
]
