-- Limits that were reached, by a run as a whole (no agent) or by an agent on its own, and the last attempt at each.
create table stops (
  scope text not null,
  agent text not null,
  reason text not null,
  heir text,
  attempt text,
  is_final integer not null,
  primary key (scope, agent)
) strict, without rowid;

insert into stops (scope, agent, reason, is_final)
select run, '', reached, is_last_begun from budgets where reached is not null;
insert into stops (scope, agent, reason, is_final)
select scope, agent, reached, 1 from usage where reached is not null;

alter table budgets drop column reached;
alter table budgets drop column is_last_begun;
alter table usage drop column reached;
