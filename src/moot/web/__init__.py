"""The live page: who may come in, what it is told as it happens, its files. What it shows and does is handed in."""
