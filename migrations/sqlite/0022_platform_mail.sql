-- The links in mail of the server to its users choose passwords, so only the SMTP session shows them. What such
-- mail is rendered from is sealed from now on, in a column that no list, preview or export reads, and
-- goes as soon as the mail is final. Mail that waits keeps it as readable JSON until the first start of
-- the program seals it: SQL cannot.
PRAGMA secure_delete = ON;

ALTER TABLE emails ADD COLUMN sealed_variables TEXT;

UPDATE emails SET
  sealed_variables = CASE WHEN state IN ('queued', 'deferred', 'held', 'paused', 'sending')
    THEN variables END,
  variables = NULL
WHERE is_platform = 1 AND variables IS NOT NULL;

PRAGMA secure_delete = OFF;

CREATE INDEX emails_sealed ON emails (id) WHERE sealed_variables IS NOT NULL;

CREATE TRIGGER emails_final AFTER UPDATE OF state ON emails
WHEN NEW.sealed_variables IS NOT NULL
  AND NEW.state NOT IN ('queued', 'deferred', 'held', 'paused', 'sending') BEGIN
  UPDATE emails SET sealed_variables = NULL WHERE id = NEW.id;
END;
