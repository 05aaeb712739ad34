-- is_behind: Whether a message or a document is not in the index as it is.
select 1 where exists (
  select 1 from messages
  where stream = :stream and seq > coalesce((select seq from message_marks where stream = :stream), 0)
) or exists (
  select 1 from documents d
  where d.instance = :instance and d.hash is not null and not exists (
    select 1 from document_marks k where k.instance = d.instance and k.folded = d.folded and k.hash = d.hash
  )
)

-- messages: Messages of a stream with these words, newest first.
select m.id, m.seq, m.sender, m.kind, m.at, substr(m.body, 1, 100000) as text
from message_words w cross join messages m on m.stream = w.stream and m.seq = w.seq
where w.message_words match :fts5 and w.stream = :stream
order by w.rowid desc limit :limit

-- documents: Documents of an instance with these words, newest first.
select d.file, d.version, d.author, d.at, substr(b.content, 1, 100000) as text
from document_words w
cross join document_marks k on k.id = w.rowid
cross join documents d on d.instance = k.instance and d.folded = k.folded and d.hash = k.hash
cross join blobs b on b.hash = d.hash
where w.document_words match :fts5 and k.instance = :instance
order by d.at desc, d.file limit :limit

-- forget_message_words: Words of messages that are gone.
delete from message_words where stream = :stream

-- forget_message_mark: How far they were in the index.
delete from message_marks where stream = :stream

-- forget_document_words: Words of documents that are gone.
delete from document_words where rowid in (select id from document_marks where instance = :instance)

-- forget_document_marks: Which of them were in the index.
delete from document_marks where instance = :instance
