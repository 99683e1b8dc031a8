"""Show the main jobs of leastnoise in a few seconds: answer, enforce a budget, compare, verify."""

import tempfile
import textwrap
from pathlib import Path

import leastnoise as ln
from leastnoise import plots
from leastnoise.tables import census

LIMIT = ln.Privacy(1, "1e-6")
WIDTH = 80


def main() -> None:
    """Run the four steps."""
    with tempfile.TemporaryDirectory() as folder:
        ledger = ln.Ledger(Path(folder) / "people.ledger", limit=LIMIT)
        people = ln.protect(census(), unit="person_id", max_rows=1, ledger=ledger)
        with ledger, people:
            say("1. Ask a table: a sample census of 8,000 invented people.")
            say(f"Budget for steps 1 and 2: {named(LIMIT)} per person.", 3)
            say('>>> people.count(by="region", max_groups=1,', 3)
            print('   ...              privacy=Privacy("0.2", "1e-7"))\n')
            regions = people.count(by="region", max_groups=1, privacy=ln.Privacy("0.2", "1e-7"))
            print("   region   count  95% interval")
            for region, answer in regions:
                low, high = answer.interval()
                print(f"   {region:7}  {int(answer.value):5}  {int(low)} to {int(high)}")
            most = int(regions["north"].max_error)
            say(
                f"No count is off by more than {most}. One person lives in a sixth region. It is "
                "hidden: leastnoise never shows a discovered group that contains a single person.",
                3,
            )

            say("2. Try to overspend the budget.")
            say(f"{named(ledger.remaining)} remain. The next query asks for ε = 0.9.", 3)
            try:
                people.count(privacy=ln.Privacy("0.9"))
            except ln.errors.BudgetExceeded as error:
                say(f"BudgetExceeded: {error}", 3)

    say(f"3. Compare noise for a count: {named(LIMIT)}, sensitivity 1.")
    compare_noise()

    say("4. See the optimal noise of Geng, Ding, Guo and Kumar (2019): ε = 0.")
    show_uniform_noise()

    say("Next steps: read README.md, or run")
    print("  .venv/bin/leastnoise --help\n  .venv/bin/python examples/census.py")


def compare_noise() -> None:
    """Print what four kinds of noise cost, then verify the certificate of the cheapest."""
    comparison = ln.compare(LIMIT, sensitivity=1, integer=True)
    names = {
        "certified": "certified",
        "geometric": "geometric",
        "laplace": "Laplace, rounded",
        "gaussian": "Gaussian, rounded",
    }
    print("\n   noise              E|error|  compared with the certified noise")
    least = float(comparison["certified"].cost)
    for family, name in names.items():
        cost = float(comparison[family].cost)
        extra = "" if family == "certified" else f"+{(cost / least - 1) * 100:.2g}%"
        times = f"{cost / least:.1f} times" if cost > 2 * least else extra
        print(f"   {name:17}  {cost:8.4f}  {times}".rstrip())
    certificate = ln.calibrate(LIMIT, sensitivity=1, integer=True).certificate
    certificate.verify()
    say(f"Certificate, verified in exact arithmetic: {certificate}.", 3)


def show_uniform_noise() -> None:
    """Print the noise for (0, δ), its certificate and what the guarantee means; draw it."""
    privacy = ln.Privacy(delta="0.05")
    mechanism = ln.calibrate(privacy, sensitivity=1)
    mechanism.certificate.verify()
    profile = ln.Profile(mechanism.noise, sensitivity=1)
    right = float((1 + profile.advantage) / 2)
    say(f"{named(privacy)}: {mechanism.noise}, E|error| = {float(mechanism.cost):g}.", 3)
    say(f"Certificate, verified in exact arithmetic: {mechanism.certificate}.", 3)
    say(
        f"What {named(privacy)} means: an attacker who knows all the data except whether one "
        f"person is in it guesses correctly at most {right:.1%} of the time. But with probability "
        f"up to {float(profile.infinity_mass):.0%} the output reveals with certainty whether the "
        "person is in the data. For real people choose δ far below 1 / number of people.",
        3,
    )
    figure = plots.save(plots.density(mechanism), Path("demo.png"))
    say(f"Figure of this noise: {figure}", 3)


def named(privacy: ln.Privacy) -> str:
    """Return ε and δ by name, δ in scientific notation."""
    return f"ε = {float(privacy.epsilon):g}, δ = {float(privacy.delta):g}".replace("e-0", "e-")


def say(text: str, indent: int = 0) -> None:
    """Print a paragraph of at most 80 columns after an empty line."""
    margin = " " * indent
    formulas = text.replace(" = ", "\u00a0=\u00a0")  # within which no line ends
    lines = textwrap.fill(formulas, WIDTH, initial_indent=margin, subsequent_indent=margin)
    print("\n" + lines.replace("\u00a0", " "))


if __name__ == "__main__":
    main()
