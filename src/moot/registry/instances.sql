-- create: Make an instance, unless somebody else just did.
insert into instances (name, stream, created_at) values (:name, :stream, :now)
on conflict (name) do nothing

-- find: One instance by name.
select name, stream, created_at from instances where name = :name

-- all_of: Every instance, oldest first.
select name, stream, created_at from instances order by created_at, name

-- forget_tokens: The tokens of an instance. Visits only begin there.
delete from tokens where instance = :name and kind in ('attempt', 'member', 'operator')

-- forget_attempts: What its agents tried.
delete from attempts where agent in (select id from agents where instance = :name)

-- forget_agents: Its agents.
delete from agents where instance = :name

-- forget_runs: Its runs.
delete from runs where instance = :name

-- forget: The instance itself.
delete from instances where name = :name
