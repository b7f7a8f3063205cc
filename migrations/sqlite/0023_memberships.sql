-- The project of the invitation without mail that made an account: until its address is proven, the account
-- belongs to that project only.
ALTER TABLE users ADD COLUMN only_project_id TEXT;
UPDATE users SET only_project_id = coalesce(
  (SELECT project_id FROM memberships m
    WHERE m.user_id = users.id AND m.created_at = users.created_at AND m.role <> 'OWNER'),
  (SELECT project_id FROM invitations i
    WHERE i.email = users.email AND i.is_mailed = 0 AND i.accepted_at = users.created_at)
) WHERE verified_at IS NULL;

-- A sign-up while the server had no mail for its users counted as proven at once. It left a session or a line
-- of the request log of the same instant, or a language that nobody chose later. An invitation by mail left
-- a membership or the invitation itself, and the command line none of these.
UPDATE users SET verified_at = NULL
WHERE verified_at = created_at AND method = 'PASSWORD' AND is_sandbox = 0 AND is_operator = 0
  AND NOT EXISTS (SELECT 1 FROM memberships m
    WHERE m.user_id = users.id AND m.created_at = users.created_at)
  AND NOT EXISTS (SELECT 1 FROM invitations i
    WHERE i.email = users.email AND i.is_mailed = 1 AND i.accepted_at = users.created_at)
  AND (
    EXISTS (SELECT 1 FROM sessions s
      WHERE s.user_id = users.id AND s.created_at = users.created_at)
    OR EXISTS (SELECT 1 FROM api_requests r
      WHERE r.created_at BETWEEN users.created_at - 60000 AND users.created_at
        AND r.created_at + r.duration_ms + 1 >= users.created_at
        AND r.method = 'POST' AND r.path = '/auth/signup' AND r.status_code = 200)
    OR (language <> 'en' AND updated_at = created_at)
  );

-- Emails of projects without a subscription that their owner has deleted in the month: they still count for
-- the free emails of the owner.
CREATE TABLE owner_months (
  user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  starts_at INTEGER NOT NULL,
  emails INTEGER NOT NULL,
  PRIMARY KEY (user_id, starts_at)
) STRICT, WITHOUT ROWID;
