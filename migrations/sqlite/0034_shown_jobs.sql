-- What the list of jobs shows: who asked for a job, when it first ran, how many of how many rows it has
-- done, and since when it is to stop. Null: a key asked, not yet, not known, it goes on.
ALTER TABLE jobs ADD COLUMN user_id TEXT;
ALTER TABLE jobs ADD COLUMN started_at INTEGER;
ALTER TABLE jobs ADD COLUMN done INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN total INTEGER;
ALTER TABLE jobs ADD COLUMN cancelled_at INTEGER;
