-- A workflow is a graph of steps and transitions. Steps that were removed stay for the history of
-- executions, hidden.
CREATE TABLE workflows (
  id TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  description TEXT,
  enabled INTEGER NOT NULL DEFAULT 0,
  trigger_type TEXT NOT NULL DEFAULT 'EVENT',
  trigger_config TEXT,
  -- The stored name of the event that starts executions; null unless the trigger is EVENT.
  trigger_event TEXT,
  -- The segment of a SCHEDULE.
  segment_id TEXT,
  allow_reentry INTEGER NOT NULL DEFAULT 0,
  -- Events up to this one start nothing: the newest when the workflow was enabled.
  enabled_seq INTEGER NOT NULL DEFAULT 0,
  -- The next firing of a SCHEDULE; null while the workflow is disabled.
  next_fire_at INTEGER,
  -- Active executions up to this number count as cancelled with this reason since this instant;
  -- `is_cancelling` until their rows say so. Then the number is 0 again.
  cancelled_through INTEGER NOT NULL DEFAULT 0,
  cancel_reason TEXT,
  cancelled_at INTEGER,
  is_cancelling INTEGER NOT NULL DEFAULT 0,
  version INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  -- Nothing shows the workflow from then on; a job deletes its rows.
  deleted_at INTEGER
) STRICT;
CREATE INDEX workflows_newest ON workflows (project_id, created_at, id);
CREATE INDEX workflows_triggers ON workflows (project_id, trigger_event)
  WHERE enabled = 1 AND trigger_event IS NOT NULL;
CREATE INDEX workflows_scheduled ON workflows (next_fire_at) WHERE next_fire_at IS NOT NULL;
CREATE INDEX workflows_cancelling ON workflows (id) WHERE is_cancelling = 1;
CREATE INDEX workflows_deleted ON workflows (project_id) WHERE deleted_at IS NOT NULL;

CREATE TABLE workflow_steps (
  id TEXT PRIMARY KEY,
  workflow_id TEXT NOT NULL REFERENCES workflows (id) ON DELETE CASCADE,
  project_id TEXT NOT NULL,
  type TEXT NOT NULL,
  name TEXT NOT NULL,
  position TEXT NOT NULL,
  config TEXT NOT NULL,
  template_id TEXT,
  removed_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX workflow_steps_workflow ON workflow_steps (workflow_id, created_at);
CREATE INDEX workflow_steps_project ON workflow_steps (project_id, type) WHERE removed_at IS NULL;
CREATE INDEX workflow_steps_template ON workflow_steps (template_id) WHERE template_id IS NOT NULL;

CREATE TABLE workflow_transitions (
  id TEXT PRIMARY KEY,
  workflow_id TEXT NOT NULL REFERENCES workflows (id) ON DELETE CASCADE,
  from_step_id TEXT NOT NULL REFERENCES workflow_steps (id) ON DELETE CASCADE,
  to_step_id TEXT NOT NULL REFERENCES workflow_steps (id) ON DELETE CASCADE,
  condition TEXT,
  wait_outcome TEXT,
  priority INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX workflow_transitions_workflow ON workflow_transitions (workflow_id, created_at);
CREATE INDEX workflow_transitions_from ON workflow_transitions (from_step_id);
CREATE INDEX workflow_transitions_to ON workflow_transitions (to_step_id);

-- One walk of a contact through a workflow. The rows with a due time are the queue of the engine.
CREATE TABLE workflow_executions (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  project_id TEXT NOT NULL,
  workflow_id TEXT NOT NULL REFERENCES workflows (id) ON DELETE CASCADE,
  contact_id TEXT NOT NULL REFERENCES contacts (id) ON DELETE CASCADE,
  status TEXT NOT NULL,
  current_step_id TEXT,
  exit_reason TEXT,
  context TEXT,
  source_event_id TEXT,
  source_event_seq INTEGER,
  -- When the engine goes on. Null at the end, and while only an event or a webhook ends the wait.
  due_at INTEGER,
  -- The number of step rows before the current step's.
  steps_done INTEGER NOT NULL DEFAULT 0,
  started_at INTEGER NOT NULL,
  completed_at INTEGER,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX workflow_executions_due ON workflow_executions (workflow_id, due_at)
  WHERE due_at IS NOT NULL;
-- A contact has one active execution of a workflow at most.
CREATE UNIQUE INDEX workflow_executions_active ON workflow_executions (workflow_id, contact_id)
  WHERE status IN ('RUNNING', 'WAITING');
CREATE INDEX workflow_executions_place ON workflow_executions (workflow_id, current_step_id, due_at)
  WHERE status IN ('RUNNING', 'WAITING');
-- An event starts one execution of a workflow at most.
CREATE UNIQUE INDEX workflow_executions_source ON workflow_executions (workflow_id, source_event_seq)
  WHERE source_event_seq IS NOT NULL;
CREATE INDEX workflow_executions_contact
  ON workflow_executions (contact_id, workflow_id, started_at);
CREATE INDEX workflow_executions_status ON workflow_executions (workflow_id, status);

-- What an execution did at each step, in order.
CREATE TABLE workflow_step_executions (
  execution_number INTEGER NOT NULL
    REFERENCES workflow_executions (number) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  id TEXT NOT NULL,
  step_id TEXT NOT NULL,
  status TEXT NOT NULL,
  -- The end of a DELAY.
  scheduled_for INTEGER,
  -- The timeout of a WAIT_FOR_EVENT.
  execute_after INTEGER,
  input TEXT,
  output TEXT,
  error TEXT,
  started_at INTEGER NOT NULL,
  completed_at INTEGER,
  PRIMARY KEY (execution_number, ordinal)
) STRICT, WITHOUT ROWID;

-- Executions at a WAIT_FOR_EVENT. The follower of events sets `event_seq`; the engine decides
-- between event and timeout.
CREATE TABLE workflow_waits (
  execution_number INTEGER PRIMARY KEY
    REFERENCES workflow_executions (number) ON DELETE CASCADE,
  workflow_id TEXT NOT NULL,
  contact_id TEXT NOT NULL,
  event_name TEXT NOT NULL,
  -- Only events of this email count; '' if no email was sent yet; null if every event counts.
  email_id TEXT,
  -- The newest event when the wait began.
  after_seq INTEGER NOT NULL,
  event_seq INTEGER
) STRICT;
CREATE INDEX workflow_waits_event ON workflow_waits (contact_id, event_name);

-- Executions at a WEBHOOK: the requests that are still to be made.
CREATE TABLE workflow_requests (
  execution_number INTEGER PRIMARY KEY
    REFERENCES workflow_executions (number) ON DELETE CASCADE,
  workflow_id TEXT NOT NULL,
  project_id TEXT NOT NULL,
  step_id TEXT NOT NULL,
  step_execution_id TEXT NOT NULL,
  ordinal INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  -- Rendered before the first attempt.
  request TEXT
) STRICT;
CREATE INDEX workflow_requests_due ON workflow_requests (workflow_id, due_at);

-- Counts that do not shrink when contacts are deleted, kept by the engine in the transactions of the
-- steps. `subject`: a step, a transition, or '' for the workflow.
CREATE TABLE workflow_figures (
  workflow_id TEXT NOT NULL REFERENCES workflows (id) ON DELETE CASCADE,
  subject TEXT NOT NULL,
  figure TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (workflow_id, subject, figure)
) STRICT, WITHOUT ROWID;

CREATE INDEX emails_workflow ON emails (workflow_execution_id) WHERE workflow_execution_id IS NOT NULL;
