"""The contents of the paper in its order, each with the call that computes or shows it.

docs/theory/from-definitions-to-calls.md shows this list, and tests evaluate every call.
"""

from leastnoise.paper.content_item import Item
from leastnoise.paper.cost_items import COSTS
from leastnoise.paper.definition_items import DEFINITIONS
from leastnoise.paper.theorem_items import THEOREMS

CONTENTS: tuple[Item, ...] = (*DEFINITIONS, *THEOREMS, *COSTS)
