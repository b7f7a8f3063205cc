-- Chains: an execution of a workflow makes events, which start executions. `depth` counts the executions
-- before: 0 for a start by the API, a schedule or a person. Null for events that no execution made, and for
-- those of an email, whose row names the execution.
ALTER TABLE events ADD COLUMN depth INTEGER;
ALTER TABLE workflow_executions ADD COLUMN depth INTEGER NOT NULL DEFAULT 0;
-- When the last start was cancelled because its chain was too deep, with a row that says so.
ALTER TABLE workflows ADD COLUMN chain_cut_at INTEGER;

-- Executions of chains that wait for a place in a minute.
CREATE INDEX workflow_executions_line ON workflow_executions (project_id, due_at)
  WHERE depth > 0 AND steps_done = 0 AND status = 'WAITING';

-- How many executions of chains have begun in a project in the minute that starts at `minute_at`.
CREATE TABLE chain_starts (
  project_id TEXT PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  minute_at INTEGER NOT NULL,
  begun INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Contacts that an execution changed, and the depth of the events that follow. A segment that is computed
-- later finds here why a contact entered or left.
CREATE TABLE caused_changes (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  contact_id TEXT NOT NULL UNIQUE REFERENCES contacts (id) ON DELETE CASCADE,
  depth INTEGER NOT NULL
) STRICT;

-- The last change and the last event that the last complete computation of the segment has seen.
ALTER TABLE segments ADD COLUMN seen_change INTEGER NOT NULL DEFAULT 0;
ALTER TABLE segments ADD COLUMN seen_event INTEGER NOT NULL DEFAULT 0;
UPDATE segments SET seen_event = coalesce((SELECT max(seq) FROM events), 0);
