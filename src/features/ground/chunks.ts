/**
 * Chunks of values that are too large to write or read at once: attachments
 * (messages/accept/content.ts) and received mail (receiving/raw.ts).
 *
 * The chunks are durable before their owner, the row that refers to them, is written; the owner is
 * refused where chunks are missing. `discardChunks` deletes the chunks of an owner that was not
 * written. `deleteExpiredChunks` deletes the chunks that a crash left, and those of owners that
 * were cleared or deleted. The SQL never deletes chunks that a row refers to.
 */

import { setImmediate } from 'node:timers/promises'
import { HOUR_MS } from '../../base/clock.ts'
import { AppError } from '../../base/errors.ts'
import { and, eq, sql } from '../../store/drizzle.ts'
import { firstIdAt } from '../../store/ids.ts'
import { chunks } from '../../store/schema/messages.ts'
import { parameter, statement } from '../../store/statement.ts'
import type { Store } from '../../store/store.ts'
import type { Tx } from '../../store/write/transaction.ts'
import { type SweepPace, sweep } from '../../work/sweep.ts'
import type { Base } from './base.ts'

/** `ownerId`: a UUIDv7; `first`: the number of the first chunk. */
type ChunkRange = { ownerId: string; first: number }

/** The age at which chunks without an owner are deleted: longer than any request or session. */
const EXPIRES_AFTER_MS = HOUR_MS
const ONE_BY_ONE: SweepPace = { rows: 1, rest: 'none' }

const insertChunk = statement((db) =>
  db.insert(chunks).values({
    ownerId: parameter('ownerId'),
    number: parameter('number'),
    bytes: parameter('bytes'),
  }),
)

const findChunk = statement((db) =>
  db
    .select({ bytes: chunks.bytes })
    .from(chunks)
    .where(and(eq(chunks.ownerId, parameter('ownerId')), eq(chunks.number, parameter('number')))),
)

/** SQL: whether the row with this id refers to chunks. */
const hasOwner = (id: ReturnType<typeof sql>) => sql`(
  exists (select 1 from contents where id = ${id} and attachments is not null)
  or exists (select 1 from inbound_messages where id = ${id} and raw is not null))`

const countChunks = statement<{ count: number }>(
  () => sql`select count(*) as "count" from chunks where owner_id = ${parameter('ownerId')}`,
)

const findUnowned = statement<{ number: number }>(
  () => sql`select number from chunks where owner_id = ${parameter('ownerId')}
    and not ${hasOwner(sql`${parameter('ownerId')}`)} limit 1`,
)

const deleteLast = statement(
  () => sql`delete from chunks where owner_id = ${parameter('ownerId')}
    and number = (select max(number) from chunks where owner_id = ${parameter('ownerId')})
    and not ${hasOwner(sql`${parameter('ownerId')}`)}`,
)

export const selectExpiredOwners = statement<{ ownerId: string }>(
  () => sql`select distinct owner_id as "ownerId" from chunks
    where owner_id < ${parameter('before')} and not ${hasOwner(sql`owner_id`)}`,
)

/** Writes chunks and returns their number; all are durable. `heavyFor`: as in `store.write`. */
export async function writeChunks(
  store: Store,
  { ownerId, first, heavyFor }: ChunkRange & { heavyFor: string },
  values: Iterable<Uint8Array>,
): Promise<number> {
  let number = first
  for (const bytes of values) {
    const chunk = { ownerId, number, bytes }
    await store.write((tx) => tx.execute(insertChunk, chunk), { heavyFor })
    number += 1
  }
  return number - first
}

/**
 * Checks within the transaction that writes the owner that all chunks exist: `deleteExpiredChunks`
 * may have deleted them if the clock was set forward.
 * @throws AppError DATABASE_ERROR
 */
export async function requireChunks(
  tx: Tx,
  { ownerId, count }: Pick<ChunkRange, 'ownerId'> & { count: number },
): Promise<void> {
  const stored = (await tx.find(countChunks, { ownerId }))?.count
  if (stored === count) return
  throw new AppError('DATABASE_ERROR', 'The message could not be stored completely.')
}

/** Reads chunks. Ends early at a missing chunk: its owner has been cleared. */
export async function* readChunks(
  { read }: Pick<Store, 'read'>,
  { ownerId, first, count }: ChunkRange & { count: number },
): AsyncGenerator<Buffer> {
  for (let number = first; number < first + count; number += 1) {
    const chunk = await read.find(findChunk, { ownerId, number })
    if (chunk === undefined) return
    yield chunk.bytes
    await setImmediate()
  }
}

/**
 * Deletes the chunks of an owner that was not written or no longer refers to them. Never rejects:
 * `deleteExpiredChunks` deletes the rest.
 */
export async function discardChunks(store: Store, ownerId: string): Promise<void> {
  await deleteChunks(store, ownerId).catch(() => undefined)
}

/**
 * Deletes the chunks of an owner that no longer refers to them, one per transaction, because deleting a
 * chunk takes about as long as writing it.
 */
export async function deleteChunks(store: Store, ownerId: string): Promise<void> {
  const until = async () => (await store.read.find(findUnowned, { ownerId })) === undefined
  const rules = { pace: ONE_BY_ONE, heavyFor: 'retention', until }
  await sweep({ store }, rules, (tx) => tx.execute(deleteLast, { ownerId }))
}

/** Deletes the chunks that no owner refers to. */
export async function deleteExpiredChunks({
  store,
  now,
}: Pick<Base, 'store' | 'now'>): Promise<void> {
  const before = firstIdAt(now() - EXPIRES_AFTER_MS)
  for (const { ownerId } of await store.scan.list(selectExpiredOwners, { before })) {
    await deleteChunks(store, ownerId)
  }
}
