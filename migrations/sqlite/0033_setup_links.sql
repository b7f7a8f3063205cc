-- The one link by which the first user is made in a browser. It exists only while nobody may log in.
CREATE TABLE setup_links (
  digest TEXT PRIMARY KEY,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
