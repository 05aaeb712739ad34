"""Documents: the texts that a team keeps together, with every version, and who may write them."""
