"""A table of people to try things on: a small census of persons that were never born."""

from pathlib import Path


def census() -> Path:
    """Return the path of an invented census, a CSV file that comes with the package.

    About 8,000 persons and a row for each of their jobs (who has none has one row): ``person_id``,
    ``region``, ``household``, ``age``, ``sex``, ``born``, ``occupation``, ``income`` in a year,
    ``hours`` in a week. Some fields are empty. ``examples/make_census.py`` makes it from a seed.

    >>> census().name
    'people.csv'
    """
    return Path(__file__).with_name("samples") / "people.csv"
