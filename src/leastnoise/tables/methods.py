"""The methods of the built-in table queries, from one module for each topic.

Signatures and arguments are written out for each method and each overload, because editors read
them from the source. The registration describes the same methods; tests/tables/test_registration.py
compares the two.
"""

from leastnoise.tables.bounds_methods import BoundsMethods
from leastnoise.tables.clipped_share_methods import ClippedShareMethods
from leastnoise.tables.count_methods import CountMethods
from leastnoise.tables.extreme_methods import ExtremeMethods
from leastnoise.tables.median_methods import MedianMethods
from leastnoise.tables.quantile_methods import QuantileMethods
from leastnoise.tables.sum_methods import SumMethods
from leastnoise.tables.variance_methods import VarianceMethods


class BuiltInQueries(
    CountMethods,
    SumMethods,
    VarianceMethods,
    ClippedShareMethods,
    MedianMethods,
    QuantileMethods,
    ExtremeMethods,
    BoundsMethods,
):
    """The built-in queries as methods; :class:`ProtectedTable` inherits them."""
