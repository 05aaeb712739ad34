-- When a token dies, the agents that were registered with it are looked up.
create index agents_by_registrar on agents (registered_by);
