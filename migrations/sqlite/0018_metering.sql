-- The meter of the tries of a batch: its id at Stripe; '' if they were of several. Null without a try, and of
-- batches that were tried before this migration.
ALTER TABLE metering_batches ADD COLUMN meter TEXT;
