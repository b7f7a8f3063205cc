/**
 * Parses one mailbox: `a@example.com`, `<a@example.com>`, `Ann <a@example.com>` or
 * `"Ann, Sales" <a@example.com>` (RFC 5322 section 3.4). An unquoted name must not contain characters
 * that separate mailboxes or end a group, so a list is never read as one mailbox. It may contain `@`:
 * address books write `a@example.com <a@example.com>`, which names nobody. It may not be another address.
 */
import { MAX_LINE_OCTETS } from '../limits.ts'
import { isOneFieldLine } from '../one-line.ts'
import { ADDRESS_PATTERN } from '../parse/find-address.ts'
import { type ParsedAddress, parseAddress } from './address.ts'

export type NamedMailbox = { address: ParsedAddress; name: string | null }

/** Room for one header line with the name and one with the address. */
const MAX_TEXT_LENGTH = 2 * MAX_LINE_OCTETS
const SEPARATOR = /[<>,;:"\\]/
const ANY_ADDRESS = new RegExp(ADDRESS_PATTERN, 'giu')
const QUOTED = /^"((?:[^"\\]|\\.)*)"$/s

/** Undefined if the text is not exactly one mailbox. A name that is blank or the address itself is null. */
export function parseNamedMailbox(text: string): NamedMailbox | undefined {
  if (!mayBeMailbox(text)) return undefined
  const trimmed = text.trim()
  if (!trimmed.endsWith('>')) return withName(trimmed, null)
  const opening = trimmed.lastIndexOf('<')
  const name = readName(trimmed.slice(0, Math.max(opening, 0)).trim())
  if (opening < 0 || name === undefined) return undefined
  const mailbox = withName(trimmed.slice(opening + 1, -1), name === '' ? null : name)
  return mailbox !== undefined && namesOther(trimmed.slice(0, opening), mailbox)
    ? undefined
    : mailbox
}

/** Whether the text has the length and the characters of one mailbox. */
export function mayBeMailbox(text: string): boolean {
  return text.length <= MAX_TEXT_LENGTH && isOneFieldLine(text)
}

/**
 * Whether an unquoted name contains an address other than the mailbox's own: the text may be meant
 * as a list.
 */
function namesOther(text: string, { address }: NamedMailbox): boolean {
  const bare = text.trim()
  if (!bare.includes('@') || QUOTED.test(bare)) return false
  const named = [...bare.matchAll(ANY_ADDRESS)].map(([found]) => parseAddress(found)?.address)
  return named.some((each) => each !== address.address)
}

/**
 * Parses an address where a name would be dropped. Also accepts `<a@example.com>` and
 * `a@example.com <a@example.com>`, which have no real name. Undefined for a text with a real name.
 */
export function parseShownAddress(text: string): ParsedAddress | undefined {
  const plain = parseAddress(text)
  if (plain !== undefined || !text.includes('<')) return plain
  const mailbox = parseNamedMailbox(text)
  return mailbox?.name === null ? mailbox.address : undefined
}

/** A mailbox with its name; a name that only repeats the address, quoted or not, becomes null. */
export function toNamedMailbox(address: ParsedAddress, name: string | null): NamedMailbox {
  if (name === null || !name.includes('@')) return { address, name }
  const shown = parseAddress(name.replace(/^'(.*)'$/s, '$1'))
  return { address, name: shown?.address === address.address ? null : name }
}

function withName(text: string, name: string | null): NamedMailbox | undefined {
  const address = parseAddress(text)
  return address === undefined ? undefined : toNamedMailbox(address, name)
}

/** The name without its quotes and escapes; undefined if the name is invalid. */
function readName(text: string): string | undefined {
  const quoted = QUOTED.exec(text)?.[1]
  if (quoted !== undefined) return quoted.replace(/\\(.)/gs, '$1').trim()
  return SEPARATOR.test(text) ? undefined : text
}
