-- The ids that the first request under a key was answered with; a repetition is told them.
ALTER TABLE idempotency_keys ADD COLUMN answer TEXT;
