-- add: A host that starts now.
insert into hosts (id, machine, process, roles, url, started_at, lease_until)
values (:id, :machine, :process, :roles, :url, :now, :lease_until)

-- renew: Still here.
update hosts set lease_until = :lease_until, stopped_at = null where id = :id

-- stop: This host is gone.
update hosts set stopped_at = :now where id = :id and stopped_at is null

-- ask_stop: Have every host that lives and runs agents end.
update hosts set stop_asked = :how where stopped_at is null and lease_until > :now and roles like '%"run"%'

-- stop_asked: Whether somebody wants this host to end, and how.
select stop_asked from hosts where id = :id and stop_asked is not null

-- alive: Hosts whose lease runs.
select id, machine, process, roles, url, started_at, lease_until, stopped_at
from hosts where stopped_at is null and lease_until > :now
order by started_at, id

-- expire: Hosts that did not renew their lease are gone.
update hosts set stopped_at = :now where stopped_at is null and lease_until <= :now
