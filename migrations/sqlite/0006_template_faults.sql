-- What was wrong with an email's templates when it was rendered: part, line, column, message.
ALTER TABLE emails ADD COLUMN template_faults TEXT;
