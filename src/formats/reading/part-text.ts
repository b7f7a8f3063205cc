/** Decodes the octets of a text part. */
import { decodeOctets } from '../parse/charset.ts'
import type { Damage } from '../parse/damage.ts'
import { withLf } from '../parse/entity.ts'

type PartText = {
  /** The charset that the part declares. */
  label: string | undefined
  isHtml: boolean
  /** Charsets that the message declares elsewhere. */
  guesses: readonly string[]
  damage: Damage
}

/** The beginning of a document, where it may declare its charset. */
const MAX_SEARCHED = 1_024
const META = /<meta\b[^>]{0,200}\bcharset[ \t]{0,9}=[ \t]{0,9}["']?([\w.:-]{2,40})/i

/** With LF line ends. */
export function readPartText(octets: Buffer, { label, isHtml, guesses, damage }: PartText): string {
  const part = isHtml ? 'HTML' : 'Text'
  const meta = isHtml ? META.exec(octets.toString('latin1', 0, MAX_SEARCHED))?.[1] : undefined
  const decoded = decodeOctets(octets, label, meta === undefined ? guesses : [meta, ...guesses])
  damage.addReplaced(part, decoded)
  if (decoded.isGuessed) damage.addGuessed(part, decoded.charset)
  return withLf(decoded.text).toWellFormed()
}
