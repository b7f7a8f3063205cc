-- Octets too many to be written, or read, at a stretch: of attachments, where `owner_id` is their
-- content and `number` counts on over all of them, and of received mail, where it is the message.
-- What no row names any more is deleted by age.
CREATE TABLE chunks (
  owner_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (owner_id, number)
) STRICT;

ALTER TABLE contents ADD COLUMN chunk_bytes INTEGER NOT NULL DEFAULT 0;
-- Where chunks hold the octets, `raw` is empty while the message is kept, and null afterwards.
ALTER TABLE inbound_messages ADD COLUMN raw_chunks INTEGER NOT NULL DEFAULT 0;
