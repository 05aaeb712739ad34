"""For tests, moot's own and its users': fakes that behave like the real thing and can be steered."""
