"""OpenDP's queries on Polars: a count and a sum by group of a Parquet file."""

import json
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from typing import Any

from benchmarks.memory import highest_memory, start_memory
from benchmarks.peers.protocol import Row, describe_error, time_call

dp: Any = import_module("opendp.prelude")
pl: Any = import_module("polars")


def main() -> None:
    """Answer requests until the input ends: versions, or the seconds and bytes of a query."""
    dp.enable_features("contrib")
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        request: Row = json.loads(line)
        try:
            answer = reply(request)
        except Exception as error:  # noqa: BLE001 -- every error of a peer is reported
            answer = {"cannot": describe_error(error)}
        print(json.dumps(answer), file=answers, flush=True)


def reply(request: Row) -> Row:
    """Return the answer to one request."""
    if request["do"] == "introduce":
        return {"versions": {name: version(name) for name in ("opendp", "polars")}}
    query = per_unit if request["do"] == "per unit" else per_row
    before = start_memory()
    seconds = time_call(lambda: query(request))
    return {"seconds": seconds, "bytes": highest_memory() - before}


def per_row(request: Row) -> object:
    """Count and sum with a row as the privacy unit."""
    return _release(request, dp.unit_of(contributions=1), lambda query: query)


def per_unit(request: Row) -> object:
    """Count and sum with a person as the privacy unit, with bounded rows per person and group.

    The groups per person are not bounded: in OpenDP 0.16, truncate_num_groups by the grouping
    column fails with a duplicate field.
    """
    unit = dp.unit_of(contributions=1, identifier=pl.col("u"))
    return _release(request, unit, lambda query: query.truncate_per_group(request["max_rows"]))


def _release(request: Row, unit: Any, bound_rows: Callable[[Any], Any]) -> object:
    context = dp.Context.compositor(
        data=pl.scan_parquet(request["path"]),
        privacy_unit=unit,
        privacy_loss=dp.loss_of(epsilon=request["epsilon"], delta=request["delta"]),
        split_evenly_over=1,
        margins=[dp.polars.Margin(max_length=request["rows"], max_groups=request["groups"])],
    )
    keys = pl.LazyFrame({"g": pl.Series(range(request["groups"]), dtype=pl.Int32)})
    statistics = dp.len(), pl.col("x").fill_nan(0.0).fill_null(0.0).dp.sum((0.0, request["high"]))
    query = bound_rows(context.query()).group_by("g").agg(*statistics).with_keys(keys)
    return query.release().collect()


if __name__ == "__main__":
    main()
