/**
 * To and Cc of a submitted message, which every recipient gets as they were written. Encoded words are
 * kept. Where the field has other characters than ASCII, its addresses are written anew in wire form.
 */
import type { NamedMailbox } from '../address/named-mailbox.ts'
import { fitsLines } from '../compose/header-field.ts'
import type { RecipientFields } from '../compose/message-content.ts'
import { MAX_RECIPIENT_FIELD_LENGTH } from '../limits.ts'
import { oneFieldLine } from '../one-line.ts'
import type { Damage } from '../parse/damage.ts'
import { formatMailbox, type HeaderLine } from './headers.ts'

type Mailboxes = { to: readonly NamedMailbox[]; cc: readonly NamedMailbox[] }

/** Null without both, and when one of them cannot be sent: then each recipient gets a To of its own. */
export function readRecipientFields(
  lines: readonly HeaderLine[],
  mailboxes: Mailboxes,
  damage: Damage,
): RecipientFields | null {
  const to = fieldValue(lines, 'to', mailboxes.to)
  const cc = fieldValue(lines, 'cc', mailboxes.cc)
  if (to === null && cc === null) return null
  const obstacle = findObstacle({ to, cc }, mailboxes)
  if (obstacle === undefined) return { to, cc }
  damage.add(`To and Cc: ${obstacle}; each recipient gets its own address alone.`)
  return null
}

function findObstacle({ to, cc }: RecipientFields, mailboxes: Mailboxes): string | undefined {
  if (!isSendable(to) || !isSendable(cc)) return 'too long'
  const isInternational = [...mailboxes.to, ...mailboxes.cc].some(
    ({ address }) => address.needsSmtputf8,
  )
  // Servers without SMTPUTF8 would refuse the copies of all others, too.
  return isInternational ? 'an address is not in ASCII' : undefined
}

/** A field that is repeated counts as one; null without a value. */
function fieldValue(
  lines: readonly HeaderLine[],
  key: 'to' | 'cc',
  mailboxes: readonly NamedMailbox[],
): string | null {
  const values = lines.flatMap((each) => (each.key === key ? [unfold(each.line)] : []))
  const value = values.filter((each) => each !== '').join(', ')
  if (value === '') return null
  if (/^[\t\x20-\x7e]*$/.test(value)) return value
  const written = mailboxes.map(formatMailbox).join(', ')
  return written === '' ? null : written
}

function unfold(line: string): string {
  const value = line.slice(line.indexOf(':') + 1).replace(/\r?\n(?=[ \t])/g, '')
  return oneFieldLine(value)
}

function isSendable(value: string | null): boolean {
  return value === null || (value.length <= MAX_RECIPIENT_FIELD_LENGTH && fitsLines(value))
}
