"""Trusted core: exact arithmetic, noise and sampling."""
