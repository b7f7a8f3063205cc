/** Random numbers of a seed in place of all those of this thread, so that ids fall on the same pages in each run. */
import { createRequire, syncBuiltinESMExports } from 'node:module'

/** Mulberry32. */
export function installSeededRandom(seed: number): void {
  let state = seed
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  const randomBytes = (size: number, done?: (error: null, bytes: Buffer) => void) => {
    const bytes = Buffer.alloc(size)
    for (let at = 0; at < size; at += 1) bytes[at] = next() & 0xff
    if (done === undefined) return bytes
    setImmediate(done, null, bytes)
  }
  const randomUUID = () => {
    const hex = (randomBytes(16) as Buffer).toString('hex')
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`
  }
  Math.random = () => next() / 2 ** 32
  Object.assign(createRequire(import.meta.url)('node:crypto'), { randomBytes, randomUUID })
  syncBuiltinESMExports()
}
