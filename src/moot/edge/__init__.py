"""The HTTP edge: what requests are refused for before anybody answers them, their bodies, and plain answers."""
