-- A denial counts once, as an approval does: also when nobody waited for it. Those of before were heard.
update requests set used_at = answered_at where state = 'denied' and used_at is null;

drop index requests_unused;

create index requests_unused on requests (requester_id, hash) where state in ('approved', 'denied') and used_at is null;
