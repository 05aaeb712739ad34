-- is_behind: Never: the index is a part of the tables.
select 1 where false

-- messages: Messages of a stream with these words, newest first; by the index, even where few rows are wanted.
with found as materialized (
  select stream, seq from messages where stream = :stream and words_of(body) @@ to_tsquery('simple', :tsquery)
)
select m.id, m.seq, m.sender, m.kind, m.at, left(m.body, 100000) as text
from (select stream, seq from found order by seq desc limit :limit) as newest
join messages m on m.stream = newest.stream and m.seq = newest.seq
order by m.seq desc

-- documents: Documents of an instance with these words, newest first; by the index, even where few rows are wanted.
with found as materialized (
  select hash from blobs where words_of(content) @@ to_tsquery('simple', :tsquery)
)
select d.file, d.version, d.author, d.at, left(b.content, 100000) as text
from found join documents d on d.hash = found.hash join blobs b on b.hash = found.hash
where d.instance = :instance
order by d.at desc, d.file limit :limit

-- forget_message_words: Nothing: the index goes with the rows.
select 1 where false

-- forget_message_mark: Nothing.
select 1 where false

-- forget_document_words: Nothing.
select 1 where false

-- forget_document_marks: Nothing.
select 1 where false
