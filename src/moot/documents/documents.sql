-- entry: Which document is read first.
select entry from document_rules where instance = :instance

-- set_entry: Have another document read first.
update document_rules set entry = :entry where instance = :instance

-- row: A document, even if it was deleted.
select file, version, hash from documents where instance = :instance and folded = :folded

-- find: A document that is there.
select file, version, hash, size, author, at from documents
where instance = :instance and folded = :folded and hash is not null

-- all_of: Every document that is there, by path.
select file, version, hash, size, author, at from documents
where instance = :instance and hash is not null order by folded

-- read: The text of a version, or of the current one, as far as there is a text.
select d.file, v.version, b.content, v.author, v.at
from documents d
join document_versions v on v.instance = d.instance and v.folded = d.folded
  and v.version = coalesce(cast(:version as bigint), d.version)
join blobs b on b.hash = v.hash
where d.instance = :instance and d.folded = :folded

-- blob: A text.
select content from blobs where hash = :hash

-- add_blob: Keep a text, unless it is kept already.
insert into blobs (hash, content) values (:hash, :content) on conflict (hash) do nothing

-- put: What a document is from here on.
insert into documents (instance, folded, file, version, hash, size, author, at)
values (:instance, :folded, :file, :version, :hash, :size, :author, :now)
on conflict (instance, folded) do update set
  file = excluded.file, version = excluded.version, hash = excluded.hash, size = excluded.size,
  author = excluded.author, at = excluded.at

-- add_version: One more line of its history.
insert into document_versions (instance, folded, version, action, hash, size, author, agent, attempt, at)
values (:instance, :folded, :version, :action, :hash, :size, :author, :agent, :attempt, :now)

-- history: The last versions, newest first.
select version, action, hash, size, author, at from document_versions
where instance = :instance and folded = :folded and version < :end order by version desc limit :limit

-- version_with: The newest version that had this text.
select version from document_versions
where instance = :instance and folded = :folded and hash = :hash order by version desc limit 1

-- heads: Of every instance with documents, how many versions there are.
select instance, cast(sum(version) as bigint) as changes from documents group by instance

-- forget_blobs: Texts that only this instance has.
delete from blobs
where hash in (select hash from document_versions where instance = :instance)
  and hash not in (select hash from document_versions where instance <> :instance and hash is not null)

-- forget_versions: What its documents were.
delete from document_versions where instance = :instance

-- forget: Its documents.
delete from documents where instance = :instance

-- forget_rules: Who might write them.
delete from document_rules where instance = :instance
