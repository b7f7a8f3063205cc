-- The untried emails of the campaign have the slots of a pace that is over.
ALTER TABLE campaign_progress ADD COLUMN has_old_slots INTEGER NOT NULL DEFAULT 0;
-- Emails that were tried already do not wait for a slot.
DROP INDEX emails_paused;
CREATE INDEX emails_paused ON emails (campaign_id, attempt_count) WHERE state = 'paused';
