"""The record of what was done: operations, and what the same call was answered before."""
