"""One request to a model, whoever provides it. Nothing here loops, calls tools, or knows what an agent is."""
