"""What a call over MCP carries besides its arguments: above all its key, by which its repetition is recognised. Imports
nothing, for the relay."""

KEY = "moot/key"  # in the `_meta` of the call
KEY_HEADER = "Moot-Key"  # for who passes a call on unread
MAIL = "moot/mail"  # in the `_meta` of the call: LATER, if nobody would read new mail in its answer
LATER = "later"
SPELLING_HEADER = "Moot-Tool-Names"  # how the client wants tools to be called: underscored or dotted
