/**
 * HMAC-SHA-256 (RFC 2104) as a text with one character per octet. Two plain hashes take node:crypto a third
 * of the time of one Hmac object.
 */
import { hash, KeyObject } from 'node:crypto'

/** A secret KeyObject signs faster than the same octets in a Buffer. */
export type HmacKey = Buffer | KeyObject

/** The key blocks with which the two hashes begin (section 2). */
type KeyBlocks = { inner: Buffer; outer: Buffer }

const BLOCK_OCTETS = 64
const DIGEST_OCTETS = 32

/** A key object never changes, so its blocks can be cached. */
const knownBlocks = new WeakMap<KeyObject, KeyBlocks>()

export function hmac(key: HmacKey, payload: Buffer): string {
  const { inner, outer } = blocksOf(key)
  const first = Buffer.allocUnsafe(BLOCK_OCTETS + payload.length)
  first.set(inner)
  first.set(payload, BLOCK_OCTETS)
  const second = Buffer.allocUnsafe(BLOCK_OCTETS + DIGEST_OCTETS)
  second.set(outer)
  second.write(hash('sha256', first, 'binary'), BLOCK_OCTETS, DIGEST_OCTETS, 'binary')
  return hash('sha256', second, 'binary')
}

function blocksOf(key: HmacKey): KeyBlocks {
  if (!(key instanceof KeyObject)) return makeBlocks(key)
  const known = knownBlocks.get(key)
  if (known !== undefined) return known
  const made = makeBlocks(key.export() as Buffer)
  knownBlocks.set(key, made)
  return made
}

function makeBlocks(key: Buffer): KeyBlocks {
  const short = key.length > BLOCK_OCTETS ? hash('sha256', key, 'buffer') : key
  const inner = Buffer.alloc(BLOCK_OCTETS, 0x36)
  const outer = Buffer.alloc(BLOCK_OCTETS, 0x5c)
  for (const [index, octet] of short.entries()) {
    inner[index] = 0x36 ^ octet
    outer[index] = 0x5c ^ octet
  }
  return { inner, outer }
}
