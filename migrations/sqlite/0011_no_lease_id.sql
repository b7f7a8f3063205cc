-- Nothing read this column: `lease_until` says whether an email is leased, and one server runs at a
-- time. Its 36 characters made each claim grow the row, which split pages.
ALTER TABLE emails DROP COLUMN lease_id;
