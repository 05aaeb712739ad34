"""A definition that is being carried out: its rows, what comes next for it, and what that comes to."""
