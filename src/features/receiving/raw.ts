/**
 * The octets of a message that came in. A large message is kept in chunks, so that nobody waits while
 * it is written or read; its row then holds an empty value and the number of chunks.
 */
import type { InboundMessage } from '../../store/schema/inbound.ts'
import type { Store } from '../../store/store.ts'
import type { Base } from '../base.ts'
import { discardChunks, readChunks, writeChunks } from '../chunks.ts'

/** As of the row. */
export type StoredRaw = { raw: Buffer; rawChunks: number }

type Row = Pick<InboundMessage, 'id' | 'raw' | 'rawChunks' | 'sizeBytes'>

/** Whose line heavy writes of received mail stand in (store/write/write-queue.ts). */
const HEAVY_FOR = 'inbound'
/** What is written among others (store/write/writer.ts): a megabyte takes some 5 ms. */
const LIGHT_BYTES = 512 * 1024
const CHUNK_BYTES = 1024 * 1024

const EMPTY = Buffer.alloc(0)

/** Of a message in parts. */
export function sizeOf(parts: readonly Buffer[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0)
}

/** `parts`: of the message, one behind the other. Chunks are durable when it resolves. */
export async function writeRaw(
  { store }: Pick<Base, 'store'>,
  { id, parts }: { id: string; parts: readonly Buffer[] },
): Promise<StoredRaw> {
  if (sizeOf(parts) <= LIGHT_BYTES) return { raw: Buffer.concat(parts), rawChunks: 0 }
  try {
    const place = { ownerId: id, first: 0, heavyFor: HEAVY_FOR }
    return { raw: EMPTY, rawChunks: await writeChunks(store, place, cut(parts)) }
  } catch (error) {
    await discardChunks(store, id)
    throw error
  }
}

/**
 * Null when the message is not kept any more. One that was kept in chunks is put together in shared
 * memory, because copying it to a reader thread would hold up the event loop.
 */
export async function readRaw(
  store: Pick<Store, 'read'>,
  { id, raw, rawChunks, sizeBytes }: Row,
): Promise<Buffer | null> {
  if (raw === null || rawChunks === 0) return raw
  const whole = Buffer.from(new SharedArrayBuffer(sizeBytes))
  let at = 0
  for await (const chunk of readChunks(store, { ownerId: id, first: 0, count: rawChunks })) {
    at += chunk.copy(whole, at)
  }
  return at === sizeBytes ? whole : null
}

/** In chunks that are full but for the last. */
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
