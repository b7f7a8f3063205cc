-- The line in which received mail waits to be read: the project of its first mailbox, empty for reports.
-- Processed messages keep the default: nothing reads it, and writing it would copy their octets.
ALTER TABLE inbound_messages ADD COLUMN line TEXT NOT NULL DEFAULT '';
UPDATE inbound_messages SET line = coalesce((
    SELECT json_extract(value, '$.projectId') FROM json_each(recipients)
    WHERE json_extract(value, '$.for') = 'mailbox' LIMIT 1), '')
  WHERE state <> 'processed' AND pending_kind = 'mail';
DROP INDEX inbound_messages_pending;
CREATE INDEX inbound_messages_pending ON inbound_messages (pending_kind, line, id)
  WHERE state = 'pending' AND is_suspect = 0;
