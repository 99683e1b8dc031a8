"""What would be asked, and what it would cost: without touching the data."""

from dataclasses import dataclass
from typing import Any

from leastnoise.exact import exactly, ratio
from leastnoise.tables.asking import Priced
from leastnoise.tables.bounding.sensitivity import REPLACE


@dataclass(frozen=True, repr=False)
class Explanation:
    """Questions with their queries, sensitivities, noise and price."""

    found: Priced

    @property
    def queries(self) -> list[str]:
        """What the engine would be asked: about the same rows once."""
        return [self.found.source.sql(joint.query) for joint in self.found.joints]

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        found = self.found
        together = found.noise.together
        return {
            "price": {"epsilon": ratio(together.epsilon), "delta": ratio(together.delta)},
            "asked": found.words,
            "key": found.key,
            "questions": [
                {
                    "title": one.question.title,
                    "numbers": [
                        {
                            "name": kind.wanted.name,
                            "sensitivity": ratio(kind.wanted.sensitivity),
                            "touched": kind.touched,
                            "noise": repr(made.noise),
                            "privacy": {
                                "epsilon": ratio(made.privacy.epsilon),
                                "delta": ratio(made.privacy.delta),
                            },
                        }
                        for kind, made in zip(one.kinds, found.mechanisms(at), strict=True)
                    ],
                }
                for at, one in enumerate(found.asked)
            ],
            "queries": self.queries,
        }

    def __str__(self) -> str:
        """Say it in plain words, and show the query."""
        found = self.found
        who = "a row" if found.unit.column is None else f"a value of {found.unit.column!r}"
        change = "replaced" if found.unit.neighbours == REPLACE else "added or removed"
        lines = [
            f"Of {found.source.name}, a unit is {who}; tables are neighbours if one is {change}.",
            f"Price: {found.noise.together} for everything together.",
        ]
        for at, one in enumerate(found.asked):
            lines += ["", f"{one.question.title}:"]
            for kind, made in zip(one.kinds, found.mechanisms(at), strict=True):
                lines.append(
                    f"  {kind.wanted.name}: one unit moves {kind.touched} of them, each by at most "
                    f"{exactly(kind.wanted.sensitivity)}; {made.noise!r} at {made.privacy}"
                )
        for query in self.queries:
            lines += ["", *query.splitlines()]
        lines += ["", "The data was not touched, and nothing was charged."]
        return "\n".join(lines)

    def __repr__(self) -> str:
        """Say what is explained."""
        return f"Explanation({'; '.join(one.question.title for one in self.found.asked)})"
