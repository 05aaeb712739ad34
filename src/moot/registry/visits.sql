-- take_link: A link that is good for once: used from now on, if it was not.
update tokens set revoked_at = :now
where hash = :hash and kind = 'link' and revoked_at is null and expires_at > :now
returning id, role, instance, expires_at

-- shared_link: A link that is good for everybody who has it.
select id, role, instance, expires_at from tokens
where hash = :hash and kind = 'shared_link' and revoked_at is null and expires_at > :now

-- find: A visit that is not over.
select id, role, instance, expires_at from tokens
where hash = :hash and kind = 'visit' and revoked_at is null and expires_at > :now

-- end_all: Every visit, and every link that leads to one.
update tokens set revoked_at = :now
where kind in ('link', 'shared_link', 'visit') and revoked_at is null and expires_at > :now
