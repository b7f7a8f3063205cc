import { randomFillSync } from 'node:crypto'

/*
 * UUIDv7 (RFC 9562 section 5.7): 48 bits of epoch milliseconds, version, 12 bits of counter
 * (section 6.2, method 1), variant, 62 random bits. Ids of one process sort in the order of their
 * making, which keeps inserts at the right edge of an index and pages stable.
 */
type Sequence = { at: number; counter: number; pool: Buffer; offset: number }

const poolBytes = 8 * 512
const counterEnd = 0x1000
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** A new id, greater as text than every earlier one of this process. */
export const newId: () => string = createIdSource(Date.now)

/** For tests: ids by another clock. A clock that steps back is not followed. */
export function createIdSource(now: () => number): () => string {
  const state: Sequence = { at: 0, counter: 0, pool: Buffer.alloc(0), offset: 0 }
  return () => {
    const random = nextRandom(state)
    advance(state, now(), random)
    const time = state.at.toString(16).padStart(12, '0')
    const counter = state.counter.toString(16).padStart(3, '0')
    const tail = random.toString('hex')
    const variant = (((random[0] ?? 0) & 0x3f) | 0x80).toString(16)
    return `${time.slice(0, 8)}-${time.slice(8)}-7${counter}-${variant}${tail.slice(2, 4)}-${tail.slice(4)}`
  }
}

/** Any UUID in its lower-case form, whatever its version. */
export function isUuid(value: string): boolean {
  return uuid.test(value)
}

/** When a UUIDv7 was made, in epoch milliseconds. @throws TypeError for any other text. */
export function idTime(id: string): number {
  if (!isUuid(id) || id[14] !== '7') throw new TypeError('The id is not a UUIDv7.')
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}

/** A new millisecond starts its counter in the lower half, so that there is room to count. */
function advance(state: Sequence, at: number, random: Buffer): void {
  if (at > state.at) {
    state.at = at
    state.counter = (((random[6] ?? 0) << 8) | (random[7] ?? 0)) & 0x7ff
    return
  }
  state.counter += 1
  if (state.counter < counterEnd) return
  state.at += 1
  state.counter = 0
}

function nextRandom(state: Sequence): Buffer {
  if (state.offset + 8 > state.pool.length) {
    state.pool = randomFillSync(Buffer.allocUnsafe(poolBytes))
    state.offset = 0
  }
  const random = state.pool.subarray(state.offset, state.offset + 8)
  state.offset += 8
  return random
}
