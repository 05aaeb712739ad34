-- Where the first strand of a flow is, which nearly every step changes and often nothing else of it: in the row that every
-- step writes anyway, so that it costs no statement and no page of its own. Of that strand the columns in `strands` say
-- nothing any more: `placed_strands` has every strand with its place, for all who read.
alter table flows add column frames text not null default '[["",0,0]]';
alter table flows add column tries integer not null default 0;
update flows set
  frames = (select s.frames from strands s where s.flow = flows.id and s.number = 0),
  tries = (select s.tries from strands s where s.flow = flows.id and s.number = 0)
where exists (select 1 from strands s where s.flow = flows.id and s.number = 0);
create view placed_strands as
select s.flow, s.number, s.parent, s.fork, s.task_id, case s.number when 0 then f.frames else s.frames end as frames,
  case s.number when 0 then f.tries else s.tries end as tries, s.status, s.holder, s.own, s.step_id, s.work, s.since,
  s.given_at, s.is_applied, s.waits_on, s.wakes_at, s.seen_step, s.retries, s.error
from strands s join flows f on f.id = s.flow;
