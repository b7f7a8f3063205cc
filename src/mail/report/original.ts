/** The message that came back: who it says it is, and the marks of ours that it carries. */

import { MAX_LINE_OCTETS } from '../limits.ts'
import { decodeHeader } from '../parse/decode-text.ts'
import { type Entity, readText } from '../parse/entity.ts'
import { type Field, findField, listFields, readFields } from '../parse/fields.ts'
import { listAddresses } from '../parse/find-address.ts'
import { isReturnedPart } from './notice.ts'

export type Original = {
  messageId: string | null
  subject: string | null
  /** Of its To field. */
  recipients: string[]
  tokens: string[]
}

const MAX_TOKENS = 20
const MAX_RECIPIENTS = 20

/** A local part of ours: its letter and 26 octets in base32 (`mail/signed-tokens.ts`). */
const TOKEN_LOCAL_PART = /(?<![\w.+-])[bu]\.[a-z2-7]{42}(?=@|%40)/gi
const BARE_TOKEN = /^[a-z2-7]{42}$/i

/**
 * `returned` is what came back inside a text, `reports` are the report's own fields (delivery
 * status, feedback), which also name the return path. The report's header section is not looked
 * at: whoever wrote it chose what stands there.
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
    recipients: listAddresses(listFields(original, 'to').join(', '), MAX_RECIPIENTS),
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

/** Past the line that announces the message, and the empty one behind it. */
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
