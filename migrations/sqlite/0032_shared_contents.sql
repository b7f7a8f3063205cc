-- Retention finds a content of a single request by its id, which has its time: only shared ones are used again.
DROP INDEX contents_age;
CREATE INDEX contents_age ON contents (last_used_at) WHERE body IS NOT NULL AND share_key IS NOT NULL;
