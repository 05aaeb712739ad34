-- add: A host that starts now.
insert into hosts (id, machine, process, roles, url, started_at, lease_until)
values (:id, :machine, :process, :roles, :url, :now, :lease_until)

-- renew: Still here.
update hosts set lease_until = :lease_until, stopped_at = null where id = :id

-- stop: This host is gone.
update hosts set stopped_at = :now where id = :id and stopped_at is null

-- alive: Hosts whose lease runs.
select id, machine, process, roles, url, started_at, lease_until, stopped_at
from hosts where stopped_at is null and lease_until > :now
order by started_at, id

-- expire: Hosts that did not renew their lease are gone.
update hosts set stopped_at = :now where stopped_at is null and lease_until <= :now
