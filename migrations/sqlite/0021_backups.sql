-- The attempts at backups that have ended, by commands and by the schedule of the server.
CREATE TABLE backups (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  origin TEXT NOT NULL CHECK (origin IN ('command', 'schedule')),
  file TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER NOT NULL,
  -- Null for an attempt that succeeded.
  error TEXT,
  bytes INTEGER NOT NULL,
  database_bytes INTEGER NOT NULL
) STRICT;
