/**
 * Gives a project many contacts straight in the tables of a server that is stopped: each with an email
 * and its attempt, two events and a membership of a segment. Each email has a content of its own, and a
 * tenth of them waits, because its domain is held.
 */
import Database from 'better-sqlite3'

type Project = {
  id: string
  /** Makes the ids of its rows, from 1 to 4,095. */
  number: number
}

const AT = Date.UTC(2026, 10, 21)
/** Of each kind of rows, for their ids. */
const KINDS = { contact: 1, email: 2, content: 3, event: 4, opened: 5, segment: 6 }

/** The addresses are the same in all projects. */
export function fillMany(file: string, { id, number }: Project, count: number): void {
  const database = new Database(file)
  database.pragma('foreign_keys = ON')
  const idOf = (kind: keyof typeof KINDS) =>
    `printf('0199a7c0-%03x${KINDS[kind]}-7000-8000-%012x', ${number}, n)`
  const rows = `WITH RECURSIVE numbers (n) AS (
    SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})`
  const isWaiting = 'n % 10 = 0'
  const far = AT + 365 * 86_400_000
  const segment = `printf('0199a7c0-%03x${KINDS.segment}-7000-8000-%012x', ${number}, 0)`
  database.transaction(() => {
    database.exec(`
      INSERT OR IGNORE INTO holds (domain, held_at) VALUES ('people.test', ${AT});
      INSERT INTO segments (id, project_id, name, type, created_at, updated_at)
        VALUES (${segment}, '${id}', 'All', 'STATIC', ${AT}, ${AT});
      ${rows} INSERT INTO contacts (id, project_id, email, subscribed, data, created_at, updated_at)
        SELECT ${idOf('contact')}, '${id}', 'person' || n || '@people.test', 1,
          '{"plan":"pro","visits":' || n || '}', ${AT}, ${AT} FROM numbers;
      ${rows} INSERT INTO segment_members (segment_id, contact_id, entered_at, created_at, updated_at)
        SELECT ${segment}, ${idOf('contact')}, ${AT}, ${AT}, ${AT} FROM numbers;
      ${rows} INSERT INTO contents (id, project_id, subject, body, last_used_at, created_at)
        SELECT ${idOf('content')}, '${id}', 'Hello', '<p>Hello {{ plan }} ' || n || '</p>', ${AT}, ${AT}
        FROM numbers;
      ${rows} INSERT INTO emails (id, project_id, contact_id, content_id, source_type, recipient,
          recipient_domain, from_address, subject, content_class, is_tracked, message_id, state, status,
          queue_class, held_at, attempt_count, give_up_at, created_at, updated_at)
        SELECT ${idOf('email')}, '${id}', ${idOf('contact')}, ${idOf('content')}, 'TRANSACTIONAL',
          'person' || n || '@people.test', 'people.test', 'shop@example.test', 'Hello', 'TRANSACTIONAL',
          0, ${idOf('email')} || '@example.test', iif(${isWaiting}, 'held', 'delivered'),
          iif(${isWaiting}, 'PENDING', 'DELIVERED'), 0, iif(${isWaiting}, ${AT}, NULL), 1, ${far},
          ${AT} + n, ${AT}
        FROM numbers;
      ${rows} INSERT INTO attempts (email_id, at, duration_ms, result, steps)
        SELECT ${idOf('email')}, ${AT}, 20, 'delivered', '[]' FROM numbers;
      ${rows} INSERT INTO events (id, project_id, name, contact_id, email_id, created_at)
        SELECT ${idOf('event')}, '${id}', 'email.delivery', ${idOf('contact')}, ${idOf('email')}, ${AT} + n
        FROM numbers;
      ${rows} INSERT INTO events (id, project_id, name, contact_id, email_id, created_at)
        SELECT ${idOf('opened')}, '${id}', 'email.open', ${idOf('contact')}, ${idOf('email')}, ${AT} + n
        FROM numbers;`)
  })()
  database.pragma('wal_checkpoint(TRUNCATE)')
  database.close()
}
