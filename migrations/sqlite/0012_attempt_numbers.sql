-- The brake of campaigns follows attempts by their ids. Without AUTOINCREMENT a new attempt gets the
-- id of the newest one if that has been deleted, and the follower would not see it.
DROP TRIGGER emails_gone;
CREATE TABLE numbered_attempts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  email_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  result TEXT NOT NULL,
  class TEXT,
  host TEXT,
  address TEXT,
  tls TEXT,
  reply_code INTEGER,
  enhanced_code TEXT,
  reply_text TEXT,
  error TEXT,
  is_maybe_delivered INTEGER NOT NULL DEFAULT 0,
  -- Of each step an array, of each reply in it another: the names are in the schema.
  steps TEXT NOT NULL,
  final_recipient TEXT
) STRICT;
INSERT INTO numbered_attempts SELECT * FROM attempts;
DROP TABLE attempts;
ALTER TABLE numbered_attempts RENAME TO attempts;
CREATE INDEX attempts_email ON attempts (email_id);
CREATE TRIGGER emails_gone AFTER DELETE ON emails BEGIN
  DELETE FROM attempts WHERE email_id = OLD.id;
END;
-- The follower's place may be beyond the newest attempt.
UPDATE sqlite_sequence
  SET seq = max(seq, (SELECT seq FROM event_followers WHERE name = 'campaign-refusals'))
  WHERE name = 'attempts';
INSERT INTO sqlite_sequence (name, seq)
  SELECT 'attempts', seq FROM event_followers WHERE name = 'campaign-refusals'
    AND NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'attempts');
