"""What the commands are made of: everything a person can do, as functions."""
