-- mark: How far the messages of a stream are indexed.
select seq from message_marks where stream = :stream

-- chunk_end: The last of the next messages that are few and short enough together; 0 if there are none.
select coalesce(max(seq), 0) from (
  select seq, sum(size) over (order by seq) - size as before from (
    select seq, octet_length(body) as size from messages where stream = :stream and seq > :mark order by seq limit :rows
  )
) where before < :bytes

-- add_messages: Take in the words of messages.
insert into message_words (stream, seq, body)
select stream, seq, substr(body, 1, 100000) from messages
where stream = :stream and seq > :mark and seq <= :until order by seq

-- set_mark: Remember how far it came.
insert into message_marks (stream, seq) values (:stream, :seq) on conflict (stream) do update set seq = excluded.seq

-- outdated: Documents whose words are not there, or those of another text.
select k.id, d.folded, d.hash, d.size from documents d
left join document_marks k on k.instance = d.instance and k.folded = d.folded
where d.instance = :instance and d.hash is not null and d.hash is not k.hash
order by d.folded limit :rows

-- forget_document: Remove the words of another text.
delete from document_words where rowid = :id

-- mark_document: Remember which text of a document is in.
insert into document_marks (instance, folded, hash) values (:instance, :folded, :hash)
on conflict (instance, folded) do update set hash = excluded.hash returning id

-- add_document: Take in the words of a document.
insert into document_words (rowid, content) select :id, substr(content, 1, 100000) from blobs where hash = :hash
