"""The way from a stdio client to a server's socket. Standard library only: it starts in a tenth of a second."""
