"""What a guarantee rests on; each package in it has a door of its own."""
