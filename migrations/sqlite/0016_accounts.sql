-- People log in. All existing users come from the command line and count as verified.
ALTER TABLE users ADD COLUMN method TEXT NOT NULL DEFAULT 'PASSWORD';
ALTER TABLE users ADD COLUMN is_operator INTEGER NOT NULL DEFAULT 0;
-- When the address was proven; null until then.
ALTER TABLE users ADD COLUMN verified_at INTEGER;
ALTER TABLE users ADD COLUMN language TEXT NOT NULL DEFAULT 'en';
ALTER TABLE users ADD COLUMN timezone TEXT NOT NULL DEFAULT 'UTC';
-- Sealed. A secret without `totp_confirmed_at` is one that its user has not confirmed yet.
ALTER TABLE users ADD COLUMN totp_secret TEXT;
ALTER TABLE users ADD COLUMN totp_confirmed_at INTEGER;
-- The time step of the last accepted code (RFC 6238): a code is accepted once.
ALTER TABLE users ADD COLUMN totp_step INTEGER NOT NULL DEFAULT 0;
UPDATE users SET verified_at = created_at, is_operator = is_sandbox;

CREATE TABLE recovery_codes (
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  digest TEXT NOT NULL,
  PRIMARY KEY (user_id, digest)
) STRICT, WITHOUT ROWID;

-- The accounts of users at other providers.
CREATE TABLE identities (
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX identities_user ON identities (user_id);

-- The cookie of a session is a signed token with the id of its row.
CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  ip TEXT,
  user_agent TEXT,
  created_at INTEGER NOT NULL,
  -- When the cookie was last issued.
  issued_at INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_user ON sessions (user_id, created_at);
CREATE INDEX sessions_expiry ON sessions (expires_at);

-- Single-use tokens of mailed links, as digests. Used ones stay until they expire: they count for the
-- limit of mails.
CREATE TABLE account_tokens (
  digest TEXT PRIMARY KEY,
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  purpose TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX account_tokens_user ON account_tokens (user_id, purpose, created_at);
CREATE INDEX account_tokens_expiry ON account_tokens (expires_at);

-- `digest` is that of the link's token; null until the mail is written.
CREATE TABLE invitations (
  id TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  email TEXT NOT NULL,
  role TEXT NOT NULL,
  digest TEXT UNIQUE,
  invited_by TEXT NOT NULL,
  -- Whether the link was mailed, so that whoever has it can read the address's mail.
  is_mailed INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  accepted_at INTEGER,
  revoked_at INTEGER
) STRICT;
CREATE INDEX invitations_project ON invitations (project_id, created_at);
CREATE INDEX invitations_address ON invitations (email, created_at);
CREATE INDEX invitations_oldest ON invitations (created_at);

-- A project that is being reset or was deleted is disabled without a reason. Its rows follow by a job.
ALTER TABLE projects ADD COLUMN reset_since INTEGER;
ALTER TABLE projects ADD COLUMN deleted_at INTEGER;
-- When the last reset that is done began and ended.
ALTER TABLE projects ADD COLUMN last_reset_since INTEGER;
ALTER TABLE projects ADD COLUMN last_reset_at INTEGER;
ALTER TABLE projects ADD COLUMN disabled_at INTEGER;
UPDATE projects SET disabled_at = updated_at WHERE is_disabled = 1;
-- All reputation figures count from here: when the project was last enabled.
ALTER TABLE projects ADD COLUMN reputation_since INTEGER NOT NULL DEFAULT 0;
ALTER TABLE projects ADD COLUMN public_last_used_at INTEGER;
ALTER TABLE projects ADD COLUMN secret_last_used_at INTEGER;
-- The sum of the project's `uploads`.
ALTER TABLE projects ADD COLUMN upload_bytes INTEGER NOT NULL DEFAULT 0;

-- Mail of the server to the people who use it: outside reputation and billing.
ALTER TABLE emails ADD COLUMN is_platform INTEGER NOT NULL DEFAULT 0;
-- The recipient asked for it themselves, so that a complaint about other mail does not stop it.
ALTER TABLE emails ADD COLUMN ignores_complaint INTEGER NOT NULL DEFAULT 0;

-- Counts of a project's mail by the hour, kept by a follower of events. An hour in which a project was
-- enabled again has a second row, which begins then.
CREATE TABLE reputation_hours (
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  starts_at INTEGER NOT NULL,
  emails INTEGER NOT NULL DEFAULT 0,
  bounces INTEGER NOT NULL DEFAULT 0,
  complaints INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (project_id, starts_at)
) STRICT, WITHOUT ROWID;
-- The same since `reputation_since`.
CREATE TABLE reputation_totals (
  project_id TEXT PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  emails INTEGER NOT NULL DEFAULT 0,
  bounces INTEGER NOT NULL DEFAULT 0,
  complaints INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- The counts begin with what happens from now on.
INSERT INTO event_followers (name, seq, updated_at)
  SELECT 'reputation', coalesce(max(seq), 0), 0 FROM events;
-- The emails that a new project was allowed to send, by the hour (`limits.new_project_daily`).
CREATE TABLE new_project_hours (
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  starts_at INTEGER NOT NULL,
  emails INTEGER NOT NULL,
  PRIMARY KEY (project_id, starts_at)
) STRICT, WITHOUT ROWID;
-- The mail of a project that nobody claims: that of paused campaigns and held domains, and the mail of
-- a project that was disabled for its reputation, which waits without a campaign.
CREATE INDEX emails_parked ON emails (project_id, state, campaign_id)
  WHERE state IN ('held', 'paused');
CREATE INDEX projects_disabled ON projects (id) WHERE is_disabled = 1;
-- When the members were last told that the domain lost its verification.
ALTER TABLE domains ADD COLUMN loss_told_at INTEGER;

-- Images that projects uploaded. The files are below `data_dir/uploads`.
CREATE TABLE uploads (
  name TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  -- The name of the file: a new one for each upload, so that a file never changes its owner.
  file TEXT NOT NULL UNIQUE,
  -- As the client named the file.
  filename TEXT NOT NULL,
  content_type TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  width INTEGER NOT NULL,
  height INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX uploads_newest ON uploads (project_id, created_at, name);
CREATE TRIGGER uploads_come AFTER INSERT ON uploads BEGIN
  UPDATE projects SET upload_bytes = upload_bytes + NEW.size_bytes WHERE id = NEW.project_id;
END;
CREATE TRIGGER uploads_go AFTER DELETE ON uploads BEGIN
  UPDATE projects SET upload_bytes = upload_bytes - OLD.size_bytes WHERE id = OLD.project_id;
END;

-- Who made the request: secret, public, session.
ALTER TABLE api_requests ADD COLUMN caller TEXT;
CREATE INDEX api_requests_project ON api_requests (project_id, created_at)
  WHERE project_id IS NOT NULL;

-- All contents of a project are found by this index, also those of single requests.
DROP INDEX contents_shared;
CREATE UNIQUE INDEX contents_project ON contents (project_id, share_key);

-- All jobs of a project, for its reset and deletion.
CREATE INDEX jobs_project ON jobs (project_id) WHERE project_id IS NOT NULL;
