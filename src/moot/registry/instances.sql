-- create: Make an instance, unless somebody else just did.
insert into instances (name, stream, created_at) values (:name, :stream, :now)
on conflict (name) do nothing

-- find: One instance by name.
select name, stream, created_at from instances where name = :name

-- all_of: Every instance, oldest first.
select name, stream, created_at from instances order by created_at, name
