-- add_mail: Put it into one recipient's mailbox; dead, if the recipient left while this waited for its number.
insert into mailbox (stream, seq, agent, state, priority, acked_at)
values (
  :stream, :seq, :agent, (select case when left_at is null then :state else 'dead' end from agents where id = :agent),
  :priority, :acked_at
)
