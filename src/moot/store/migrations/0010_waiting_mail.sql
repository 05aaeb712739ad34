-- Whether mail is queued, and to which attempt it was handed out, is told by the index: the mailbox itself lies deeper
-- the more was ever said.
drop index mailbox_unread;
create index mailbox_unread on mailbox (agent, seq, state, attempt) where state = 'queued' or state = 'delivered';
