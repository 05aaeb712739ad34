-- plan: How its holder means to do it.
update tasks set plan = :plan, context = :context, lease_until = :lease_until, updated_at = :now where id = :id
