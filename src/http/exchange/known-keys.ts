/**
 * The keys that came on a connection. A client sends the same one with every request, and its digest costs more
 * than the look-up of its project, so it is made once for a connection. What it opens is looked up each time.
 *
 * A map finds a header field by its hash: the time says nothing about how much of a guess is right, also when
 * the connection is a proxy's, which has the requests of many clients. Fields, with the secret keys in them, are
 * forgotten with the connection. Those of a stranger are short, so that a connection holds little.
 */
import type { Socket } from 'node:net'
import { type GivenKey, readKey } from '../../features/tenancy/accounts/callers/authenticate.ts'

/** Keys of one connection. */
export const MAX_KNOWN_KEYS = 16
/** A field has a key of 67 characters, and may have spaces around it. */
export const MAX_KNOWN_LENGTH = 100

type KeyReader = typeof readKey

const readers = new WeakMap<Socket, KeyReader>()

/** As `readKey`, for the requests of one connection. */
export function keyReaderOf(socket: Socket): KeyReader {
  const known = readers.get(socket)
  if (known !== undefined) return known
  const reader = createKeyReader()
  readers.set(socket, reader)
  return reader
}

/** `read` is for tests. */
export function createKeyReader(read: KeyReader = readKey): KeyReader {
  const keys = new Map<string, GivenKey>()
  return (authorization = '') => {
    const known = keys.get(authorization)
    if (known !== undefined) return known
    const key = read(authorization)
    const isKey = key !== undefined && key.kind !== 'unknown'
    if (!isKey || authorization.length > MAX_KNOWN_LENGTH) return key
    if (keys.size >= MAX_KNOWN_KEYS) keys.clear()
    keys.set(authorization, key)
    return key
  }
}
