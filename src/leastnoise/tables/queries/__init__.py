"""Table queries, one file each, from the arguments to the answer.

The package exports nothing, so that a new query is one more file.
"""
