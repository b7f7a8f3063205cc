-- A database that was brought back from a copy is fenced: what acts by itself, and was there at that
-- instant, is held until an operator releases it.

-- Each fence begins a generation of the database. `event_seq`: the last number of an event before it.
CREATE TABLE generations (
  number INTEGER PRIMARY KEY,
  cause TEXT NOT NULL,
  event_seq INTEGER NOT NULL,
  set_at INTEGER NOT NULL
) STRICT;

-- The projects whose fence stands; '' is the server itself. What has a number or a time up to these is held.
CREATE TABLE fences (
  project_id TEXT PRIMARY KEY,
  generation INTEGER NOT NULL,
  set_at INTEGER NOT NULL,
  event_seq INTEGER NOT NULL,
  execution_number INTEGER NOT NULL,
  delivery_number INTEGER NOT NULL,
  -- Emails accepted up to this instant are held.
  mail_until INTEGER NOT NULL,
  -- All mail that waits has been put aside, so what is due is newer.
  is_settled INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

ALTER TABLE metering_batches ADD COLUMN is_held INTEGER NOT NULL DEFAULT 0;

-- Received mail that a fence holds.
CREATE INDEX inbound_messages_held ON inbound_messages (id) WHERE state = 'held';
