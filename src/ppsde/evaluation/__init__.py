"""From a user's callable to values an algorithm can use, with failures as outcomes."""
