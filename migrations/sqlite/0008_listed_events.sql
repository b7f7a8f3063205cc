-- Lists of a project's events leave out email.failed and email.suppressed unless a request names
-- them. The index holds only what a list shows, so that a million failed emails cost a page nothing.
DROP INDEX events_newest;
CREATE INDEX events_listed ON events (project_id, created_at)
  WHERE name NOT IN ('email.failed', 'email.suppressed');
