/**
 * One mailbox as people write it: `a@example.com`, `<a@example.com>`, `Ann <a@example.com>` or
 * `"Ann, Sales" <a@example.com>` (RFC 5322 section 3.4). An unquoted name holds none of the
 * characters that separate mailboxes or end a group, so a list is never read as one mailbox.
 */
import { type ParsedAddress, parseAddress } from './address.ts'

export type NamedMailbox = { address: ParsedAddress; name: string | null }

/** The longest header line (RFC 5322 section 2.1.1), for the name and for the address. */
const MAX_TEXT_LENGTH = 2 * 998
const CONTROL = /[\x00-\x08\x0a-\x1f\x7f]/
const SEPARATOR = /[<>@,;:"\\]/
const QUOTED = /^"((?:[^"\\]|\\.)*)"$/s

/** Undefined when the text is not exactly one mailbox. A blank name is null. */
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

/** Without its quotes; undefined for what is no name. */
function readName(text: string): string | undefined {
  const quoted = QUOTED.exec(text)?.[1]
  if (quoted !== undefined) return quoted.replace(/\\(.)/gs, '$1').trim()
  return SEPARATOR.test(text) ? undefined : text
}
