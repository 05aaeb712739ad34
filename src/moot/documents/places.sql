-- find: Where the files of an instance lie, and which of them is its channel.
select folder, channel, is_kept from document_rules where instance = :instance

-- sharing: Other instances whose files lie in the same folder.
select instance from document_rules where folder = :folder and instance <> :instance order by instance

-- put: Have them lie elsewhere.
update document_rules set folder = :folder, channel = :channel, is_kept = :is_kept where instance = :instance
