"""The loop of one agent over a model: turns, tools, and what is said at the end. It knows no backend and no store."""
