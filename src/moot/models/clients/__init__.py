"""The clients of the providers, one a module, of which only those that are used are loaded.

All are told their address and key outright: left out, they would look into the environment, which is not theirs.
"""
