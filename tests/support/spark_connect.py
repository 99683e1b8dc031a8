"""A process with a Spark Connect session, which prints what it answers as JSON.

``python -m tests.support.spark_connect``: a process has either such a session or an ordinary one.
"""

import json
import sys
import warnings
from datetime import datetime, timedelta
from typing import Any

from leastnoise.tables import Count, Mean, Quantile, Sum
from leastnoise.tables.bounding import ADD_REMOVE
from leastnoise.tables.execute import make_batches
from leastnoise.tables.queries.plan import plan_query
from leastnoise.tables.queries.planned_query import Unit
from leastnoise.tables.sources import Source, fetch, open_source

START = datetime(2024, 2, 28, 23, 30)  # noqa: DTZ001 -- as the column
ROWS = [
    (place % 97, "north" if place % 3 else "söuth", place * 0.37, START + timedelta(hours=place),
     f" {place % 7},{place}" if place % 5 else f"{place % 7}.{place}")
    for place in range(400)
]  # fmt: skip
TYPES = {"cost": "decimal"}
QUESTIONS: tuple[Any, ...] = (
    Count(by="region", max_groups=1),
    Count(where="at >= '2024-03-01 12:30' and week(at) != 10 and region like 's_u%'"),
    Sum("x", bounds=(-1, 30), by="weekday(at)", max_groups=2),
    Mean("cost", bounds=(0, 5), where="x + 1 > 7"),
    Quantile("x", "0.5", bounds=(0, 200), bins=16),
)


def find_integers(source: Source) -> list[list[list[Any]]]:
    """Return the integers to which noise would be added, for each question."""
    plans = [plan_query(question, source, Unit("u", 2, ADD_REMOVE)) for question in QUESTIONS]
    return [
        sorted(list(row) for row in fetch(source, make_batches([plan])[0].expression))
        for plan in plans
    ]


def main() -> None:
    """Ask a DataFrame and an Ibis table of a session."""
    warnings.simplefilter("ignore")
    import ibis
    from pyspark.sql import SparkSession

    session = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false")
    session = session.config("spark.sql.session.timeZone", "Europe/Berlin").getOrCreate()
    schema = "u bigint, region string, x double, at timestamp_ntz, cost string"
    frame = session.createDataFrame(ROWS, schema)
    frame.createOrReplaceTempView("people")
    table = ibis.pyspark.connect(session).table("people")
    found = [find_integers(open_source(each, types=TYPES)) for each in (frame, table)]
    sys.stdout.write(json.dumps({"session": type(session).__module__, "found": found}) + "\n")
    session.stop()


if __name__ == "__main__":
    main()
