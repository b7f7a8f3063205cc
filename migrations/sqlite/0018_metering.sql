-- The meter of the tries of a batch: its id at Stripe; '' if they were of several. Null without a try, and of
-- batches that were tried before this migration.
ALTER TABLE metering_batches ADD COLUMN meter TEXT;

-- What is deleted after 40 days: also what was dropped.
DROP INDEX metering_batches_charged;
CREATE INDEX metering_batches_ended ON metering_batches (occurred_at)
  WHERE state IN ('charged', 'dropped');
-- Whether a project had a batch charged lately: its subscription is cancelled after that.
CREATE INDEX metering_batches_charged ON metering_batches (project_id, updated_at)
  WHERE state = 'charged';
