"""Teams: who is in one, how far it has come, and what its reviewers say. Not what its members do."""
