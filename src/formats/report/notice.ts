/**
 * The prose of a report, and the part of the returned message that follows it in the same text. They
 * are separated by MIME parts, by a separator line, or by the beginning of a header section.
 */
import { type Entity, readText } from '../parse/entity.ts'

type ReportNotice = {
  /** The prose of every text part, without the returned message. */
  text: string
  /** The returned message within the text; '' without one. */
  returned: string
}

const MAX_NOTICE_LENGTH = 60_000
const MAX_TEXTS = 12

const SEPARATORS = [
  /^[ \t>*|]{0,9}[-=_*~]{2,}(?![-=_*~]).{0,40}(?:(?:original|returned|unsent|undelivered|failed|rejected) (?:message|mail|e-?mail)|copy of (?:the|your)|message (?:header|follows|text follows|text:)|header of|below this line|message de retour|message d'origine|mensagem original|mensaje original|originalnachricht|исходное)/i,
  /^[ \t>]{0,9}(?:(?:the |your )?(?:original|returned|undelivered|unsent) (?:message|mail|e-?mail)(?: text| content)?(?: headers?)?(?: follows?| is (?:below|attached|included))?[ .:]{0,5}$|message headers?(?: and body)? follows?|(?:included|below|enclosed|attached|here) is (?:a|the) copy|a copy of (?:the|your) (?:original )?(?:message|headers?)|.{0,20}header of the (?:original )?message)[^\n]{0,60}$/i,
]

/** Fields that occur only in a real header section. */
const TRACE_FIELD = /^(?:received|message-id|return-path|mime-version|dkim-signature|x-mailer)$/
const COMMON_FIELD = /^(?:from|to|date|subject|cc|content-type|reply-to|sender)$/

/** Reads the prose of a report. HTML counts only if there is no plain text. */
export function readNotice(entities: readonly Entity[]): ReportNotice {
  const own = entities.filter((entity) => entity.level === 0 && !isReturnedPart(entity, entities))
  const plain = readTexts(own, 'text/plain')
  const texts = plain.some((text) => text.trim() !== '') ? plain : readTexts(own, 'text/html')
  const notices = texts.map(splitNotice)
  return {
    text: notices
      .map(({ text }) => text)
      .join('\n\n')
      .slice(0, MAX_NOTICE_LENGTH),
    returned: notices.find(({ returned }) => returned !== '')?.returned ?? '',
  }
}

/** Whether a text part is a returned message whose header section some systems put in the part's. */
export function isReturnedPart(entity: Entity, entities: readonly Entity[]): boolean {
  if (entity === entities[0] || entity.type !== 'text/plain') return false
  const names = new Set(entity.fields.map(({ name }) => name))
  return names.has('received') || (names.has('message-id') && names.has('from'))
}

function splitNotice(text: string): ReportNotice {
  const lines = text.split('\n')
  const at = findReturned(lines)
  if (at === -1) return { text, returned: '' }
  return { text: lines.slice(0, at).join('\n'), returned: lines.slice(at).join('\n') }
}

function readTexts(entities: readonly Entity[], type: string): string[] {
  return entities
    .filter((entity) => entity.type === type || (type === 'text/plain' && isOtherText(entity.type)))
    .slice(0, MAX_TEXTS)
    .map(readText)
}

function isOtherText(type: string): boolean {
  return type === 'text/enriched' || type === 'text/report'
}

/** The index of the line at which the returned message begins; -1 without one. */
function findReturned(lines: readonly string[]): number {
  let names: string[] = []
  for (const [index, line] of lines.entries()) {
    if (SEPARATORS.some((pattern) => pattern.test(line.slice(0, 200)))) return index
    if (/^[ \t]/.test(line) && names.length > 0) continue
    const name = /^([\w-]{2,60}):/.exec(line)?.[1]?.toLowerCase()
    names = name === undefined ? [] : [...names.slice(-20), name]
    if (isHeaderSection(names)) return index - names.length + 1
  }
  return -1
}

function isHeaderSection(names: readonly string[]): boolean {
  const own = names.filter((name) => TRACE_FIELD.test(name)).length
  return own > 0 && own + names.filter((name) => COMMON_FIELD.test(name)).length >= 3
}
