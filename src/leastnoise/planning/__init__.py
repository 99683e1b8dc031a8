"""Many mechanisms side by side: compare them, or find the promise that an accuracy needs."""
