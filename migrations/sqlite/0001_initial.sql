-- Ids are UUIDv7 text, instants integer epoch milliseconds, booleans integers, JSON text.

CREATE TABLE users (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE,
  password_hash TEXT,
  is_sandbox INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE projects (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  public_key TEXT NOT NULL UNIQUE,
  secret_digest TEXT NOT NULL UNIQUE,
  secret_hint TEXT NOT NULL,
  are_keys_sandbox INTEGER NOT NULL DEFAULT 0,
  is_disabled INTEGER NOT NULL DEFAULT 0,
  disabled_reason TEXT,
  tracking TEXT NOT NULL DEFAULT 'ENABLED',
  language TEXT NOT NULL DEFAULT 'en',
  contact_count INTEGER NOT NULL DEFAULT 0,
  subscribed_count INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE memberships (
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  role TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (user_id, project_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX memberships_project ON memberships (project_id);

CREATE TABLE domains (
  id TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  domain TEXT NOT NULL,
  is_verified INTEGER NOT NULL DEFAULT 0,
  is_trusted INTEGER NOT NULL DEFAULT 0,
  status TEXT NOT NULL DEFAULT 'Pending',
  rsa_selector TEXT NOT NULL,
  rsa_private_key TEXT NOT NULL,
  rsa_public_key TEXT NOT NULL,
  ed25519_selector TEXT NOT NULL,
  ed25519_private_key TEXT NOT NULL,
  ed25519_public_key TEXT NOT NULL,
  is_ed25519_found INTEGER NOT NULL DEFAULT 0,
  is_return_path_found INTEGER NOT NULL DEFAULT 0,
  is_mx_found INTEGER NOT NULL DEFAULT 0,
  findings TEXT,
  checked_at INTEGER,
  failed_checks INTEGER NOT NULL DEFAULT 0,
  failing_since INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (project_id, domain)
) STRICT;
CREATE UNIQUE INDEX domains_owner ON domains (domain) WHERE is_verified = 1;
CREATE INDEX domains_checked ON domains (checked_at);

-- `number` rises with every contact: it is the order of lists and walks, and the row of the search
-- index. Nobody outside sees it. None is given twice: long work goes up to the last there was when
-- it began.
CREATE TABLE contacts (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  email TEXT NOT NULL,
  subscribed INTEGER NOT NULL,
  data TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX contacts_address ON contacts (project_id, email);
-- Its entries end with the row's number: either half is in the order of lists.
CREATE INDEX contacts_order ON contacts (project_id, subscribed);

-- Which keys the data of a project's contacts has, and how many of them as what. Kept by triggers,
-- so that no path can forget it.
CREATE TABLE contact_fields (
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  -- boolean, number, date, string, other (lists and objects)
  kind TEXT NOT NULL,
  contacts INTEGER NOT NULL,
  PRIMARY KEY (project_id, key, kind)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER contact_fields_end AFTER UPDATE OF contacts ON contact_fields
  WHEN NEW.contacts = 0 BEGIN
  DELETE FROM contact_fields
    WHERE project_id = NEW.project_id AND key = NEW.key AND kind = NEW.kind;
END;
CREATE VIEW contact_values AS
  SELECT contacts.number AS number, contacts.id AS contact_id, contacts.project_id AS project_id,
    entry.key AS key, CASE entry.type
      WHEN 'true' THEN 'boolean' WHEN 'false' THEN 'boolean'
      WHEN 'integer' THEN 'number' WHEN 'real' THEN 'number'
      WHEN 'text' THEN CASE
        WHEN entry.value GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' THEN 'date'
        WHEN entry.value GLOB
          '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]*'
          AND (substr(entry.value, 20) IN ('', 'Z')
            OR substr(entry.value, 20) GLOB '.[0-9][0-9][0-9]'
            OR substr(entry.value, 20) GLOB '.[0-9][0-9][0-9]Z')
          THEN 'date'
        ELSE 'string' END
      ELSE 'other' END AS kind
  FROM contacts, json_each(contacts.data) AS entry;
CREATE TRIGGER contacts_come AFTER INSERT ON contacts BEGIN
  UPDATE projects SET contact_count = contact_count + 1,
    subscribed_count = subscribed_count + NEW.subscribed WHERE id = NEW.project_id;
  INSERT INTO contact_search_backlog (number) VALUES (NEW.number)
    ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER contacts_come_with_data AFTER INSERT ON contacts WHEN NEW.data IS NOT NULL BEGIN
  INSERT INTO contact_fields (project_id, key, kind, contacts)
    SELECT project_id, key, kind, 1 FROM contact_values WHERE number = NEW.number
    ON CONFLICT DO UPDATE SET contacts = contacts + 1;
END;
-- Most changes give no key another kind, and touch no count. The kinds are those of the view, which
-- can show only one state of a contact at a time.
CREATE TRIGGER contacts_change_data AFTER UPDATE OF data ON contacts
  WHEN OLD.data IS NOT NEW.data BEGIN
  INSERT INTO contact_fields (project_id, key, kind, contacts)
    SELECT NEW.project_id, entry.key, CASE entry.type
        WHEN 'true' THEN 'boolean' WHEN 'false' THEN 'boolean'
        WHEN 'integer' THEN 'number' WHEN 'real' THEN 'number'
        WHEN 'text' THEN CASE
          WHEN entry.value GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]' THEN 'date'
          WHEN entry.value GLOB
            '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]*'
            AND (substr(entry.value, 20) IN ('', 'Z')
              OR substr(entry.value, 20) GLOB '.[0-9][0-9][0-9]'
              OR substr(entry.value, 20) GLOB '.[0-9][0-9][0-9]Z')
            THEN 'date'
          ELSE 'string' END
        ELSE 'other' END, sum(entry.more)
      FROM (SELECT key, type, value, 1 AS more FROM json_each(NEW.data)
        UNION ALL SELECT key, type, value, -1 FROM json_each(OLD.data)) AS entry
      GROUP BY 2, 3 HAVING sum(entry.more) <> 0
    ON CONFLICT DO UPDATE SET contacts = contacts + excluded.contacts;
END;
CREATE TRIGGER contacts_leave BEFORE DELETE ON contacts BEGIN
  UPDATE projects SET contact_count = contact_count - 1,
    subscribed_count = subscribed_count - OLD.subscribed WHERE id = OLD.project_id;
  UPDATE contact_fields SET contacts = contacts - 1 WHERE (project_id, key, kind) IN
    (SELECT project_id, key, kind FROM contact_values WHERE number = OLD.number);
  INSERT INTO contact_search_backlog (number) VALUES (OLD.number) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER contacts_turn AFTER UPDATE OF subscribed ON contacts
  WHEN OLD.subscribed <> NEW.subscribed BEGIN
  UPDATE projects SET subscribed_count = subscribed_count + NEW.subscribed - OLD.subscribed
    WHERE id = NEW.project_id;
END;
CREATE TRIGGER contacts_move AFTER UPDATE OF email ON contacts WHEN OLD.email <> NEW.email BEGIN
  INSERT INTO contact_search_backlog (number) VALUES (NEW.number) ON CONFLICT DO NOTHING;
END;

-- Parts of addresses, three characters at a time, of every project: what it finds is looked at
-- again. Filled behind the writes that owe it, whose contacts stand in the backlog until then.
CREATE VIRTUAL TABLE contact_search USING fts5 (
  email, content = '', contentless_delete = 1, tokenize = 'trigram', detail = none
);
-- Merged by whoever fills it, a little at a time: by itself it would take 40 ms of the writer at once.
INSERT INTO contact_search (contact_search, rank) VALUES ('automerge', 0);
CREATE TABLE contact_search_backlog (number INTEGER PRIMARY KEY) STRICT;

CREATE TABLE suppressions (
  id TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  email TEXT NOT NULL,
  reason TEXT NOT NULL,
  source TEXT NOT NULL,
  email_id TEXT,
  created_at INTEGER NOT NULL,
  UNIQUE (project_id, email)
) STRICT;
CREATE INDEX suppressions_newest ON suppressions (project_id, created_at, id);

-- Refusals that do not condemn an address by themselves: three over at least 14 days do.
CREATE TABLE strikes (
  id INTEGER PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  email TEXT NOT NULL,
  email_id TEXT NOT NULL,
  reason TEXT NOT NULL,
  at INTEGER NOT NULL,
  UNIQUE (project_id, email, email_id)
) STRICT;
CREATE INDEX strikes_age ON strikes (at);

CREATE TABLE templates (
  id TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  description TEXT,
  subject TEXT NOT NULL,
  body TEXT NOT NULL,
  from_address TEXT NOT NULL,
  from_domain TEXT NOT NULL,
  from_name TEXT,
  reply_to TEXT,
  type TEXT NOT NULL DEFAULT 'MARKETING',
  version INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX templates_newest ON templates (project_id, created_at, id);
CREATE INDEX templates_from_domain ON templates (project_id, from_domain);

-- What the recipients of one request, or of one template version, share. Never shared across
-- projects. `share_key` names a template version; a request's own content has none.
CREATE TABLE contents (
  id TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  share_key TEXT,
  subject TEXT NOT NULL,
  body TEXT,
  is_text INTEGER NOT NULL DEFAULT 0,
  attachments TEXT,
  -- The links of a body that retention cleared: they outlive it.
  links TEXT,
  last_used_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX contents_shared ON contents (project_id, share_key) WHERE share_key IS NOT NULL;
CREATE INDEX contents_age ON contents (last_used_at) WHERE body IS NOT NULL;

-- One email = one recipient = one row. `due_at` is set exactly while it waits for its turn (queued,
-- deferred); `retry_at` and the lease exactly while it is being sent. It goes with its contact,
-- which goes with their project: further references would cost an index each.
CREATE TABLE emails (
  id TEXT PRIMARY KEY,
  project_id TEXT NOT NULL,
  contact_id TEXT NOT NULL REFERENCES contacts (id) ON DELETE CASCADE,
  content_id TEXT NOT NULL,
  source_type TEXT NOT NULL,
  template_id TEXT,
  campaign_id TEXT,
  workflow_execution_id TEXT,
  workflow_step_execution_id TEXT,
  recipient TEXT NOT NULL,
  recipient_domain TEXT NOT NULL,
  to_name TEXT,
  from_address TEXT NOT NULL,
  from_name TEXT,
  reply_to TEXT,
  subject TEXT NOT NULL,
  content_class TEXT NOT NULL,
  is_tracked INTEGER NOT NULL,
  headers TEXT,
  variables TEXT,
  message_id TEXT NOT NULL,
  provider_id TEXT,
  -- Of received mail: the email that it answers.
  answered_email_id TEXT,
  state TEXT NOT NULL,
  status TEXT NOT NULL,
  queue_class INTEGER NOT NULL,
  due_at INTEGER,
  retry_at INTEGER,
  lease_id TEXT,
  lease_until INTEGER,
  attempt_count INTEGER NOT NULL DEFAULT 0,
  failure_count INTEGER NOT NULL DEFAULT 0,
  give_up_at INTEGER NOT NULL,
  held_at INTEGER,
  error TEXT,
  sent_at INTEGER,
  delivered_at INTEGER,
  opened_at INTEGER,
  clicked_at INTEGER,
  bounced_at INTEGER,
  complained_at INTEGER,
  opens INTEGER NOT NULL DEFAULT 0,
  clicks INTEGER NOT NULL DEFAULT 0,
  -- Of prefetchers, scanners and privacy proxies: kept apart from people's.
  machine_opens INTEGER NOT NULL DEFAULT 0,
  machine_clicks INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
-- What is on its way is found by three partial indexes. They are maintained with every send, so
-- there is no fourth: the last two columns of the first answer for the give-up clock and the counts.
CREATE INDEX emails_ready
  ON emails (queue_class, recipient_domain, project_id, due_at, give_up_at, state)
  WHERE due_at IS NOT NULL;
CREATE INDEX emails_leased ON emails (lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX emails_held ON emails (recipient_domain, id) WHERE state = 'held';
CREATE INDEX emails_contact ON emails (contact_id, created_at);
CREATE INDEX emails_template ON emails (template_id) WHERE template_id IS NOT NULL;
CREATE INDEX emails_provider ON emails (provider_id) WHERE provider_id IS NOT NULL;
-- Our own Message-IDs begin with the email's id: only the others have to be searched for.
CREATE INDEX emails_custom_message_id ON emails (message_id) WHERE substr(message_id, 1, 36) <> id;

-- Attempts and events go with their email, contact or project by triggers: a foreign key would look
-- for the parent at each of the three rows that a delivery adds.
CREATE TABLE attempts (
  id INTEGER PRIMARY KEY,
  email_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  result TEXT NOT NULL,
  class TEXT,
  host TEXT,
  address TEXT,
  tls TEXT,
  reply_code INTEGER,
  enhanced_code TEXT,
  reply_text TEXT,
  error TEXT,
  is_maybe_delivered INTEGER NOT NULL DEFAULT 0,
  -- Of each step an array, of each reply in it another: the names are in the schema.
  steps TEXT NOT NULL
) STRICT;
CREATE INDEX attempts_email ON attempts (email_id);
CREATE TRIGGER emails_gone AFTER DELETE ON emails BEGIN
  DELETE FROM attempts WHERE email_id = OLD.id;
END;

-- `seq` is given by the single writer at commit, so it is commit order. Every delivery adds two rows,
-- so there are just the three indexes that lists and segments need; nobody looks for an event by its
-- id.
CREATE TABLE events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL,
  project_id TEXT NOT NULL,
  name TEXT NOT NULL,
  contact_id TEXT,
  email_id TEXT,
  data TEXT,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX events_newest ON events (project_id, created_at);
CREATE INDEX events_named ON events (project_id, name, created_at);
CREATE INDEX events_contact ON events (contact_id, name, created_at) WHERE contact_id IS NOT NULL;
CREATE TRIGGER contacts_gone AFTER DELETE ON contacts BEGIN
  DELETE FROM events WHERE contact_id = OLD.id;
END;
CREATE TRIGGER projects_gone AFTER DELETE ON projects BEGIN
  DELETE FROM events WHERE project_id = OLD.id;
END;

-- Who has read the events up to where: work that follows them, each event once and in order.
CREATE TABLE event_followers (
  name TEXT PRIMARY KEY,
  seq INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE segments (
  id TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  description TEXT,
  type TEXT NOT NULL DEFAULT 'DYNAMIC',
  condition TEXT,
  track_membership INTEGER NOT NULL DEFAULT 0,
  member_count INTEGER NOT NULL DEFAULT 0,
  counted_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX segments_newest ON segments (project_id, created_at, id);

-- Of static segments and of those whose membership is tracked. Who left keeps the row. The rows of a
-- deleted segment are as good as gone; a job clears them away, for there may be a million.
CREATE TABLE segment_members (
  segment_id TEXT NOT NULL,
  contact_id TEXT NOT NULL REFERENCES contacts (id) ON DELETE CASCADE,
  entered_at INTEGER NOT NULL,
  exited_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (segment_id, contact_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX segment_members_contact ON segment_members (contact_id);
CREATE INDEX segment_members_newest ON segment_members (segment_id, entered_at, contact_id)
  WHERE exited_at IS NULL;
CREATE TRIGGER segment_members_gone AFTER DELETE ON segment_members WHEN OLD.exited_at IS NULL BEGIN
  UPDATE segments SET member_count = member_count - 1 WHERE id = OLD.segment_id AND type = 'STATIC';
END;

-- The file of an import, as it was handed in, until its job has ended; what an interrupted upload
-- left is deleted by age.
CREATE TABLE import_chunks (
  upload_id TEXT NOT NULL,
  number INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (upload_id, number)
) STRICT;

-- How far long work has come, written in the transaction of what it did: after a crash it goes on
-- there, and does nothing twice.
CREATE TABLE job_progress (
  job_id TEXT PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
  state TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

-- Recipient domains that an operator holds back.
CREATE TABLE holds (
  domain TEXT PRIMARY KEY,
  held_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency_keys (
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  method TEXT NOT NULL,
  path TEXT NOT NULL,
  status_code INTEGER,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (project_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_expiry ON idempotency_keys (expires_at);

CREATE TABLE api_requests (
  id TEXT NOT NULL,
  method TEXT NOT NULL,
  path TEXT NOT NULL,
  status_code INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  project_id TEXT,
  user_id TEXT,
  auth_type TEXT,
  ip TEXT,
  user_agent TEXT,
  error_code TEXT,
  error_message TEXT,
  request_size_bytes INTEGER,
  response_size_bytes INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX api_requests_age ON api_requests (created_at);

CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  project_id TEXT,
  payload TEXT NOT NULL,
  state TEXT NOT NULL,
  priority INTEGER NOT NULL DEFAULT 0,
  run_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  max_attempts INTEGER NOT NULL,
  lease_id TEXT,
  lease_until INTEGER,
  unique_key TEXT,
  progress INTEGER NOT NULL DEFAULT 0,
  result TEXT,
  error TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  completed_at INTEGER
) STRICT;
-- What waits of a kind, and of a project: the loop asks every second, and reads no payload.
CREATE INDEX jobs_unfinished ON jobs (kind, state, project_id, priority, run_at, id)
  WHERE state IN ('waiting', 'active');
CREATE INDEX jobs_leased ON jobs (lease_until) WHERE state = 'active';
CREATE UNIQUE INDEX jobs_unique ON jobs (unique_key)
  WHERE unique_key IS NOT NULL AND state IN ('waiting', 'active');
CREATE INDEX jobs_done ON jobs (state, completed_at) WHERE completed_at IS NOT NULL;
-- Of each kind a project keeps its last ones only.
CREATE INDEX jobs_kept ON jobs (project_id, kind, state, completed_at)
  WHERE project_id IS NOT NULL AND completed_at IS NOT NULL;

CREATE TABLE sandbox_messages (
  id INTEGER PRIMARY KEY,
  received_at INTEGER NOT NULL,
  sender TEXT NOT NULL,
  recipient TEXT NOT NULL,
  subject TEXT NOT NULL,
  raw BLOB NOT NULL
) STRICT;

-- Mail that came in, durable before its 250 was given. `recipients`: what each RCPT was for. What
-- is 'pending' waits to be read; reports lose `raw` then, other mail keeps it until retention.
CREATE TABLE inbound_messages (
  id TEXT PRIMARY KEY,
  received_at INTEGER NOT NULL,
  state TEXT NOT NULL,
  reverse_path TEXT NOT NULL,
  recipients TEXT NOT NULL,
  client_address TEXT NOT NULL,
  client_name TEXT NOT NULL,
  tls TEXT,
  size_bytes INTEGER NOT NULL,
  raw BLOB,
  attempts INTEGER NOT NULL DEFAULT 0,
  kind TEXT,
  sender TEXT,
  subject TEXT,
  summary TEXT,
  error TEXT,
  processed_at INTEGER
) STRICT;
CREATE INDEX inbound_messages_pending
  ON inbound_messages (instr(recipients, '"for":"mailbox"') > 0, id) WHERE state = 'pending';
CREATE INDEX inbound_messages_suspects ON inbound_messages (id)
  WHERE state = 'pending' AND attempts > 0;
CREATE INDEX inbound_messages_age ON inbound_messages (received_at);
-- What operators look at. Queries repeat the condition.
CREATE INDEX inbound_messages_operator ON inbound_messages (id)
  WHERE state = 'failed' OR instr(recipients, '"for":"server"') > 0;

-- Notifications of SNS that were taken, so that each counts once.
CREATE TABLE sns_notifications (
  id TEXT PRIMARY KEY,
  received_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sns_notifications_age ON sns_notifications (received_at);
