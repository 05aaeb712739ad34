"""What `import moot` offers, and what the commands are made of."""
