"""The board: plans, the tasks in them, who is at work on which, and what came of it."""
