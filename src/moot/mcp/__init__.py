"""Tools served over MCP: the HTTP app, who calls it, the sockets it listens on, and the relay from standard input."""
