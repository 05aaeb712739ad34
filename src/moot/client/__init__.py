"""MCP client to other servers. Most modules here cost the whole MCP library: import them only where they are needed."""
