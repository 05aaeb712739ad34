"""Others who play the same scenarios as moot, each in a process of its own: what they need is not what moot needs."""
