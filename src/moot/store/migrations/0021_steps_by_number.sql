-- Steps are found by their number, the newest first, also the one that an agent says once more that it has done. An index
-- by id was not asked by any statement, and cost every step a page of the log.
drop index flow_steps_by_id;
