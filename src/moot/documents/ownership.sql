-- find: Who may write in an instance.
select owner, election from document_rules where instance = :instance

-- add: The rules of an instance whose documents were not touched before: everybody may write.
insert into document_rules (instance, entry, channel) values (:instance, :entry, 'channel.md')
on conflict (instance) do nothing

-- give: Let only the owner write, or everybody; an election is over.
update document_rules set owner = :owner, election = null where instance = :instance

-- elect: Let nobody write until a vote has found an owner.
update document_rules set election = :proposal where instance = :instance

-- stream_of: Where an instance speaks.
select stream from instances where name = :instance
