-- vote: An elector's vote, once.
update electors set choice = :choice, reason = :reason, number = :number, voted_at = :now
where proposal = :id and agent = :agent and choice is null

-- close: The end of a proposal.
update proposals
set status = :status, winner = :winner, seed = :seed, assignments = :assignments, resolved_by = :resolved_by,
  reason = :reason, closed_at = :now
where id = :id and status = 'active'
