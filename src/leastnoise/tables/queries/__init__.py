"""Table queries: one file each, from the arguments to the answer.

It has no door: a new query is one more file.
"""
