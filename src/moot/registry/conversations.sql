-- keep: The newest handle, and what was used since its beginning.
insert into conversations (agent, backend, handle, input_tokens, output_tokens, turns, cost, is_estimated, at)
values (:agent, :backend, :handle, :input_tokens, :output_tokens, :turns, :cost, :is_estimated, :now)
on conflict (agent, backend) do update set handle = excluded.handle, input_tokens = excluded.input_tokens,
  output_tokens = excluded.output_tokens, turns = excluded.turns, cost = excluded.cost,
  is_estimated = excluded.is_estimated, at = excluded.at

-- of_agent: The one to go on with.
select handle, input_tokens, output_tokens, turns, cost, is_estimated
from conversations where agent = :agent and backend = :backend

-- forget: It cannot be gone on with.
delete from conversations where agent = :agent
