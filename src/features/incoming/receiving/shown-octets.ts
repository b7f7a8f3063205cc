/**
 * The octets of a received message, for people who may read them. A message that is not read yet, or cannot
 * be, is stored as it came in, and may quote a link that the server mailed to a user.
 */
import { zeroLinks } from '../../../formats/parse/zero-links.ts'

/** Returns undefined, never octets with a link, if a fault of the program stops the search for links. */
export function shownOctets(raw: Buffer): Buffer | undefined {
  try {
    return zeroLinks(raw)
  } catch {
    return undefined
  }
}
