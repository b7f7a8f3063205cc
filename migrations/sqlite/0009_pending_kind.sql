-- Whether a pending message is mail to a mailbox or a report, and whether it is for the server itself,
-- are columns now, written at acceptance; both were searched in the JSON of `recipients` before.
-- Processed messages keep the default of `pending_kind`: nothing reads it, and writing it would copy
-- their octets.
ALTER TABLE inbound_messages ADD COLUMN pending_kind TEXT NOT NULL DEFAULT 'reports';
ALTER TABLE inbound_messages ADD COLUMN is_for_server INTEGER NOT NULL DEFAULT 0;
UPDATE inbound_messages SET pending_kind = 'mail'
  WHERE state <> 'processed' AND instr(recipients, '"for":"mailbox"') > 0;
UPDATE inbound_messages SET is_for_server = 1 WHERE instr(recipients, '"for":"server"') > 0;
DROP INDEX inbound_messages_pending;
CREATE INDEX inbound_messages_pending ON inbound_messages (pending_kind, id)
  WHERE state = 'pending' AND is_suspect = 0;
DROP INDEX inbound_messages_operator;
CREATE INDEX inbound_messages_operator ON inbound_messages (id)
  WHERE state = 'failed' OR remark IS NOT NULL OR is_for_server = 1;
