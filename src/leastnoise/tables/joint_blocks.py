"""Blocks of numbers that each unit changes in the same rows only, so they can have joint noise.

*When it applies.* Let a unit change the k numbers of at most m groups, and no numbers of other
groups. Each group gets one sample of joint noise, which satisfies (ε, δ) for all changes of its k
numbers together. So m groups satisfy (mε, mδ), whatever k is. That needs that all k numbers are
computed from the same choice of groups: two queries that omit different rows may count a unit in
different groups. So a block has the numbers of one query, or those of queries without groups, which
have a single row.
"""

from collections.abc import Sequence

from leastnoise.tables.joint_noise import JointBlocks
from leastnoise.tables.queries.planned_query import PlannedQuery


def find_joint_blocks(
    queries: Sequence[PlannedQuery], places: Sequence[tuple[int, ...]]
) -> JointBlocks:
    """Return the places of numbers that can have joint noise.

    A number that several queries with groups share stays alone.
    """
    if not any(planned.query.key_columns for planned in queries):
        alone = [
            place
            for planned, own in zip(queries, places, strict=True)
            if not planned.query.makes_numbers
            for place in own
        ]
        block = tuple(sorted({*alone}))
        return (block,) if len(block) > 1 else ()
    every = [place for own in places for place in own]
    return tuple(
        own
        for planned, own in zip(queries, places, strict=True)
        if len(own) > 1
        and not planned.query.makes_numbers
        and all(every.count(place) == 1 for place in own)
    )
