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
  -- Kept by the follower of events, the last two by a trigger: machines' hits are no events.
  sent_count INTEGER NOT NULL DEFAULT 0,
  delivered_count INTEGER NOT NULL DEFAULT 0,
  opened_count INTEGER NOT NULL DEFAULT 0,
  clicked_count INTEGER NOT NULL DEFAULT 0,
  bounced_count INTEGER NOT NULL DEFAULT 0,
  complained_count INTEGER NOT NULL DEFAULT 0,
  unsubscribed_count INTEGER NOT NULL DEFAULT 0,
  suppressed_count INTEGER NOT NULL DEFAULT 0,
  -- Without those in failed_unsubscribed_count, which were made and not sent.
  failed_count INTEGER NOT NULL DEFAULT 0,
  failed_unsubscribed_count INTEGER NOT NULL DEFAULT 0,
  machine_opens INTEGER NOT NULL DEFAULT 0,
  machine_clicks INTEGER NOT NULL DEFAULT 0,
  -- For the brake, kept by a follower of attempts.
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

-- As what the figures of its campaign have counted the email: the bits of campaign_figures.
ALTER TABLE emails ADD COLUMN figures INTEGER NOT NULL DEFAULT 0;

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

-- The clicks of a campaign's links, kept by the follower of events. `clickers`: emails with a click.
CREATE TABLE campaign_links (
  campaign_id TEXT NOT NULL REFERENCES campaigns (id) ON DELETE CASCADE,
  url TEXT NOT NULL,
  clicks INTEGER NOT NULL,
  clickers INTEGER NOT NULL,
  PRIMARY KEY (campaign_id, url)
) STRICT, WITHOUT ROWID;

-- As what each email of a campaign counts now (`bits`), and the difference from what the figures have
-- counted. A recipient counts once: complained, else bounced, else unsubscribed. The bits from 4096
-- on are marks that followers set and that nothing else shows: 4096 unsubscribed by this email, 8192
-- hard bounce, 16384 refused for reputation or content, 32768 refused for authentication.
CREATE VIEW campaign_figures AS
  SELECT id, campaign_id, figures, bits,
    (bits & 1) - (figures & 1) AS sent,
    (bits >> 1 & 1) - (figures >> 1 & 1) AS delivered,
    (bits >> 2 & 1) - (figures >> 2 & 1) AS opened,
    (bits >> 3 & 1) - (figures >> 3 & 1) AS clicked,
    (bits >> 4 & 1) - (figures >> 4 & 1) AS bounced,
    (bits >> 5 & 1) - (figures >> 5 & 1) AS complained,
    (bits >> 6 & 1) - (figures >> 6 & 1) AS unsubscribed,
    (bits >> 7 & 1) - (figures >> 7 & 1) AS suppressed,
    (bits >> 8 & 1) - (figures >> 8 & 1) AS failed,
    (bits >> 9 & 1) - (figures >> 9 & 1) AS failed_unsubscribed
  FROM (
    SELECT id, campaign_id, figures, (figures & ~4095)
      + CASE WHEN sent_at IS NOT NULL OR bounced_at IS NOT NULL THEN 1 ELSE 0 END
      + CASE WHEN delivered_at IS NOT NULL AND bounced_at IS NULL THEN 2 ELSE 0 END
      + CASE WHEN opened_at IS NOT NULL THEN 4 ELSE 0 END
      + CASE WHEN clicked_at IS NOT NULL THEN 8 ELSE 0 END
      + CASE WHEN complained_at IS NOT NULL THEN 32
          WHEN bounced_at IS NOT NULL THEN 16
          WHEN figures & 4096 <> 0 THEN 64 ELSE 0 END
      + CASE WHEN state = 'suppressed' THEN 128
          WHEN state <> 'failed' THEN 0
          WHEN error = 'the contact has unsubscribed' THEN 512 ELSE 256 END AS bits
    FROM emails WHERE campaign_id IS NOT NULL
  );

-- Figures do not shrink: what an email adds is counted before the email goes.
CREATE TRIGGER campaign_emails_leave BEFORE DELETE ON emails WHEN OLD.campaign_id IS NOT NULL BEGIN
  UPDATE campaign_progress SET
    sent_count = sent_count + sent,
    delivered_count = delivered_count + delivered,
    opened_count = opened_count + opened,
    clicked_count = clicked_count + clicked,
    bounced_count = bounced_count + bounced,
    complained_count = complained_count + complained,
    unsubscribed_count = unsubscribed_count + unsubscribed,
    suppressed_count = suppressed_count + suppressed,
    failed_count = failed_count + failed,
    failed_unsubscribed_count = failed_unsubscribed_count + failed_unsubscribed,
    skipped_deleted = skipped_deleted
      + (OLD.state IN ('queued', 'deferred', 'held', 'paused', 'sending'))
  FROM campaign_figures AS figures
  WHERE campaign_progress.campaign_id = OLD.campaign_id AND figures.id = OLD.id;
END;
-- A failed email that is tried again has no event.
CREATE TRIGGER campaign_emails_retry AFTER UPDATE OF state ON emails
WHEN OLD.state = 'failed' AND NEW.campaign_id IS NOT NULL AND NEW.figures & 768 <> 0 BEGIN
  UPDATE campaign_progress SET
    failed_count = failed_count - (NEW.figures >> 8 & 1),
    failed_unsubscribed_count = failed_unsubscribed_count - (NEW.figures >> 9 & 1)
  WHERE campaign_id = NEW.campaign_id;
  UPDATE emails SET figures = figures & ~768 WHERE id = NEW.id;
END;
CREATE TRIGGER campaign_emails_machines AFTER UPDATE OF machine_opens, machine_clicks ON emails
WHEN NEW.campaign_id IS NOT NULL AND (NEW.machine_opens <> OLD.machine_opens
  OR NEW.machine_clicks <> OLD.machine_clicks) BEGIN
  UPDATE campaign_progress SET
    machine_opens = machine_opens + NEW.machine_opens - OLD.machine_opens,
    machine_clicks = machine_clicks + NEW.machine_clicks - OLD.machine_clicks
  WHERE campaign_id = NEW.campaign_id;
END;

-- The followers begin with what happens from now on.
INSERT INTO event_followers (name, seq, updated_at)
  SELECT 'campaign-figures', coalesce(max(seq), 0), 0 FROM events;
INSERT INTO event_followers (name, seq, updated_at)
  SELECT 'campaign-refusals', coalesce(max(id), 0), 0 FROM attempts;
