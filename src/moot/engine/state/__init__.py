"""The state of a flow: what was written, and what follows from it."""
