"""Draw: bits from one source, one exact integer from bits, many of them with numpy."""
