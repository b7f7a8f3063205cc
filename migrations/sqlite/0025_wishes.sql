-- What people decided about mail belongs to their address, not to a row: it outlives contacts and emails.

-- Random keys of this instance, sealed. They are never replaced.
CREATE TABLE instance_keys (
  name TEXT PRIMARY KEY,
  sealed TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- People who left. `digest`: of the project and the address, by the key `addresses`. `project_id`: null when
-- a link was all that was left of the contact and the email.
CREATE TABLE wishes (
  digest BLOB PRIMARY KEY,
  project_id TEXT REFERENCES projects (id) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX wishes_project ON wishes (project_id);

-- Contacts and emails that were deleted: links in mail that was sent still name them. `contact_id`: the
-- contact that has the address now.
CREATE TABLE erased_recipients (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  digest BLOB NOT NULL,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  contact_id TEXT,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX erased_recipients_digest ON erased_recipients (digest);
CREATE INDEX erased_recipients_project ON erased_recipients (project_id);

-- The wishes of before, by address. The start of the program moves them to `wishes`, because SQL has no
-- keyed digest, and accepts nothing before that is done.
CREATE TABLE unkeyed_wishes (
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  email TEXT NOT NULL,
  kind TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (project_id, email)
) STRICT, WITHOUT ROWID;

-- The contacts that left by themselves and did not come back, and the address that the mail went to. Who
-- left by a link in mail to another address (a workflow's recipient) left for that address alone.
CREATE TEMP TABLE departures AS
  SELECT e.project_id, e.contact_id, json_extract(e.data, '$.reason') AS kind, e.created_at AS at,
    m.recipient, m.workflow_execution_id IS NOT NULL
      AND json_type(m.variables, '$.reader') IS NOT NULL AS is_to_other
  FROM projects p
  CROSS JOIN events e INDEXED BY events_named
    ON e.project_id = p.id AND e.name = 'contact.unsubscribed'
  LEFT JOIN emails m ON m.id = e.email_id
  WHERE (json_extract(e.data, '$.reason') IN ('page', 'one-click', 'mail', 'complaint')
      OR (json_extract(e.data, '$.reason') = 'api' AND e.email_id IS NOT NULL))
    AND NOT EXISTS (SELECT 1 FROM events s WHERE s.contact_id = e.contact_id
      AND s.name = 'contact.subscribed' AND s.seq > e.seq);

INSERT OR IGNORE INTO unkeyed_wishes (project_id, email, kind, at)
  SELECT c.project_id, c.email, d.kind, d.at FROM departures d
  CROSS JOIN contacts c ON c.id = d.contact_id
  WHERE c.subscribed = 0 AND NOT d.is_to_other;

INSERT OR IGNORE INTO unkeyed_wishes (project_id, email, kind, at)
  SELECT d.project_id, d.recipient, d.kind, d.at FROM departures d
  WHERE d.recipient IS NOT NULL AND NOT EXISTS (SELECT 1 FROM contacts c
    WHERE c.project_id = d.project_id AND c.email = d.recipient AND c.subscribed = 1);

INSERT OR IGNORE INTO unkeyed_wishes (project_id, email, kind, at)
  SELECT s.project_id, s.email,
    CASE WHEN 'COMPLAINT' IN (s.reason, s.later_reason) THEN 'complaint' ELSE 'unknown' END,
    coalesce(s.wished_at, s.created_at)
  FROM suppressions s
  WHERE ('COMPLAINT' IN (s.reason, s.later_reason) OR s.wished_at IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM contacts c
      WHERE c.project_id = s.project_id AND c.email = s.email AND c.subscribed = 1);

DROP TABLE departures;

ALTER TABLE suppressions DROP COLUMN wished_at;

-- Whether the public key may unsubscribe contacts, change their data and learn their ids: as before for the
-- projects of before.
ALTER TABLE projects ADD COLUMN public_key_may_update INTEGER NOT NULL DEFAULT 0;
UPDATE projects SET public_key_may_update = 1;
