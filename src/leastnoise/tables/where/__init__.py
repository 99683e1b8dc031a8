"""Which rows count: a closed grammar, read and never evaluated, the same on every engine."""
