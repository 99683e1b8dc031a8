"""The sources of tables: files, frames and databases, and the engines that run queries."""

from leastnoise.tables.sources.conversions import Types
from leastnoise.tables.sources.engine import fetch, without_details
from leastnoise.tables.sources.opening import open_source
from leastnoise.tables.sources.sample import census
from leastnoise.tables.sources.source import Source

__all__ = [
    "Source",
    "Types",
    "census",
    "fetch",
    "open_source",
    "without_details",
]
