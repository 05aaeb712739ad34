"""How a tape is played again: start with `player`, then read `score` (in which order) and `parts` (by whom)."""
