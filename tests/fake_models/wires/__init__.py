"""The wire protocols of the providers, one a module: reading requests, writing replies, events and errors."""
