-- Until when whoever asked waits for the answer in the very call that asked, and hears it there.
alter table requests add column held_until integer;
