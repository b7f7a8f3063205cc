-- Reading what came in. `attempts` counts a reader's own ends at that very message. A suspect shared
-- a thread with a message that ended the thread, or was in hand when the process died: a suspect is
-- read alone. `begun_at` is set while it is read; what the next start finds there was interrupted,
-- and is read again at `due_at`. `remark`: why mail for people had less effect than other mail has.
ALTER TABLE inbound_messages ADD COLUMN is_suspect INTEGER NOT NULL DEFAULT 0;
ALTER TABLE inbound_messages ADD COLUMN interruptions INTEGER NOT NULL DEFAULT 0;
ALTER TABLE inbound_messages ADD COLUMN begun_at INTEGER;
ALTER TABLE inbound_messages ADD COLUMN due_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE inbound_messages ADD COLUMN remark TEXT;
UPDATE inbound_messages SET is_suspect = 1, attempts = 0 WHERE state = 'pending' AND attempts > 0;
DROP INDEX inbound_messages_pending;
CREATE INDEX inbound_messages_pending
  ON inbound_messages (instr(recipients, '"for":"mailbox"') > 0, id)
  WHERE state = 'pending' AND is_suspect = 0;
DROP INDEX inbound_messages_suspects;
CREATE INDEX inbound_messages_suspects ON inbound_messages (due_at, id)
  WHERE state = 'pending' AND is_suspect = 1;
DROP INDEX inbound_messages_operator;
CREATE INDEX inbound_messages_operator ON inbound_messages (id)
  WHERE state = 'failed' OR remark IS NOT NULL OR instr(recipients, '"for":"server"') > 0;

-- One row: whether a process reads, or died while it did.
CREATE TABLE inbound_reading (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  is_under_way INTEGER NOT NULL
) STRICT;
-- The program before this one did not say.
INSERT INTO inbound_reading (id, is_under_way) VALUES (1, 1);

-- How many bytes of what came in are kept, by whose they are: a project's id, 'server' for mail to
-- postmaster and abuse, 'reports' for the rest. A message for several is counted for each.
CREATE TABLE inbound_usage (
  owner TEXT PRIMARY KEY,
  bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO inbound_usage (owner, bytes)
  SELECT owner, sum(bytes) FROM (
    SELECT DISTINCT kept.id, kept.size_bytes AS bytes, coalesce(each.value ->> 'projectId',
        CASE each.value ->> 'for' WHEN 'server' THEN 'server' ELSE 'reports' END) AS owner
      FROM inbound_messages AS kept, json_each(kept.recipients) AS each
      WHERE kept.raw IS NOT NULL)
    GROUP BY owner;
CREATE TRIGGER inbound_messages_kept AFTER INSERT ON inbound_messages
  WHEN NEW.raw IS NOT NULL BEGIN
  INSERT INTO inbound_usage (owner, bytes)
    SELECT DISTINCT coalesce(value ->> 'projectId',
        CASE value ->> 'for' WHEN 'server' THEN 'server' ELSE 'reports' END), NEW.size_bytes
      FROM json_each(NEW.recipients) WHERE true
    ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER inbound_messages_cleared AFTER UPDATE OF raw ON inbound_messages
  WHEN NEW.raw IS NULL AND OLD.raw IS NOT NULL BEGIN
  UPDATE inbound_usage SET bytes = bytes - OLD.size_bytes WHERE owner IN
    (SELECT coalesce(value ->> 'projectId',
        CASE value ->> 'for' WHEN 'server' THEN 'server' ELSE 'reports' END)
      FROM json_each(OLD.recipients));
END;
CREATE TRIGGER inbound_messages_gone AFTER DELETE ON inbound_messages
  WHEN OLD.raw IS NOT NULL BEGIN
  UPDATE inbound_usage SET bytes = bytes - OLD.size_bytes WHERE owner IN
    (SELECT coalesce(value ->> 'projectId',
        CASE value ->> 'for' WHEN 'server' THEN 'server' ELSE 'reports' END)
      FROM json_each(OLD.recipients));
END;

-- Received mail that was announced within the last hour, by who sent it: an address that proved to
-- be it (SPF, DKIM), or the client's network.
CREATE TABLE received_recently (
  project_id TEXT NOT NULL,
  sender TEXT NOT NULL,
  mailbox TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX received_recently_sender ON received_recently (project_id, sender, at, mailbox);
CREATE INDEX received_recently_age ON received_recently (at);

-- How often the process ended, or fell silent, while the job was running: no attempt of the job's.
ALTER TABLE jobs ADD COLUMN losses INTEGER NOT NULL DEFAULT 0;
