-- What a fault in a template of a send request does: the projects of before send it, new ones refuse it.
ALTER TABLE projects ADD COLUMN on_template_fault TEXT NOT NULL DEFAULT 'send';
-- To and Cc of a submitted message, which all its recipients get; null: each gets a To of its own.
ALTER TABLE contents ADD COLUMN recipient_fields TEXT;
-- In the footer of marketing mail.
ALTER TABLE projects ADD COLUMN postal_address TEXT;
