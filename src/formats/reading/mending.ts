/**
 * The state that is shared by the functions that mend a message (`mend-message.ts`), and the
 * decoding of undeclared text.
 */
import { decodeOctets } from '../parse/charset.ts'
import type { Damage } from '../parse/damage.ts'

/** A replacement of the message's octets from `start` to `end`. */
export type OctetEdit = { start: number; end: number; octets: Buffer }

export type Mending = {
  raw: Buffer
  edits: OctetEdit[]
  damage: Damage
  /** Charsets that the message declares somewhere, tried for its text without a charset. */
  guesses: readonly string[]
  /** The number of parts that may still be examined. */
  partsLeft: number
}

type UndeclaredText = Pick<Mending, 'guesses' | 'damage'> & {
  /** The name that a warning in `damage` gives the text. */
  part: string
}

/** Returns text whose charset is not declared as UTF-8 octets, one character per octet. */
export function utf8Octets(raw: string, { guesses, damage, part }: UndeclaredText): string {
  const { text, charset } = decodeOctets(Buffer.from(raw, 'latin1'), undefined, guesses)
  if (charset === 'utf-8' || charset === 'us-ascii') return raw
  damage.addGuessed(part, charset)
  return Buffer.from(text).toString('latin1')
}
