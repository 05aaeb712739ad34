-- pause: Wait until then; a later moment counts.
insert into pauses (provider, until, reason, at) values (:provider, :until, :reason, :now)
on conflict (provider) do update set until = excluded.until, reason = excluded.reason, at = excluded.at
where pauses.until < excluded.until

-- of_provider: The pause of one, if it is not over.
select provider, until, reason, at from pauses where provider = :provider and until > :now

-- last: The last pause of one, be it over.
select provider, until, reason, at from pauses where provider = :provider

-- live: All that are not over.
select provider, until, reason, at from pauses where until > :now order by provider

-- lift: Nobody has to wait for it any longer.
delete from pauses where provider = :provider
