-- Received mail that a machine sent starts no workflow, and ends no wait, unless they include it. The
-- workflows of today answer as many messages of a sender as before.
UPDATE workflows
  SET trigger_config = json_set(coalesce(trigger_config, json_object('eventName', 'email.received')),
    '$.includeAutomatic', json('false'), '$.answersPerDay', NULL)
  WHERE trigger_event = 'email.received';
ALTER TABLE workflow_waits ADD COLUMN includes_automatic INTEGER NOT NULL DEFAULT 0;
