-- Billing: limits of a project by the month, its subscription at Stripe, and what was charged.
ALTER TABLE projects ADD COLUMN customer TEXT;
ALTER TABLE projects ADD COLUMN subscription TEXT;
ALTER TABLE projects ADD COLUMN currency TEXT;
-- When the subscription began at Stripe. Mail that was sent before is not charged.
ALTER TABLE projects ADD COLUMN subscribed_at INTEGER;
-- Emails in a month (UTC); null: no limit.
ALTER TABLE projects ADD COLUMN limit_transactional INTEGER;
ALTER TABLE projects ADD COLUMN limit_campaigns INTEGER;
ALTER TABLE projects ADD COLUMN limit_workflows INTEGER;
ALTER TABLE projects ADD COLUMN limit_inbound INTEGER;
CREATE UNIQUE INDEX projects_customer ON projects (customer) WHERE customer IS NOT NULL;

-- The emails of a project in a month, by category. Accepting adds to them in its transaction; the
-- follower 'billing' takes off those that failed or were suppressed.
CREATE TABLE usage_months (
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  starts_at INTEGER NOT NULL,
  transactional INTEGER NOT NULL DEFAULT 0,
  campaigns INTEGER NOT NULL DEFAULT 0,
  workflows INTEGER NOT NULL DEFAULT 0,
  inbound INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (project_id, starts_at)
) STRICT, WITHOUT ROWID;

-- What was accepted this month before this migration. Earlier months are not counted.
INSERT INTO usage_months (project_id, starts_at, transactional, campaigns, workflows, inbound)
  SELECT emails.project_id, unixepoch('now', 'start of month') * 1000,
    count(*) FILTER (WHERE source_type = 'TRANSACTIONAL'),
    count(*) FILTER (WHERE source_type = 'CAMPAIGN'),
    count(*) FILTER (WHERE source_type = 'WORKFLOW'),
    count(*) FILTER (WHERE source_type = 'INBOUND')
  FROM projects CROSS JOIN emails INDEXED BY emails_newest ON emails.project_id = projects.id
    AND emails.created_at >= unixepoch('now', 'start of month') * 1000
  WHERE is_platform = 0 AND status NOT IN ('FAILED', 'SUPPRESSED')
  GROUP BY emails.project_id;

-- The notices that members got in a month. A changed limit makes a notice possible again.
CREATE TABLE usage_notices (
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  starts_at INTEGER NOT NULL,
  category TEXT NOT NULL,
  percent INTEGER NOT NULL,
  limit_emails INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (project_id, starts_at, category, percent, limit_emails)
) STRICT, WITHOUT ROWID;

-- What is charged: each batch is one meter event, whose identifier is the batch's id. No foreign key:
-- a deleted project still pays for the mail that it sent.
CREATE TABLE metering_batches (
  id TEXT PRIMARY KEY,
  project_id TEXT NOT NULL,
  customer TEXT NOT NULL,
  credits INTEGER NOT NULL,
  -- The timestamp of the meter event.
  occurred_at INTEGER NOT NULL,
  state TEXT NOT NULL DEFAULT 'waiting',
  first_tried_at INTEGER,
  last_tried_at INTEGER,
  error TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  -- A JSON list, in the order of their events; empty once they are charged. Last, because it is long.
  email_ids TEXT NOT NULL
) STRICT;
CREATE INDEX metering_batches_open ON metering_batches (project_id, occurred_at)
  WHERE state NOT IN ('charged', 'dropped');
CREATE INDEX metering_batches_window ON metering_batches (customer, occurred_at);
CREATE INDEX metering_batches_charged ON metering_batches (occurred_at) WHERE state = 'charged';

-- The webhook events of Stripe that had their effect.
CREATE TABLE stripe_events (
  id TEXT PRIMARY KEY,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX stripe_events_oldest ON stripe_events (created_at);

-- Analytics: counts by buckets of time. `span` is the length of a bucket in ms: 15 minutes, kept for
-- 100 days, or a day (UTC), kept for good. Every email and event is counted in one bucket of each.

-- What the counts are about. `kind`: provider, campaign, template, workflow, url, event. `name`: an id
-- or a text; '' stands for all further ones of a day that has too many.
CREATE TABLE analytics_subjects (
  id INTEGER PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  -- The day (UTC) of the first bucket with it: a day has a limited number of new links and events.
  first_day INTEGER NOT NULL DEFAULT 0,
  UNIQUE (project_id, kind, name)
) STRICT;
CREATE INDEX analytics_subjects_new ON analytics_subjects (project_id, kind, first_day);

-- Emails by the instant of their acceptance. `kind`: all, provider, campaign, template, workflow;
-- `subject` is 0 for all. `stream`: TRANSACTIONAL, CAMPAIGN, WORKFLOW.
CREATE TABLE mail_counts (
  project_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  span INTEGER NOT NULL,
  starts_at INTEGER NOT NULL,
  stream TEXT NOT NULL,
  subject INTEGER NOT NULL,
  -- Handed over, or refused for good by the receiver or DNS.
  sent INTEGER NOT NULL DEFAULT 0,
  -- And not bounced later.
  delivered INTEGER NOT NULL DEFAULT 0,
  opened INTEGER NOT NULL DEFAULT 0,
  clicked INTEGER NOT NULL DEFAULT 0,
  -- Both opened and clicked.
  opened_and_clicked INTEGER NOT NULL DEFAULT 0,
  hard_bounced INTEGER NOT NULL DEFAULT 0,
  soft_bounced INTEGER NOT NULL DEFAULT 0,
  complained INTEGER NOT NULL DEFAULT 0,
  unsubscribed INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (project_id, kind, span, starts_at, stream, subject)
) STRICT, WITHOUT ROWID;

-- Clicks on links, by the instant of the email's acceptance. `first_clicks`: emails whose first click
-- was on this link.
CREATE TABLE link_counts (
  project_id TEXT NOT NULL,
  span INTEGER NOT NULL,
  starts_at INTEGER NOT NULL,
  stream TEXT NOT NULL,
  subject INTEGER NOT NULL,
  clicks INTEGER NOT NULL DEFAULT 0,
  first_clicks INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (project_id, span, starts_at, stream, subject)
) STRICT, WITHOUT ROWID;

-- Events by their own instant. `stream` is that of the event's email, '' without one.
CREATE TABLE event_counts (
  project_id TEXT NOT NULL,
  span INTEGER NOT NULL,
  starts_at INTEGER NOT NULL,
  stream TEXT NOT NULL,
  subject INTEGER NOT NULL,
  events INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (project_id, span, starts_at, stream, subject)
) STRICT, WITHOUT ROWID;

-- An event with all that analytics and billing need of its email. `detail`: the type of a bounce, the
-- link of a click, the reason of an unsubscription. `is_first`: an email's first open, click or
-- unsubscription; nothing looks beyond 200 earlier unsubscriptions of the contact. `host`: the first
-- server that the email was offered to; null if a smarthost took it.
CREATE VIEW counted_events AS
  SELECT
    events.seq, events.project_id, events.name, events.email_id, events.contact_id,
    events.created_at,
    CASE events.name
      WHEN 'email.bounce' THEN events.data ->> '$.bounceType'
      WHEN 'email.click' THEN events.data ->> '$.link'
      WHEN 'contact.unsubscribed' THEN events.data ->> '$.reason' END AS detail,
    CASE events.name
      WHEN 'email.open' THEN events.data ->> '$.isFirstOpen'
      WHEN 'email.click' THEN events.data ->> '$.isFirstClick'
      WHEN 'contact.unsubscribed' THEN CASE WHEN events.email_id IS NOT NULL THEN
        (SELECT count(*) < 200 AND coalesce(sum(earlier.email_id = events.email_id
            AND coalesce(earlier.reason, '') NOT IN ('bounce', 'complaint')), 0) = 0
          FROM (SELECT other.email_id, other.data ->> '$.reason' AS reason
            FROM events AS other INDEXED BY events_contact
            WHERE other.contact_id = events.contact_id AND other.name = 'contact.unsubscribed'
              AND other.seq < events.seq
            ORDER BY other.created_at LIMIT 200) AS earlier) END END AS is_first,
    emails.created_at AS accepted_at,
    emails.source_type, emails.campaign_id, emails.template_id,
    (SELECT workflow_id FROM workflow_executions
      WHERE workflow_executions.id = emails.workflow_execution_id) AS workflow_id,
    emails.recipient_domain, emails.sent_at, emails.delivered_at, emails.opened_at,
    emails.clicked_at, emails.is_platform, emails.is_test,
    CASE WHEN NOT EXISTS (SELECT 1 FROM attempts
        WHERE attempts.email_id = emails.id AND attempts.result = 'relayed')
      THEN (SELECT host FROM attempts
        WHERE attempts.email_id = emails.id AND attempts.host IS NOT NULL
        ORDER BY attempts.id LIMIT 1) END AS host
  FROM events LEFT JOIN emails ON emails.id = events.email_id;

-- Events that were deleted before both followers had counted them. They go when both have.
CREATE TABLE deleted_events (
  seq INTEGER PRIMARY KEY,
  project_id TEXT NOT NULL,
  name TEXT NOT NULL,
  email_id TEXT,
  contact_id TEXT,
  created_at INTEGER NOT NULL,
  detail TEXT,
  is_first INTEGER,
  accepted_at INTEGER,
  source_type TEXT,
  campaign_id TEXT,
  template_id TEXT,
  workflow_id TEXT,
  recipient_domain TEXT,
  sent_at INTEGER,
  delivered_at INTEGER,
  opened_at INTEGER,
  clicked_at INTEGER,
  is_platform INTEGER,
  is_test INTEGER,
  host TEXT
) STRICT;
CREATE INDEX deleted_events_project ON deleted_events (project_id);

-- 'analytics' begins with the oldest event; 'analytics-backfill' is where it has caught up with what
-- was there before this migration. 'billing' begins with what happens from now on.
INSERT INTO event_followers (name, seq, updated_at)
  SELECT 'billing', coalesce(max(seq), 0), 0 FROM events;
INSERT INTO event_followers (name, seq, updated_at)
  SELECT 'analytics-backfill', coalesce(max(seq), 0), 0 FROM events;
INSERT INTO event_followers (name, seq, updated_at) VALUES ('analytics', 0, 0);

-- Of a project that is being erased, only billing still counts the events.
CREATE TRIGGER events_leave BEFORE DELETE ON events
WHEN OLD.seq > (SELECT min(seq) FROM event_followers WHERE name IN ('analytics', 'billing'))
  AND (OLD.seq > (SELECT seq FROM event_followers WHERE name = 'billing')
    OR EXISTS (SELECT 1 FROM projects
      WHERE id = OLD.project_id AND reset_since IS NULL AND deleted_at IS NULL)) BEGIN
  INSERT OR IGNORE INTO deleted_events SELECT * FROM counted_events WHERE seq = OLD.seq;
END;
CREATE TRIGGER followers_move AFTER UPDATE OF seq ON event_followers
WHEN NEW.name IN ('analytics', 'billing') BEGIN
  DELETE FROM deleted_events
    WHERE seq <= (SELECT min(seq) FROM event_followers WHERE name IN ('analytics', 'billing'));
END;
-- Before the contact, because its emails go with it. All of its events are copied before the first of
-- them goes, because an unsubscription looks at the earlier ones.
DROP TRIGGER contacts_gone;
CREATE TRIGGER contacts_gone BEFORE DELETE ON contacts BEGIN
  INSERT OR IGNORE INTO deleted_events SELECT * FROM counted_events WHERE contact_id = OLD.id
    AND seq > (SELECT min(seq) FROM event_followers WHERE name IN ('analytics', 'billing'));
  DELETE FROM events WHERE contact_id = OLD.id;
END;

-- Analytics counts a project's events from behind this one on: a reset erased the earlier ones.
ALTER TABLE projects ADD COLUMN counted_after INTEGER NOT NULL DEFAULT 0;
