import { randomBytes } from 'node:crypto'

/*
 * UUIDv7 (RFC 9562 section 5.7): 48 bits of epoch milliseconds, version, 12 bits of counter
 * (section 6.2, method 1), variant, 62 random bits. Ids of one process sort in the order of their
 * creation, which keeps inserts at the right edge of an index and pages stable.
 */
type Sequence = { at: number; time: string; counter: number; pool: string; offset: number }

const POOL_BYTES = 8 * 512
/** The random hexadecimal digits of one id. */
const HEX_DIGITS = 16
const VARIANTS = '89ab'
const COUNTER_END = 0x1000
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Returns a new id, greater as text than every earlier one of this process. */
export const newId: () => string = createIdSource(Date.now)

/** For tests: a source of ids with another clock. Ids still increase when the clock steps back. */
export function createIdSource(now: () => number): () => string {
  const state: Sequence = { at: 0, time: '', counter: 0, pool: '', offset: 0 }
  return () => {
    const random = nextRandom(state)
    advance(state, now(), random)
    const counter = state.counter.toString(16).padStart(3, '0')
    const variant = VARIANTS[Number.parseInt(random[0] ?? '', 16) & 3]
    return `${state.time}-7${counter}-${variant}${random.slice(1, 4)}-${random.slice(4)}`
  }
}

/** Whether a text is a UUID of any version, in lower case. */
export function isUuid(value: string): boolean {
  return UUID.test(value)
}

/** Returns the time of a UUIDv7 in epoch milliseconds. @throws TypeError for any other text */
export function idTime(id: string): number {
  if (!isUuid(id) || id[14] !== '7') throw new TypeError('The id is not a UUIDv7.')
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}

/**
 * Returns a lower bound of all UUIDv7 of the millisecond `at` and later, above all earlier ones.
 */
export function firstIdAt(at: number): string {
  const time = Math.max(0, Math.floor(at)).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`
}

/**
 * A new millisecond starts the counter in the lower half of its range, so that it can count at
 * least 2,048 more ids.
 */
function advance(state: Sequence, at: number, random: string): void {
  if (at > state.at) {
    setTime(state, at)
    state.counter = Number.parseInt(random.slice(12), 16) & 0x7ff
    return
  }
  state.counter += 1
  if (state.counter < COUNTER_END) return
  setTime(state, state.at + 1)
  state.counter = 0
}

function setTime(state: Sequence, at: number): void {
  const time = at.toString(16).padStart(12, '0')
  state.at = at
  state.time = `${time.slice(0, 8)}-${time.slice(8)}`
}

function nextRandom(state: Sequence): string {
  if (state.offset + HEX_DIGITS > state.pool.length) {
    state.pool = randomBytes(POOL_BYTES).toString('hex')
    state.offset = 0
  }
  const random = state.pool.slice(state.offset, state.offset + HEX_DIGITS)
  state.offset += HEX_DIGITS
  return random
}
