-- last_tree: The tree that was begun last for an agent.
select root, job, generation, facts, stop from trees
where owner = :owner order by started_at desc, generation desc limit 1

-- plant: A tree begins, unless that was noted before.
insert into trees (root, job, generation, owner, facts, stop, started_at)
values (:root, :job, :generation, :owner, :facts, '', :now)
on conflict (root) do nothing

-- fell: A tree is not gone on with.
update trees set stop = :stop where root = :root

-- entries: What a repetition has to know of a tree, the tries of each path in their order.
select path, try as number, kind, name, state, facts, result from journal where root = :root order by path, try

-- begin: Something is about to be done.
insert into journal (
  root, path, try, kind, name, agent, trigger, state, attempt, scope, owner, facts, stop, reserve, cost, input_tokens,
  output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, is_estimated, started_at
) values (
  :root, :path, :number, :kind, :name, :agent, :trigger, 'started', :attempt, :scope, :owner, :facts, '', :reserve, 0, 0,
  0, 0, 0, 0, 0, :now
)

-- end: What came of it.
update journal
set state = :state, result = :result, stop = :stop, error = :error, cost = :cost, input_tokens = :input_tokens,
  output_tokens = :output_tokens, cache_read_tokens = :cache_read_tokens, cache_write_tokens = :cache_write_tokens,
  reasoning_tokens = :reasoning_tokens, is_estimated = :is_estimated, ended_at = :now
where root = :root and path = :path and try = :number

-- lose: What an attempt had begun and not ended is of unknown outcome, and may have cost what was set aside for it.
update journal
set state = 'unknown', cost = reserve, is_estimated = case when reserve > 0 then 1 else 0 end, ended_at = :now
where attempt = :attempt and state = 'started'
returning scope, owner, reserve

-- lost: Requests of an attempt whose end nobody saw, and what they may have cost.
select path, cost from journal where attempt = :attempt and kind = 'model' and state = 'unknown'

-- reserved: What is set aside for what is under way.
select cast(coalesce(sum(reserve), 0) as bigint) from journal where scope = :scope and state = 'started'

-- reserved_of: The same, of one agent.
select cast(coalesce(sum(reserve), 0) as bigint) from journal
where scope = :scope and owner = :owner and state = 'started'

-- under_way: Requests to models that are not answered yet.
select count(*) from journal where scope = :scope and kind = 'model' and state = 'started'

-- results_of: What the calls of a tool came to in a tree.
select result from journal where root = :root and kind = 'tool' and name = :name and state = 'done'

-- forget: What was done on the account of an agent.
delete from journal where owner = :owner

-- forget_trees: The trees that were begun for an agent.
delete from trees where owner = :owner
