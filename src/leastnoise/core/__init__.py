"""What a promise rests on. Each package in here is a door of its own."""
