-- The octets of attachments too large to be written, or read, at a stretch; `number` counts on over
-- all attachments of a content. What no content names any more is deleted by age.
CREATE TABLE attachment_chunks (
  content_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (content_id, number)
) STRICT;

ALTER TABLE contents ADD COLUMN chunk_bytes INTEGER NOT NULL DEFAULT 0;
