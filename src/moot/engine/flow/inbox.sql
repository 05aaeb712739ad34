-- submit: Something for whoever advances the flow.
insert into flow_inbox (id, flow, strand, kind, body, answer, at) values (:id, :flow, :strand, :kind, :body, null, :now)

-- waiting: What was not taken in yet, in order.
select id, strand, kind, body from flow_inbox where flow = :flow and answer is null order by id limit :limit

-- first: Whether anything waits.
select id from flow_inbox where flow = :flow and answer is null limit 1

-- open_for: What of a kind waits for a strand.
select id from flow_inbox where flow = :flow and answer is null and strand = :strand and kind = :kind limit 1

-- answer: It was taken in.
update flow_inbox set answer = :answer where id = :id

-- answered: What came of it.
select answer from flow_inbox where id = :id and answer is not null

-- clear: What was answered long ago.
delete from flow_inbox where flow = :flow and answer is not null and at < :before
