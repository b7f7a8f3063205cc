-- Emails that end with their acceptance are not counted any more, so they are not given back either:
-- their events say so. Those of earlier versions were counted. Their events do not say it, and are given
-- back as before.
DROP VIEW counted_events;
-- An event with all that analytics and billing need of its email. `detail`: the type of a bounce, the
-- link of a click, the reason of an unsubscription; 'acceptance' for an end that came with the acceptance
-- of the email. `is_first`: an email's first open, click or unsubscription; nothing looks beyond 200
-- earlier unsubscriptions of the contact. `host`: the first server that the email was offered to; null if
-- a smarthost took it.
CREATE VIEW counted_events AS
  SELECT
    events.seq, events.project_id, events.name, events.email_id, events.contact_id,
    events.created_at,
    CASE events.name
      WHEN 'email.bounce' THEN events.data ->> '$.bounceType'
      WHEN 'email.click' THEN events.data ->> '$.link'
      WHEN 'contact.unsubscribed' THEN events.data ->> '$.reason'
      WHEN 'email.failed' THEN CASE WHEN events.data ->> '$.atAcceptance' THEN 'acceptance' END
      WHEN 'email.suppressed' THEN CASE WHEN events.data ->> '$.atAcceptance' THEN 'acceptance' END
      END AS detail,
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
