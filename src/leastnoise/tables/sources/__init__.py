"""Where tables are: files, frames and databases; their engines asked, and their errors hidden."""

from leastnoise.tables.sources.engine import attempted, fetched
from leastnoise.tables.sources.source import Source, opened

__all__ = [
    "Source",
    "attempted",
    "fetched",
    "opened",
]
