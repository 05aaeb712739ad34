-- plan: How its holder means to do it.
update tasks
set plan = :plan, context = :context, lease_until = case when lease_until is null then lease_until else :lease_until end,
  updated_at = :now
where id = :id
