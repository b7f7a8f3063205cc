/**
 * Values that are too large to be written or read at a stretch are kept in chunks: attachments
 * (messages/accept/attachment-chunks.ts) and received mail (receiving/raw.ts). Each chunk is durable before
 * the row that names it, its owner, is written; that row is refused where chunks are missing.
 * Where the row is refused, or a chunk cannot be written, `discardChunks` deletes the chunks. The sweep
 * deletes what a process that died left, and the chunks of owners that were cleared or deleted. The
 * chunks that a row names are never deleted, whatever the caller takes for refused.
 */

import { setImmediate as othersTurn } from 'node:timers/promises'
import { HOUR_MS } from '../clock.ts'
import { AppError } from '../errors.ts'
import { and, eq, sql } from '../store/drizzle.ts'
import { firstIdAt } from '../store/ids.ts'
import { chunks } from '../store/schema/messages.ts'
import { parameter, statement } from '../store/statement.ts'
import type { Store } from '../store/store.ts'
import type { Tx } from '../store/write/transaction.ts'
import type { Base } from './base.ts'

/** `ownerId`: a UUIDv7; `first`: how many chunks the owner has before these. */
type Place = { ownerId: string; first: number }

/** No request, and no session, takes as long. */
const ABANDONED_MS = HOUR_MS

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

/** Whether a row that names chunks has that id. */
const isNamed = (id: ReturnType<typeof sql>) => sql`(
  exists (select 1 from contents where id = ${id} and attachments is not null)
  or exists (select 1 from inbound_messages where id = ${id} and raw is not null))`

const countChunks = statement<{ count: number }>(
  () => sql`select count(*) as "count" from chunks where owner_id = ${parameter('ownerId')}`,
)

const findUnnamed = statement<{ number: number }>(
  () => sql`select number from chunks where owner_id = ${parameter('ownerId')}
    and not ${isNamed(sql`${parameter('ownerId')}`)} limit 1`,
)

const deleteLast = statement(
  () => sql`delete from chunks where owner_id = ${parameter('ownerId')}
    and number = (select max(number) from chunks where owner_id = ${parameter('ownerId')})
    and not ${isNamed(sql`${parameter('ownerId')}`)}`,
)

export const selectExpiredOwners = statement<{ ownerId: string }>(
  () => sql`select distinct owner_id as "ownerId" from chunks
    where owner_id < ${parameter('before')} and not ${isNamed(sql`owner_id`)}`,
)

/** The number of chunks, all durable when it resolves. `heavyFor`: as of `store.write`. */
export async function writeChunks(
  store: Store,
  { ownerId, first, heavyFor }: Place & { heavyFor: string },
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
 * For the transaction that writes their owner: the sweep may have taken them, if the clock was set
 * forward meanwhile. @throws AppError DATABASE_ERROR
 */
export async function requireChunks(
  tx: Tx,
  { ownerId, count }: Pick<Place, 'ownerId'> & { count: number },
): Promise<void> {
  const kept = (await tx.find(countChunks, { ownerId }))?.count
  if (kept === count) return
  throw new AppError('DATABASE_ERROR', 'Not all of the message could be kept.')
}

/** Ends early where one is missing: the owner has been cleared meanwhile. */
export async function* readChunks(
  { read }: Pick<Store, 'read'>,
  { ownerId, first, count }: Place & { count: number },
): AsyncGenerator<Buffer> {
  for (let number = first; number < first + count; number += 1) {
    const chunk = await read.find(findChunk, { ownerId, number })
    if (chunk === undefined) return
    yield chunk.bytes
    await othersTurn()
  }
}

/** Of an owner that was not written, or names them no more. The sweep deletes what this cannot. */
export async function discardChunks(store: Store, ownerId: string): Promise<void> {
  await deleteChunks(store, ownerId).catch(() => undefined)
}

/** One by one: freeing one takes about as long as writing it did. */
async function deleteChunks(store: Store, ownerId: string): Promise<void> {
  const write = (tx: Tx) => tx.execute(deleteLast, { ownerId })
  while ((await store.read.find(findUnnamed, { ownerId })) !== undefined) {
    await store.write(write, { heavyFor: 'retention' })
  }
}

/** Deletes the chunks that no owner names. */
export async function deleteExpiredChunks({
  store,
  now,
}: Pick<Base, 'store' | 'now'>): Promise<void> {
  const before = firstIdAt(now() - ABANDONED_MS)
  for (const { ownerId } of await store.scan.list(selectExpiredOwners, { before })) {
    await deleteChunks(store, ownerId)
  }
}
