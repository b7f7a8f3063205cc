-- Suppressions by our own verdicts that wait: for the word of an operator (cause `fuse`), or until
-- the domain has been asked for again (cause `domain`, at `due_at`). The address gets mail meanwhile.
CREATE TABLE held_suppressions (
  id TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  contact_id TEXT NOT NULL,
  email TEXT NOT NULL,
  -- In A-labels.
  domain TEXT NOT NULL,
  reason TEXT NOT NULL,
  source TEXT NOT NULL,
  email_id TEXT NOT NULL,
  cause TEXT NOT NULL,
  due_at INTEGER,
  created_at INTEGER NOT NULL,
  UNIQUE (project_id, email)
) STRICT;
CREATE INDEX held_suppressions_due ON held_suppressions (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX held_suppressions_newest ON held_suppressions (created_at, id);
CREATE INDEX held_suppressions_domain ON held_suppressions (domain) WHERE cause = 'domain';

-- What an undo has to respect: that somebody else put the address on the list as well, and that the
-- contact, unsubscribed already, said that it wants no mail.
ALTER TABLE suppressions ADD COLUMN later_reason TEXT;
ALTER TABLE suppressions ADD COLUMN wished_at INTEGER;

-- Recipient domains (A-labels) that have taken mail or put it off, so that there was somebody.
CREATE TABLE known_domains (
  domain TEXT PRIMARY KEY,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO known_domains (domain, created_at)
  SELECT recipient_domain, min(created_at) FROM emails
  WHERE delivered_at IS NOT NULL OR state = 'deferred' GROUP BY recipient_domain;
