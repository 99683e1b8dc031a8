"""SQL: a SELECT with aggregates of one protected table, as the same queries and one answer."""

from leastnoise.tables.sql.answers import SelectAnswers, make_answers
from leastnoise.tables.sql.select import Select, read_select

__all__ = ["Select", "SelectAnswers", "make_answers", "read_select"]
