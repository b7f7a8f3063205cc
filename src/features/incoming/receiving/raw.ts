/**
 * Stores and reads the octets of a received message. A message of more than 512 KB is stored in
 * chunks, so that other writes do not wait for it. Its row then has an empty value and the number of
 * chunks.
 */
import { zeroLinks } from '../../../formats/parse/zero-links.ts'
import { eq, sql } from '../../../store/drizzle.ts'
import { type InboundMessage, inboundMessages } from '../../../store/schema/inbound.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Store } from '../../../store/store.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import { discardChunks, readChunks, writeChunks } from '../../ground/chunks.ts'

/** The values of the row's columns for the octets. */
export type StoredRaw = { raw: Buffer; rawChunks: number }

type RawMessageRow = Pick<InboundMessage, 'id' | 'raw' | 'rawChunks' | 'sizeBytes'>

/**
 * The owner of the heavy writes of received mail; they share one queue
 * (store/write/write-queue.ts).
 */
const HEAVY_FOR = 'inbound'
/** The most bytes of a light write (store/write/writer.ts): writing 1 MB takes about 5 ms. */
const LIGHT_BYTES = 512 * 1024
const CHUNK_BYTES = 1024 * 1024

const EMPTY = Buffer.alloc(0)

const updateRaw = statement((db) =>
  db
    .update(inboundMessages)
    .set({ raw: parameter('bytes') })
    .where(eq(inboundMessages.id, parameter('id'))),
)

const updateChunk = statement(
  () => sql`update chunks set bytes = ${parameter('bytes')}
    where owner_id = ${parameter('id')} and number = ${parameter('number')}
      and bytes <> ${parameter('bytes')}`,
)

export function sizeOf(parts: readonly Buffer[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0)
}

/**
 * Joins the parts in memory of their own. Node's small buffers share a pool, and moving a slice of
 * it to a reader thread would move the whole pool.
 */
export function joinParts(parts: readonly Buffer[]): Buffer {
  const whole = Buffer.allocUnsafeSlow(sizeOf(parts))
  let at = 0
  for (const part of parts) at += part.copy(whole, at)
  return whole
}

/**
 * Stores the octets. `parts`: the consecutive parts of a message. The chunks are on disk when the
 * promise resolves.
 */
export async function writeRaw(
  { store }: Pick<Base, 'store'>,
  { id, parts }: { id: string; parts: readonly Buffer[] },
): Promise<StoredRaw> {
  if (sizeOf(parts) <= LIGHT_BYTES) return { raw: joinParts(parts), rawChunks: 0 }
  try {
    const range = { ownerId: id, first: 0, heavyFor: HEAVY_FOR }
    return { raw: EMPTY, rawChunks: await writeChunks(store, range, cut(parts)) }
  } catch (error) {
    await discardChunks(store, id)
    throw error
  }
}

/**
 * Reads the octets; null once they are deleted. Chunks are joined in shared memory, because copying
 * a large message to a reader thread would block the event loop.
 */
export async function readRaw(
  store: Pick<Store, 'read'>,
  { id, raw, rawChunks, sizeBytes }: RawMessageRow,
): Promise<Buffer | null> {
  if (raw === null || rawChunks === 0) return raw
  const whole = Buffer.from(new SharedArrayBuffer(sizeBytes))
  let at = 0
  for await (const chunk of readChunks(store, { ownerId: id, first: 0, count: rawChunks })) {
    at += chunk.copy(whole, at)
  }
  return at === sizeBytes ? whole : null
}

/**
 * Replaces the octets of a message by the same number of others. For a large message, only the
 * chunks that differ are written.
 */
export async function replaceRaw(
  tx: Tx,
  { id, rawChunks }: Pick<RawMessageRow, 'id' | 'rawChunks'>,
  octets: Uint8Array,
): Promise<void> {
  const bytes = Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength)
  if (rawChunks === 0) {
    await tx.execute(updateRaw, { id, bytes })
    return
  }
  for (let number = 0; number < rawChunks; number += 1) {
    const piece = bytes.subarray(number * CHUNK_BYTES, (number + 1) * CHUNK_BYTES)
    await tx.execute(updateChunk, { id, number, bytes: piece })
  }
}

/** Cuts octets into chunks of 1 MB; the last one may be smaller. */
function* cut(parts: readonly Buffer[]): Generator<Buffer> {
  let pieces: Buffer[] = []
  let left = CHUNK_BYTES
  for (const part of parts) {
    for (let at = 0; at < part.length; ) {
      const piece = part.subarray(at, at + left)
      pieces.push(piece)
      at += piece.length
      left -= piece.length
      if (left > 0) continue
      yield Buffer.concat(pieces)
      pieces = []
      left = CHUNK_BYTES
    }
  }
  if (pieces.length > 0) yield Buffer.concat(pieces)
}

/**
 * Returns the octets for people who may read them, without links that the server mailed to a user.
 * A message that was not parsed yet, or cannot be parsed, is stored as it came in and may quote
 * such a link. Returns undefined, and never octets with a link, if a fault of the program stops the
 * search for links.
 */
export function shownOctets(raw: Buffer): Buffer | undefined {
  try {
    return zeroLinks(raw)
  } catch {
    return undefined
  }
}
