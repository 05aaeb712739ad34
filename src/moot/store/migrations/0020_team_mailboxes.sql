-- The permissions that a request of kind mode_set is about.
alter table requests add column mode text;

-- What was last said of each member of a team: that it is online, or offline.
create table team_attendance (
  instance text not null,
  name text not null,
  said text not null,
  at integer not null,
  primary key (instance, name)
) strict, without rowid;
