-- Messages: texts that are no templates, and what was lost, guessed or mended in reading one.
ALTER TABLE contents ADD COLUMN is_literal INTEGER NOT NULL DEFAULT 0;
ALTER TABLE contents ADD COLUMN warnings TEXT;
-- Submitted mail is a template in the projects of before; new ones are made without.
ALTER TABLE projects ADD COLUMN submission_templates INTEGER NOT NULL DEFAULT 1;
