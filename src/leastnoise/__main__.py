"""``python -m leastnoise`` is the command ``leastnoise``."""

from leastnoise.cli import main

main(prog_name="leastnoise")
