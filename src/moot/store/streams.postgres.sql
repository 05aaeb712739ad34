-- take_number: Move the counter and the time on, and tell them: a second statement would be a second way to the server.
update streams
set seq = seq + 1, at = case when at >= :now then at + 1 else :now end,
  reacted = case when :is_quiet = 1 and reacted = seq then seq + 1 else reacted end
where id = :stream
returning seq, at
