"""The agent programs that people have installed, each run as an agent through one driver."""
