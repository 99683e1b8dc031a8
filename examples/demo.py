"""What leastnoise does, in ten seconds: calibrate, release, what it promises, a picture."""

import textwrap
from pathlib import Path

import leastnoise as ln
from leastnoise import plots


def main() -> None:
    """Show the main job."""
    say("Promise: (ε, δ) = (0, 0.1). One person changes the answer by at most 1.")
    mechanism = ln.calibrate(ln.Privacy(delta=0.1), sensitivity=1)
    show("the noise", mechanism.noise)
    show("expected |error|", f"{float(mechanism.cost)}")
    show("proved", mechanism.certificate)
    mechanism.certificate.verify()
    show("checked again", "in exact rationals, without trusting the finder")

    say("Release the true answer 42, three times (each time is spent):")
    for _ in range(3):
        show("released", mechanism.release(42))

    say(mechanism.explain())

    picture = plots.save(plots.density(mechanism), Path("demo.png"))
    say(f"A picture of it: {picture}")


def say(text: str) -> None:
    """Print a paragraph."""
    print(f"\n{textwrap.fill(text, 88)}")


def show(name: str, what: object) -> None:
    """Print a named result."""
    print(f"  {name:<17} {what}")


if __name__ == "__main__":
    main()
