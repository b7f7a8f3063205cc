-- Lists other than the queue find emails by a column of their own (`store/shelves.ts` has its values), which
-- neither a claim nor a delivery of live mail writes: SQLite opens and evaluates each index whose columns or
-- condition an UPDATE names, and these named the state. The old indexes find the rows that have a shelf.
ALTER TABLE emails ADD COLUMN shelf INTEGER;

UPDATE emails INDEXED BY emails_parked
SET shelf = CASE WHEN state = 'held' THEN 1 WHEN attempt_count > 0 THEN 2 ELSE 3 END
WHERE state IN ('held', 'paused');

UPDATE emails INDEXED BY emails_ends
SET shelf = CASE status WHEN 'BOUNCED' THEN 4 WHEN 'COMPLAINED' THEN 5 WHEN 'FAILED' THEN 6 ELSE 7 END
WHERE status IN ('BOUNCED', 'COMPLAINED', 'FAILED', 'SUPPRESSED');

UPDATE emails INDEXED BY emails_campaign_waiting
SET shelf = CASE state WHEN 'queued' THEN 8 ELSE 9 END
WHERE campaign_id IS NOT NULL AND state IN ('queued', 'deferred', 'held', 'paused', 'sending')
  AND shelf IS NULL;

DROP INDEX emails_parked;
DROP INDEX emails_paused;
DROP INDEX emails_held;
DROP INDEX emails_ends;
DROP INDEX emails_campaign_ends;
DROP INDEX emails_campaign_waiting;

-- What waits and nobody claims: of a domain that an operator holds, and of a project.
CREATE INDEX emails_held ON emails (recipient_domain, id) WHERE shelf = 1;
CREATE INDEX emails_parked ON emails (project_id, shelf, campaign_id) WHERE shelf <= 3;
-- What did not arrive, or was complained about.
CREATE INDEX emails_ends ON emails (project_id, shelf, created_at) WHERE shelf BETWEEN 4 AND 7;
-- All of both, and what else waits or is being sent, of a campaign.
CREATE INDEX emails_campaign_shelf ON emails (shelf, campaign_id)
  WHERE campaign_id IS NOT NULL AND shelf IS NOT NULL;

-- Triggers on the state are compiled into every claim and every delivery. A retry takes its emails off the
-- figures (`messages/outcome/uncount-failed.ts`), and whoever writes a final state clears what is sealed.
DROP TRIGGER campaign_emails_retry;
DROP TRIGGER emails_final;
