/** A history for the benchmarks that measure starts. */
import Database from 'better-sqlite3'

/** Writes delivered emails to a hundred thousand contacts directly into the database. */
export function fillDelivered(file: string, emails: number): void {
  const db = new Database(file)
  db.exec('PRAGMA synchronous = OFF')
  db.exec(`
    WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99999)
    INSERT INTO contacts (id, project_id, email, subscribed, created_at, updated_at)
    SELECT printf('c%07d', i), (SELECT id FROM projects), 'user' || i || '@example.org', 1, i, i FROM n;
    INSERT INTO contents (id, project_id, subject, body, last_used_at, created_at)
    SELECT 'content', id, 'Hello', '<p>Hello</p>', 0, 0 FROM projects;
    WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${emails - 1})
    INSERT INTO emails (id, project_id, contact_id, content_id, source_type, recipient,
      recipient_domain, from_address, subject, content_class, is_tracked, message_id, state, status,
      queue_class, give_up_at, sent_at, delivered_at, created_at, updated_at)
    SELECT printf('e%09d', i), (SELECT id FROM projects), printf('c%07d', i % 100000), 'content',
      'TRANSACTIONAL', 'user' || (i % 100000) || '@example.org', 'example.org', 'shop@example.test',
      'Hello', 'TRANSACTIONAL', 0, i || '@example.test', 'delivered', 'DELIVERED', 1, i, i, i, i, i
    FROM n`)
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
}
