/** Types and helpers that the functions share which mend a message (`mend-message.ts`). */
import { decodeOctets } from '../parse/charset.ts'
import type { Damage } from '../parse/damage.ts'

/** Octets of the message from `start` to `end` are replaced. */
export type OctetEdit = { start: number; end: number; octets: Buffer }

export type Mending = {
  raw: Buffer
  edits: OctetEdit[]
  damage: Damage
  /** Charsets that the message declares, for its text that declares none. */
  guesses: readonly string[]
  /** Parts that may still be looked at. */
  partsLeft: number
}

type UndeclaredText = Pick<Mending, 'guesses' | 'damage'> & {
  /** The name of the text in `damage`. */
  part: string
}

/** The UTF-8 octets of text whose charset is not declared, one character per octet. */
export function utf8Octets(raw: string, { guesses, damage, part }: UndeclaredText): string {
  const { text, charset } = decodeOctets(Buffer.from(raw, 'latin1'), undefined, guesses)
  if (charset === 'utf-8' || charset === 'us-ascii') return raw
  damage.addGuessed(part, charset)
  return Buffer.from(text).toString('latin1')
}
