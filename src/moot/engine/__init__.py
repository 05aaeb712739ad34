"""The step engine: definitions whose control flow moot evaluates, and the reactive state they work on."""
