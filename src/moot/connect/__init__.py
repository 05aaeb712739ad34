"""MCP client to other servers. Importing this costs the whole MCP library: do so only where it is needed."""

from moot.connect.toolbox import toolbox as toolbox
