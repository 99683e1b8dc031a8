"""A sample table, which comes with the package."""

from pathlib import Path


def census() -> Path:
    """Return the path of an invented census, a CSV file that comes with the package.

    It has about 8,000 persons and a row for each of their jobs (one row for a person without a
    job): ``person_id``, ``region``, ``household``, ``age``, ``sex``, ``born``, ``occupation``,
    ``income`` per year, ``hours`` per week. Some fields are empty. ``examples/make_census.py``
    makes it from a seed.

    >>> census().name
    'people.csv'
    """
    return Path(__file__).parents[1] / "samples" / "people.csv"
