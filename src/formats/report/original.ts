/** Reads the original message in a report: the fields that identify it, and its signed tokens. */

import { MAX_LINE_OCTETS } from '../limits.ts'
import { decodeHeader } from '../parse/decode-text.ts'
import { type Entity, readText } from '../parse/entity.ts'
import { type Field, findField, listFields, readFields } from '../parse/fields.ts'
import { listAddresses } from '../parse/find-address.ts'
import { isReturnedPart } from './prose.ts'

export type Original = {
  messageId: string | null
  subject: string | null
  /** The addresses in the original's To field. */
  recipients: string[]
  tokens: string[]
}

const MAX_TOKENS = 20
const MAX_ORIGINAL_RECIPIENTS = 20

/**
 * Matches the local parts of `signed-tokens.ts`: a letter, a dot, and a signed payload in base32.
 */
const TOKEN_LOCAL_PART = /(?<![\w.+-])[bu]\.(?:[a-z2-7]{58}|[a-z2-7]{42})(?=@|%40)/gi
const BARE_TOKEN = /^(?:[a-z2-7]{58}|[a-z2-7]{42})$/i

/**
 * `returned`: the message that a text part contains; `reports`: the fields of the report itself
 * (delivery status, feedback), which also name the return path. Tokens in the report's header
 * section do not count, because the report's author chose them.
 */
export function readOriginal(
  entities: readonly Entity[],
  { returned, reports }: { returned: string; reports: readonly Field[][] },
): Original {
  const sections = [...listSections(entities), readFields(skipProse(returned))]
  const original = sections.find(isMessageHeader) ?? []
  const subject = findField(original, 'subject')
  return {
    messageId: findField(original, 'message-id')?.slice(0, MAX_LINE_OCTETS) ?? null,
    subject: subject === undefined ? null : decodeHeader(subject).slice(0, MAX_LINE_OCTETS),
    recipients: listAddresses(listFields(original, 'to').join(', '), MAX_ORIGINAL_RECIPIENTS),
    tokens: listTokens([...sections, ...reports]),
  }
}

function listSections(entities: readonly Entity[]): Field[][] {
  return entities.flatMap((entity) => {
    if (entity.level > 0 || isReturnedPart(entity, entities)) return [entity.fields]
    const isHeaders = /^(?:text\/rfc822-headers|message\/(?:rfc822-headers|global-headers))$/
    return isHeaders.test(entity.type) ? [readFields(readText(entity).replace(/^\s*\n/, ''))] : []
  })
}

/** Returns the header section that follows the line which announces the message. */
function skipProse(returned: string): string {
  const start = /^[\w-]{2,60}:/m.exec(returned)
  return start === null ? '' : (returned.slice(start.index).split(/\n[ \t]*\n/, 1)[0] ?? '')
}

function isMessageHeader(fields: readonly Field[]): boolean {
  return fields.some(({ name }) => name === 'message-id' || name === 'subject' || name === 'from')
}

function listTokens(sections: readonly (readonly Field[])[]): string[] {
  const tokens = new Set<string>()
  for (const { name, value } of sections.flat()) {
    const found = name === 'x-pillarbox-id' ? [value.trim()] : value.match(TOKEN_LOCAL_PART)
    for (const token of found ?? []) {
      if (name === 'x-pillarbox-id' && !BARE_TOKEN.test(token)) continue
      tokens.add(token.toLowerCase())
      if (tokens.size === MAX_TOKENS) return [...tokens]
    }
  }
  return [...tokens]
}
