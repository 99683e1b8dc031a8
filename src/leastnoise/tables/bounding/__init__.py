"""Whole numbers from rows: clamped and rounded, of each unit so much, and what one can move."""
