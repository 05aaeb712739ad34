-- notify: Tell every process of this store that something was committed, and by whom.
select pg_notify(:channel, :sender)
