-- When what was used: each time that something was added to what an agent has used.
create table spending (
  scope text not null,
  agent text not null,
  at integer not null,
  tokens integer not null,
  cost integer not null,
  primary key (scope, agent, at)
) strict, without rowid;
