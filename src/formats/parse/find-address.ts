/** Finds addresses in free text: in brackets, in quotes or bare, with types, labels and comments. */

const LOCAL_PART = '(?:"[^"\\n]{1,64}"|[^\\s<>"\'(),;:\\[\\]|\\\\@`*\\u0000-\\u001f]{1,128})'
const DOMAIN = '[a-z0-9\\u0080-\\uffff](?:[a-z0-9.\\u0080-\\uffff-]{0,252}[a-z0-9\\u0080-\\uffff])?'
/** Matches a whole address: the character after it cannot belong to a domain. */
export const ADDRESS_PATTERN = `${LOCAL_PART}@${DOMAIN}(?![a-z0-9\\u0080-\\uffff]|[.-][a-z0-9])`

const MAX_FIELD_LENGTH = 4_096
const MAX_LIST_LENGTH = 16_384
const FIRST_ADDRESS = new RegExp(ADDRESS_PATTERN, 'iu')

/** The first address in a text, lower case; undefined without one. */
export function findAddress(text: string): string | undefined {
  const found = FIRST_ADDRESS.exec(text.slice(0, MAX_FIELD_LENGTH))?.[0]
  return found === undefined ? undefined : cleanAddress(found)
}

/** Lists the distinct addresses in a text, in order, at most `limit`. */
export function listAddresses(text: string, limit: number): string[] {
  const addresses = new Set<string>()
  const list = text.slice(0, MAX_LIST_LENGTH)
  for (const [found] of list.matchAll(new RegExp(ADDRESS_PATTERN, 'giu'))) {
    addresses.add(cleanAddress(found))
    if (addresses.size === limit) break
  }
  return [...addresses]
}

/** Lower-cases an address and removes prefixes such as `rfc822;` and `mailto:`. */
export function cleanAddress(found: string): string {
  return found.toLowerCase().replace(/^(?:rfc822|mailto|smtp|to|rcpt|for|recipient)[=;:]/, '')
}

/**
 * The address in a field such as `Final-Recipient` (RFC 3464 section 2.3, RFC 6533 section 3),
 * without its type such as `rfc822;`. In an address of type utf-8, `\x{…}` is decoded.
 */
export function readTypedAddress(value: string): string | undefined {
  const typed = /^\s*([\w-]{1,40})\s*;(.*)$/s.exec(value)
  const text = (typed?.[2] ?? value).trim()
  const isUtf8 = typed?.[1]?.toLowerCase() === 'utf-8'
  return findAddress(isUtf8 ? unescapeUnicode(text) : text)
}

function unescapeUnicode(text: string): string {
  return text.replace(/\\x\{([0-9a-f]{1,6})\}/gi, (whole, hex: string) => {
    const code = Number.parseInt(hex, 16)
    return code < 0x20 || code > 0x10ffff ? whole : String.fromCodePoint(code)
  })
}
