/**
 * Parses one mailbox: `a@example.com`, `<a@example.com>`, `Ann <a@example.com>` or
 * `"Ann, Sales" <a@example.com>` (RFC 5322 section 3.4). An unquoted name must not contain characters
 * that separate mailboxes or end a group, so a list is never read as one mailbox.
 */
import { MAX_LINE_OCTETS } from '../limits.ts'
import { type ParsedAddress, parseAddress } from './address.ts'

export type NamedMailbox = { address: ParsedAddress; name: string | null }

/** One header line for the name and one for the address. */
const MAX_TEXT_LENGTH = 2 * MAX_LINE_OCTETS
const CONTROL = /[\x00-\x08\x0a-\x1f\x7f]/
const SEPARATOR = /[<>@,;:"\\]/
const QUOTED = /^"((?:[^"\\]|\\.)*)"$/s

/** Undefined if the text is not exactly one mailbox. A blank name is null. */
export function parseNamedMailbox(text: string): NamedMailbox | undefined {
  if (text.length > MAX_TEXT_LENGTH || CONTROL.test(text)) return undefined
  const trimmed = text.trim()
  if (!trimmed.endsWith('>')) return withName(trimmed, null)
  const opening = trimmed.lastIndexOf('<')
  const name = readName(trimmed.slice(0, Math.max(opening, 0)).trim())
  if (opening < 0 || name === undefined) return undefined
  return withName(trimmed.slice(opening + 1, -1), name === '' ? null : name)
}

function withName(text: string, name: string | null): NamedMailbox | undefined {
  const address = parseAddress(text)
  return address === undefined ? undefined : { address, name }
}

/** A name without its quotes; undefined if it is invalid. */
function readName(text: string): string | undefined {
  const quoted = QUOTED.exec(text)?.[1]
  if (quoted !== undefined) return quoted.replace(/\\(.)/gs, '$1').trim()
  return SEPARATOR.test(text) ? undefined : text
}
