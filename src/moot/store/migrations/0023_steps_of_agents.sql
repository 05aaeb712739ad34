-- A step that an agent says once more that it has done is found by its id. What moot takes by itself, thousands in a second,
-- is in no index but that of numbers.
create index flow_steps_of_agents on flow_steps (flow, strand, step_id, number) where doer = 'agent';
