"""The live view of `moot watch`: the conversation above as ordinary lines, and below it what changes."""
