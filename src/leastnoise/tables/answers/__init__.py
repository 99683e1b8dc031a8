"""What comes back: tables of answers, means and quantiles; printed and written to files."""
