"""Where tables are: files, frames and databases; their engines asked, and their errors hidden."""
