-- note: A step that was taken.
insert into flow_steps (flow, number, strand, step_id, type, doer, status, detail, error, started_at, ended_at)
values (:flow, :number, :strand, :step_id, :type, :doer, :status, :detail, :error, :started_at, :ended_at)

-- trace: A field that was computed.
insert into flow_traces (flow, version, place, field, trigger_key, input, output, error, micros, at)
values (:flow, :version, :place, :field, :trigger_key, :input, :output, :error, :micros, :now)

-- prune: What was computed long ago.
delete from flow_traces where flow = :flow and version < :before

-- steps: What was done behind a number, on one strand or on all.
select number, strand, step_id, type, doer, status, detail, error, started_at, ended_at
from flow_steps where flow = :flow and number > :after and (:strand = -1 or strand = :strand)
order by number limit :limit

-- executed: What was done by moot itself behind a number and is worth telling, the newest first.
select number, strand, step_id, type, doer, status, detail, error, started_at, ended_at
from flow_steps
where flow = :flow and strand = :strand and number > :after and doer = 'moot'
  and (type in ('shell_command', 'mcp_call', 'wait', 'user_message', 'agent_prompt') or status <> 'success')
order by number desc limit :limit

-- last_steps: What was done last, the newest first.
select number, strand, step_id, type, doer, status, detail, error, started_at, ended_at
from flow_steps where flow = :flow order by number desc limit :limit

-- last_of_agent: The last time that an agent has done a step.
select number, strand, step_id, type, doer, status, detail, error, started_at, ended_at
from flow_steps where flow = :flow and number = (
  select max(number) from flow_steps
  where flow = :flow and strand = :strand and step_id = :step_id and doer = 'agent'
)

-- traces: What was computed last, the newest first.
select field, trigger_key, input, output, error, micros, at, version
from flow_traces where flow = :flow and (:field = '' or field = :field)
order by version desc, place desc limit :limit

-- slowest: The fields that take longest.
select field, count(*) as count, cast(avg(micros) as real) as micros from flow_traces where flow = :flow
group by field order by avg(micros) desc, field limit :limit

-- count_traces: How much was computed.
select '' as field, count(*) as count, cast(coalesce(avg(micros), 0) as real) as micros from flow_traces where flow = :flow

-- keep: The state as it is now.
insert into flow_checkpoints (id, flow, step_id, reason, version, state, at)
values (:id, :flow, :step_id, :reason, :version, :state, :now)

-- checkpoints: All that was kept, the newest last.
select id, flow, step_id, reason, version, state, at from flow_checkpoints where flow = :flow order by at, id
