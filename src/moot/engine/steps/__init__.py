"""The kinds of steps, one in each module."""
