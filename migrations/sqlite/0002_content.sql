-- A content's own text part, as given; null where it has none or retention cleared it.
ALTER TABLE contents ADD COLUMN text TEXT;

-- What was wrong with an email's templates when it was rendered: part, line, column, message.
ALTER TABLE emails ADD COLUMN template_faults TEXT;
