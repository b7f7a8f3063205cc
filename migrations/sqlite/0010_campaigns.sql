-- A campaign is a definition that people edit, and its progress, which the server writes while it
-- sends. They are two rows, because a body is up to 2 MB and the progress changes each second.
CREATE TABLE campaigns (
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
  audience_type TEXT NOT NULL DEFAULT 'ALL',
  audience_condition TEXT,
  segment_id TEXT,
  -- The template that the campaign was made from.
  template_id TEXT,
  status TEXT NOT NULL DEFAULT 'DRAFT',
  scheduled_for INTEGER,
  max_per_hour INTEGER,
  version INTEGER NOT NULL DEFAULT 1,
  -- An estimate, null until the audience has been counted; the number of rows once it is sent.
  total_recipients INTEGER,
  -- Set exactly while the status is SENDING and the campaign is paused.
  paused_at INTEGER,
  pause_reason TEXT,
  -- The figures that the brake saw.
  pause_details TEXT,
  sent_at INTEGER,
  cancelled_at INTEGER,
  archived_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX campaigns_newest ON campaigns (project_id, created_at, id);
CREATE INDEX campaigns_active ON campaigns (status, scheduled_for)
  WHERE status IN ('SCHEDULED', 'SENDING');
CREATE INDEX campaigns_uncounted ON campaigns (id)
  WHERE total_recipients IS NULL AND status IN ('DRAFT', 'SCHEDULED', 'SENDING');
CREATE INDEX campaigns_template ON campaigns (template_id) WHERE template_id IS NOT NULL;

-- From the moment a campaign begins to send. `cursor` is the number of the last contact that was
-- looked at; contacts up to `last_number` existed at the start. `paced_at` is when the next row may be
-- due under `max_per_hour`.
CREATE TABLE campaign_progress (
  campaign_id TEXT PRIMARY KEY REFERENCES campaigns (id) ON DELETE CASCADE,
  project_id TEXT NOT NULL,
  begun_at INTEGER NOT NULL,
  cursor INTEGER NOT NULL DEFAULT 0,
  last_number INTEGER NOT NULL,
  expanded_at INTEGER,
  paced_at INTEGER NOT NULL DEFAULT 0,
  rows_made INTEGER NOT NULL DEFAULT 0,
  skipped_unsubscribed INTEGER NOT NULL DEFAULT 0,
  skipped_deleted INTEGER NOT NULL DEFAULT 0,
  -- Kept by the follower of events.
  sent_count INTEGER NOT NULL DEFAULT 0,
  delivered_count INTEGER NOT NULL DEFAULT 0,
  opened_count INTEGER NOT NULL DEFAULT 0,
  clicked_count INTEGER NOT NULL DEFAULT 0,
  bounced_count INTEGER NOT NULL DEFAULT 0,
  complained_count INTEGER NOT NULL DEFAULT 0,
  unsubscribed_count INTEGER NOT NULL DEFAULT 0,
  suppressed_count INTEGER NOT NULL DEFAULT 0,
  -- For the brake.
  hard_bounce_count INTEGER NOT NULL DEFAULT 0,
  refusal_count INTEGER NOT NULL DEFAULT 0,
  authentication_refusal_count INTEGER NOT NULL DEFAULT 0,
  resumed_at INTEGER,
  -- How often the brake paused the campaign, and the figures from which it counts.
  brake_count INTEGER NOT NULL DEFAULT 0,
  brake_base TEXT
) STRICT, WITHOUT ROWID;

-- A test of a campaign goes out whether or not its contact is subscribed.
ALTER TABLE emails ADD COLUMN is_test INTEGER NOT NULL DEFAULT 0;

-- A contact gets one email of a campaign at most.
CREATE UNIQUE INDEX emails_campaign ON emails (campaign_id, contact_id)
  WHERE campaign_id IS NOT NULL;
CREATE INDEX emails_campaign_waiting ON emails (campaign_id, state)
  WHERE campaign_id IS NOT NULL AND state IN ('queued', 'deferred', 'held', 'paused', 'sending');
CREATE INDEX emails_campaign_ends ON emails (campaign_id, status)
  WHERE campaign_id IS NOT NULL AND status IN ('BOUNCED', 'COMPLAINED', 'FAILED', 'SUPPRESSED');
CREATE INDEX emails_newest ON emails (project_id, created_at);
CREATE INDEX emails_ends ON emails (project_id, status, created_at)
  WHERE status IN ('BOUNCED', 'COMPLAINED', 'FAILED', 'SUPPRESSED');

-- Emails that wait because their campaign is paused.
CREATE INDEX emails_paused ON emails (campaign_id) WHERE state = 'paused';
CREATE INDEX campaigns_cancelled ON campaigns (id) WHERE status = 'CANCELLED';
