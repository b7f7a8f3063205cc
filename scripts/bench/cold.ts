/**
 * `npm run bench:cold`: measures `pillarbox version` (required: below 150 ms), the start of `serve`
 * with a million delivered emails (below 700 ms), and idle resident memory (below 200 MB; target 150).
 */
import { execFileSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { makeProject } from './mail/sender.ts'
import { createBench, findExecutable, residentMegabytes } from './server.ts'
import { median, printTable, show } from './table.ts'

const ROUNDS = 5
const EMAILS = 1_000_000
const IDLE_MS = 5_000

const bench = createBench('[http]\nlisten = "127.0.0.1:0"\n[log]\nlevel = "warn"\n')
try {
  await makeProject(bench)
  fill(bench.database)
  const version: number[] = []
  const ready: number[] = []
  const idle: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    version.push(timeVersion())
    const server = await bench.serve()
    ready.push(server.readyMs)
    await sleep(IDLE_MS)
    idle.push(residentMegabytes(server.pid).now)
    await server.stop()
  }
  printTable([
    ['cold, medians of 5', 'found', 'wanted'],
    ['pillarbox version, ms', show(median(version)), '< 150'],
    ['serve ready, 1 M emails, ms', show(median(ready)), '< 700'],
    ['idle resident memory, MB', show(median(idle)), '< 200'],
  ])
} finally {
  bench.remove()
}

function timeVersion(): number {
  const startedAt = performance.now()
  execFileSync(findExecutable(), ['version'], { stdio: 'ignore' })
  return performance.now() - startedAt
}

/** Writes a million delivered emails to a hundred thousand contacts directly into the database. */
function fill(file: string): void {
  const db = new Database(file)
  db.exec('PRAGMA synchronous = OFF')
  db.exec(`
    WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99999)
    INSERT INTO contacts (id, project_id, email, subscribed, created_at, updated_at)
    SELECT printf('c%07d', i), (SELECT id FROM projects), 'user' || i || '@example.org', 1, i, i FROM n;
    INSERT INTO contents (id, project_id, subject, body, last_used_at, created_at)
    SELECT 'content', id, 'Hello', '<p>Hello</p>', 0, 0 FROM projects;
    WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${EMAILS - 1})
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
