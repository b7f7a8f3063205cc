-- The rules of filters by which a segment was last computed or counted. Under rules 1, a filter that cannot
-- judge a value selects nobody, and lists are searched by element. Segments of before are of rules 0: the
-- first computation changes their members without events.
ALTER TABLE segments ADD COLUMN filter_rules INTEGER NOT NULL DEFAULT 1;
-- What that computation changed: JSON with at, membersBefore, membersAfter, filters. Null if nothing.
ALTER TABLE segments ADD COLUMN filter_change TEXT;
UPDATE segments SET filter_rules = 0 WHERE type = 'DYNAMIC';
