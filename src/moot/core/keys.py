"""Where a call over MCP carries its key, by which its repetition is recognised. Imports nothing, for the relay."""

KEY = "moot/key"  # in the `_meta` of the call
KEY_HEADER = "Moot-Key"  # for who passes a call on unread
