"""Finding what was said and written by the words in it."""
