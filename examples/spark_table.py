"""A data engineer with a folder of Parquet files on Spark: the answers need no copy of the data.

``python examples/spark_table.py`` needs the extra ``spark`` and Java 17. It writes the folder
first: taxi rides, partitioned by month. On a cluster, submit the same script.
"""

import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

import leastnoise as ln

FARES = (0, 100)  # from the tariff


def main() -> None:
    """Write the table, and ask three queries on Spark within one budget."""
    builder = SparkSession.builder.appName("rides").config("spark.ui.showConsoleProgress", "false")
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    with tempfile.TemporaryDirectory() as folder:
        write_rides(session, folder + "/rides")
        rides = session.read.parquet(folder + "/rides")
        rides.printSchema()
        with ln.Ledger(Path(folder) / "rides.ledger", limit=ln.Privacy(1, "1e-6")) as ledger:
            # "at" is a timestamp with a time zone; it is converted to UTC on every cluster.
            table = ln.protect(
                rides,
                unit="rider",
                max_rows=10,
                ledger=ledger,
                name="rides",
                version="2024",
                types={"at": "timestamp"},
            )
            weekdays = list(range(1, 8))
            print(table.count(by="weekday(at)", groups=weekdays, max_groups=7, share="1/4"), "\n")
            spring = (ln.col("at").month() <= 3) & (ln.col("fare") > 0)
            print(table.mean("fare", bounds=FARES, where=spring, share="1/4"), "\n")
            print(table.median("fare", bounds=FARES, share="1/4"), "\n")
            print(f"Spent {ledger.spent}; remaining {ledger.remaining}.")
    session.stop()


def write_rides(session: SparkSession, folder: str) -> None:
    """Write 50,000 rides of 5,000 invented riders; some have no fare."""
    session.range(50_000).selectExpr(
        "cast(id * 7919 % 5000 as bigint) as rider",
        "timestamp_seconds(1704067200 + id * 632) as at",
        "if(id % 50 = 0, null, cast(3 + pmod(hash(id), 4000) / 100 as decimal(8, 2))) as fare",
        "month(timestamp_seconds(1704067200 + id * 632)) as month",
    ).write.partitionBy("month").parquet(folder)


if __name__ == "__main__":
    main()
