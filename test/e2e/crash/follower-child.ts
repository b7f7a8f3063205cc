/**
 * A process that appends events and follows them at once, until somebody kills it: its follower
 * writes down what it was handed. The first argument is the database; each event whose commit was
 * heard of is a line on stdout.
 */

import { silentLog } from '../../../src/base/log.ts'
import { appendEvents } from '../../../src/features/ground/events/append.ts'
import { sql } from '../../../src/store/drizzle.ts'
import { openStore, type Store } from '../../../src/store/store.ts'
import type { Tx } from '../../../src/store/write/transaction.ts'
import { followEvents } from '../../work/followed-events.ts'

const APPENDERS = 8

/** `place` is the order of writing; nothing but the follower keeps a `seq` from coming twice. */
const createSeen = sql`create table if not exists seen (
  place integer primary key autoincrement, seq integer not null, name text not null
)`

export async function openFollowed(file: string): Promise<Store> {
  const store = await openStore({ path: file, log: silentLog(), watch: false })
  await store.write((tx) => tx.run(createSeen))
  return store
}

export function followSeen(store: Store) {
  return followEvents(
    { store, log: silentLog(), now: Date.now },
    [
      {
        name: 'webhooks',
        handle: async (tx, events) => {
          for (const { seq, name } of events) await writeDown(tx, seq, name)
        },
      },
    ],
    { batch: 25 },
  )
}

async function writeDown(tx: Tx, seq: number, name: string): Promise<void> {
  await tx.run(sql`insert into seen (seq, name) values (${seq}, ${name})`)
}

/** Two events in a transaction, again and again. */
async function appendForever(store: Store, prefix: string): Promise<never> {
  const event = { projectId: 'p', contactId: null, emailId: null, data: null, at: Date.now() }
  for (let index = 0; ; index += 2) {
    const names = [`${prefix}-${index}`, `${prefix}-${index + 1}`]
    await store.write((tx) =>
      appendEvents(
        tx,
        names.map((name) => ({ ...event, name })),
      ),
    )
    process.stdout.write(`${names.join('\n')}\n`)
  }
}

if (import.meta.main) {
  const store = await openFollowed(process.argv[2] ?? '')
  followSeen(store)
  await Promise.all(
    Array.from({ length: APPENDERS }, (_, index) =>
      appendForever(store, `${process.pid}-${index}`),
    ),
  )
}
