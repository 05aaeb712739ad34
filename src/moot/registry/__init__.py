"""Who takes part: instances, agents, their attempts and tokens, and the hosts that serve them."""
