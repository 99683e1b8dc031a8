"""What many noises tell together: privacy losses on a grid, added up in exact integers."""
