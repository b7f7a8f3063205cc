/**
 * Reads the preferences of a request (RFC 7240): names in any case, values as tokens or quoted
 * strings. If a name is repeated, the first one counts (section 2). Members that are no preference
 * are skipped. A quoted string without an end stops the reading.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** Whether the client wants unknown names refused (RFC 7240, section 4.4). */
export function wantsStrict({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers.prefer !== undefined && findPreference(headers, 'handling') === 'strict'
}

/**
 * Returns the value of a preference in lower case, because the values that RFC 7240 defines may be
 * in any case; '' for a preference without a value. `name`: in lower case.
 */
function findPreference(headers: IncomingHttpHeaders, name: string): string | undefined {
  const text = [headers.prefer ?? []].flat().join(',')
  for (const member of membersOf(text)) {
    const equals = member.indexOf('=')
    const given = equals === -1 ? member : member.slice(0, equals)
    if (given.trim().toLowerCase() !== name) continue
    const value = equals === -1 ? '' : readWord(member.slice(equals + 1).trim())
    if (value !== undefined) return value.toLowerCase()
  }
  return undefined
}

/** The members of the list without their parameters. */
function membersOf(text: string): string[] {
  const members: string[] = []
  let member = ''
  let isQuoted = false
  let isParameter = false
  for (let at = 0; at < text.length; at += 1) {
    let character = text.charAt(at)
    if (character === '"') isQuoted = !isQuoted
    if (isQuoted && character === '\\') character += text.charAt(++at)
    if (character === ',' && !isQuoted) {
      members.push(member)
      member = ''
      isParameter = false
      continue
    }
    if (character === ';' && !isQuoted) isParameter = true
    if (!isParameter) member += character
  }
  return isQuoted ? members : [...members, member]
}

/** A token or a quoted string. */
function readWord(word: string): string | undefined {
  if (TOKEN.test(word)) return word
  const isQuoted = word.length > 1 && word.startsWith('"') && word.endsWith('"')
  return isQuoted ? word.slice(1, -1).replace(/\\(.)/g, '$1') : undefined
}
