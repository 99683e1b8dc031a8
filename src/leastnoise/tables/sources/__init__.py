"""The sources of tables: files, frames and databases, and the engines that run queries."""

from leastnoise.tables.sources.calendar import (
    known_days,
    known_times,
    time_literal,
    time_to_text,
    write_time,
)
from leastnoise.tables.sources.conversions import Types
from leastnoise.tables.sources.engine import fetch, without_details
from leastnoise.tables.sources.functions import engine_function
from leastnoise.tables.sources.lookups import join_lookup
from leastnoise.tables.sources.opening import open_source
from leastnoise.tables.sources.sample import census
from leastnoise.tables.sources.source import Source

__all__ = [
    "Source",
    "Types",
    "census",
    "engine_function",
    "fetch",
    "join_lookup",
    "known_days",
    "known_times",
    "open_source",
    "time_literal",
    "time_to_text",
    "without_details",
    "write_time",
]
