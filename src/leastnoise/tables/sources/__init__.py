"""The sources of tables: files, frames and databases, and the engines that run queries."""

from leastnoise.tables.sources.engine import fetch, without_details
from leastnoise.tables.sources.local import census
from leastnoise.tables.sources.lookups import join_lookup
from leastnoise.tables.sources.source import Source, open_source

__all__ = [
    "Source",
    "census",
    "fetch",
    "join_lookup",
    "open_source",
    "without_details",
]
