"""Domain functions made callable: the one table of tools that serves MCP clients and agents in process alike."""
