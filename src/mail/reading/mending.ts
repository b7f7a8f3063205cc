/** What the functions share that mend a message (`mend-message.ts`). */
import { isUtf8 } from 'node:buffer'
import { decodeOctets } from '../parse/charset.ts'
import type { Damage } from '../parse/damage.ts'

/** Octets of the message from `start` to `end` are replaced. */
export type Edit = { start: number; end: number; octets: Buffer }

export type Mending = {
  raw: Buffer
  edits: Edit[]
  damage: Damage
  /** Charsets that the message declares, for its text that declares none. */
  guesses: readonly string[]
  /** Parts that may still be looked at. */
  partsLeft: number
}

/** The UTF-8 octets of a line whose charset is not declared, one character per octet. */
export function utf8Line(
  line: string,
  { guesses, damage }: Pick<Mending, 'guesses' | 'damage'>,
): string {
  const octets = Buffer.from(line, 'latin1')
  if (isUtf8(octets)) return line
  const name = /^[!-9;-~]{1,80}/.exec(line)?.[0] ?? 'Header field'
  const { text, charset } = decodeOctets(octets, undefined, guesses)
  damage.addGuessed(name, charset)
  return Buffer.from(text).toString('latin1')
}
