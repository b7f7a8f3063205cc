/**
 * Sealed cursors. A cursor holds the place of the last row of a page. It is sealed because row
 * numbers are internal, and because addresses must not appear in URLs, which proxies and logs keep.
 */
import { unknownCursor } from '../base/errors.ts'

type Keyring = { seal(text: string): string; unseal(sealed: string): string }

/** `list`: the name of the list that the cursor belongs to. `place`: any JSON value. */
export function sealCursor(
  { keyring }: { keyring: Keyring },
  list: string,
  place: unknown,
): string {
  const text = JSON.stringify([list, place])
  return Buffer.from(keyring.seal(text), 'base64').toString('base64url')
}

/**
 * @throws AppError VALIDATION_ERROR for a text that is no cursor, and for a cursor of another list
 */
export function unsealCursor(
  { keyring }: { keyring: Keyring },
  list: string,
  cursor: string,
): unknown {
  const [given, place] = unseal(keyring, cursor)
  if (given !== list) throw unknownCursor()
  return place
}

function unseal(keyring: Keyring, cursor: string): unknown[] {
  try {
    return JSON.parse(keyring.unseal(cursor)) as unknown[]
  } catch {
    throw unknownCursor()
  }
}
