-- Where a project's events are sent to.
CREATE TABLE webhook_endpoints (
  id TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  url TEXT NOT NULL,
  -- Names of events and patterns, as a JSON list.
  events TEXT NOT NULL,
  description TEXT,
  enabled INTEGER NOT NULL DEFAULT 1,
  -- Why the service disabled the endpoint; null if a request did.
  disabled_reason TEXT,
  -- Sealed, as the keys of domains. The previous one signs, too, until `previous_until`.
  secret TEXT NOT NULL,
  previous_secret TEXT,
  previous_until INTEGER,
  -- Events up to this one make no deliveries: the newest when the endpoint was created or enabled.
  after_seq INTEGER NOT NULL,
  -- The first failure since the last success.
  failing_since INTEGER,
  last_success_at INTEGER,
  -- Waiting deliveries up to this number have failed, because the endpoint was disabled then; 0 once
  -- their rows say so.
  failed_through INTEGER NOT NULL DEFAULT 0,
  -- A deleted endpoint is hidden; its row follows its deliveries.
  deleted_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_endpoints_project ON webhook_endpoints (project_id, created_at, id);

-- An event on its way to an endpoint. The payload is made from the event when it is sent. The rows
-- with a due time are the queue.
CREATE TABLE webhook_deliveries (
  -- The order of events.
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  endpoint_id TEXT NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
  -- Null for a test.
  event_seq INTEGER,
  event_id TEXT NOT NULL,
  event_name TEXT NOT NULL,
  status TEXT NOT NULL,
  -- 0: due at once, as until the first attempt ends; null at the end.
  due_at INTEGER,
  attempts INTEGER NOT NULL DEFAULT 0,
  -- Of the last attempt.
  status_code INTEGER,
  error TEXT,
  response TEXT,
  duration_ms INTEGER,
  last_attempt_at INTEGER,
  completed_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, due_at)
  WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_status ON webhook_deliveries (endpoint_id, status);

-- What signs the webhooks of a project's workflows.
CREATE TABLE webhook_signing_secrets (
  project_id TEXT PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  secret TEXT NOT NULL,
  previous_secret TEXT,
  previous_until INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
