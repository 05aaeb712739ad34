"""Teams at work: each stage, what has to be so before the next begins, and what the members are told of it."""
