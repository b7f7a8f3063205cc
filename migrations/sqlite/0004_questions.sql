-- What commands ask the running server, which alone knows its memory: it writes the answer into the
-- row. Questions are short-lived; the server sweeps what is left of them.
CREATE TABLE server_questions (
  id TEXT PRIMARY KEY,
  question TEXT NOT NULL,
  answer TEXT,
  asked_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Of a report: whom it says was not reached, where an alias or a forward led.
ALTER TABLE attempts ADD COLUMN final_recipient TEXT;

-- The plain text beside the HTML in `body`.
ALTER TABLE contents ADD COLUMN text TEXT;
