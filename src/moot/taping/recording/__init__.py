"""How a run comes onto a tape: start with `recorder`."""
