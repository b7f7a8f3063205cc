/**
 * The same list as single emails: what POST /v1/send would have queued, one email for each contact,
 * written to the database of a stopped server.
 */
import Database from 'better-sqlite3'
import { newId } from '../../../src/store/ids.ts'

const BATCH = 5_000

/** Copies the only email, which `POST /v1/send` accepted, for every contact but its own. */
export function queueForEverybody(file: string): number {
  const database = new Database(file)
  const model = database.prepare('SELECT * FROM emails').get() as Record<string, unknown>
  const columns = Object.keys(model)
  const marks = columns.map((name) => `@${name}`).join(', ')
  const insert = database.prepare(`INSERT INTO emails (${columns.join(', ')}) VALUES (${marks})`)
  const next = database.prepare<
    [number],
    { number: number; id: string; email: string; data: string }
  >(
    `SELECT number, id, email, data FROM contacts WHERE number > ? AND data IS NOT NULL
      ORDER BY number LIMIT ${BATCH}`,
  )
  let made = 0
  const copy = database.transaction((rows: ReturnType<typeof next.all>) => {
    for (const { id: contactId, email, data } of rows) {
      const id = newId()
      const { name, city } = JSON.parse(data)
      insert.run({
        ...model,
        ...{ id, contact_id: contactId, recipient: email },
        recipient_domain: email.slice(email.indexOf('@') + 1),
        variables: JSON.stringify({ stored: { name, city }, request: {} }),
        message_id: `${id}@example.test`,
      })
      made += 1
    }
  })
  for (let after = 0; ; ) {
    const rows = next.all(after)
    if (rows.length === 0) break
    copy(rows)
    after = rows.at(-1)?.number ?? after
  }
  database.exec(
    'DELETE FROM emails WHERE contact_id IN (SELECT id FROM contacts WHERE data IS NULL)',
  )
  database.close()
  return made
}
