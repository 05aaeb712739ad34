-- add: Open a request, unless the same is open already.
insert into requests (
  id, stream, instance, kind, requester, requester_id, addressee, addressee_id, is_for_person, title, body, options,
  hash, mode, state, answer, created_at, expires_at
) values (
  :id, :stream, :instance, :kind, :requester, :requester_id, :addressee, :addressee_id, :is_for_person, :title, :body,
  :options, :hash, :mode, 'open', '', :now, :expires_at
)
on conflict (stream, requester, addressee_id, hash) where state = 'open' do nothing

-- alike: The open request that is the same.
select id, stream, instance, kind, requester, requester_id, addressee, addressee_id, is_for_person, title, body, options,
  hash, mode, state, answer, answered_by, message, created_at, expires_at, answered_at, used_at
from requests
where stream = :stream and requester = :requester and addressee_id = :addressee_id and hash = :hash and state = 'open'

-- asked: Remember by which message the addressee was asked.
update requests set message = :message where id = :id

-- get: One request by id.
select id, stream, instance, kind, requester, requester_id, addressee, addressee_id, is_for_person, title, body, options,
  hash, mode, state, answer, answered_by, message, created_at, expires_at, answered_at, used_at
from requests where id = :id

-- of_message: The request behind a message.
select id, stream, instance, kind, requester, requester_id, addressee, addressee_id, is_for_person, title, body, options,
  hash, mode, state, answer, answered_by, message, created_at, expires_at, answered_at, used_at
from requests where message = :message

-- open_of: What waits for an answer in a stream.
select id, stream, instance, kind, requester, requester_id, addressee, addressee_id, is_for_person, title, body, options,
  hash, mode, state, answer, answered_by, message, created_at, expires_at, answered_at, used_at
from requests where stream = :stream and state = 'open' order by created_at, id

-- latest: The last requests of a stream, newest first.
select id, stream, instance, kind, requester, requester_id, addressee, addressee_id, is_for_person, title, body, options,
  hash, mode, state, answer, answered_by, message, created_at, expires_at, answered_at, used_at
from requests where stream = :stream order by created_at desc, id desc limit :limit

-- about: The last request for exactly this, open or not.
select id, stream, instance, kind, requester, requester_id, addressee, addressee_id, is_for_person, title, body, options,
  hash, mode, state, answer, answered_by, message, created_at, expires_at, answered_at, used_at
from requests where stream = :stream and hash = :hash and state <> 'cancelled' order by created_at desc, id desc limit 1

-- close: It is over.
update requests set state = :state, answer = :answer, answered_by = :answered_by, answered_at = :now where id = :id

-- hold: Whoever asked waits for the answer in a call.
update requests set held_until = :until where id = :id

-- is_held: Whether the answer to a message is waited for in a call.
select 1 from requests where message = :message and held_until > :now

-- unused: Answers that nobody has acted on, oldest first.
select id from requests
where requester_id = :requester_id and hash = :hash and state in ('approved', 'denied') and used_at is null
order by answered_at, id

-- use: Use an answer up.
update requests set used_at = :now where id = :id

-- forget: What was asked in a stream.
delete from requests where stream = :stream
