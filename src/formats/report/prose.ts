/**
 * The prose of a report. `readNotice` separates the prose from the part of the returned message that
 * follows in the same text: by MIME parts, by a separator line, or by the beginning of a header
 * section. `readProse` finds the recipients that a mail system mentions in a bounce, and the text
 * about each. A recipient opens a block of lines; the lines before the first block apply to all
 * recipients.
 */
import { type Entity, readText } from '../parse/entity.ts'
import { ADDRESS_PATTERN, cleanAddress } from '../parse/find-address.ts'
import { MAX_READ_RECIPIENTS } from './reported-recipient.ts'

type Notice = {
  /** The prose of all text parts, without the message that they return. */
  text: string
  /** The returned message within a text part; '' if there is none. */
  returned: string
}

const MAX_NOTICE_LENGTH = 60_000
const MAX_TEXTS = 12

const SEPARATORS = [
  /^[ \t>*|]{0,9}[-=_*~]{2,}(?![-=_*~]).{0,40}(?:(?:original|returned|unsent|undelivered|failed|rejected) (?:message|mail|e-?mail)|copy of (?:the|your)|message (?:header|follows|text follows|text:)|header of|below this line|message de retour|message d'origine|mensagem original|mensaje original|originalnachricht|исходное)/i,
  /^[ \t>]{0,9}(?:(?:the |your )?(?:original|returned|undelivered|unsent) (?:message|mail|e-?mail)(?: text| content)?(?: headers?)?(?: follows?| is (?:below|attached|included))?[ .:]{0,5}$|message headers?(?: and body)? follows?|(?:included|below|enclosed|attached|here) is (?:a|the) copy|a copy of (?:the|your) (?:original )?(?:message|headers?)|.{0,20}header of the (?:original )?message)[^\n]{0,60}$/i,
]

/** Fields that occur only in a real header section, and not in prose. */
const TRACE_FIELD = /^(?:received|message-id|return-path|mime-version|dkim-signature|x-mailer)$/
const COMMON_FIELD = /^(?:from|to|date|subject|cc|content-type|reply-to|sender)$/

export type Block = {
  recipient: string
  /** The lines from the mention of this recipient to the next mention. */
  text: string
}

export type Prose = { preamble: string; blocks: Block[] }

const MAX_MENTIONS = 200
const MAX_LINES = 1_200
const MAX_LINE_LENGTH = 1_000

/** Patterns of lines that mention a recipient, the most reliable first; group 1 is the address. */
const OPENINGS = listOpenings()
/** The pattern of `550 <addr>... text`, where the other server's reply stands above the mention. */
const TRANSCRIPT_OPENING = OPENINGS[1]

const SYSTEM_MAILBOX =
  /^(?:poo?stmaster|mailer-?daemon|mail-?daemon|abuse|hostmaster|support|help(?:desk)?|webmaster|no-?reply|.{1,64}-(?:help|ctl|admin|owner|request))@/

/** Reads the prose of a report. HTML is read only if the report has no plain text. */
export function readNotice(entities: readonly Entity[]): Notice {
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

/**
 * Whether a text part is a returned message whose header section a system has put into that of the
 * part.
 */
export function isReturnedPart(entity: Entity, entities: readonly Entity[]): boolean {
  if (entity === entities[0] || entity.type !== 'text/plain') return false
  const names = new Set(entity.fields.map(({ name }) => name))
  return names.has('received') || (names.has('message-id') && names.has('from'))
}

function splitNotice(text: string): Notice {
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

/** The index of the line at which the returned message begins; -1 if no message is returned. */
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

/**
 * Finds the recipients in the prose. `known`: recipients that other parts of the report name;
 * `sender`: the sender of the returned mail, who is no recipient.
 */
export function readProse(
  notice: string,
  { known, sender }: { known: readonly string[]; sender: string | undefined },
): Prose {
  const lines = notice.split('\n', MAX_LINES).map((line) => line.slice(0, MAX_LINE_LENGTH))
  if (known.length > 0) return cutBlocks(lines, findKnown(lines, new Set(known)))
  for (const opening of OPENINGS) {
    const mentions = findOpenings(lines, opening).filter(({ recipient }) => recipient !== sender)
    const others = mentions.filter(({ recipient }) => !SYSTEM_MAILBOX.test(recipient))
    const best = others.length > 0 ? others : mentions
    if (best.length === 0) continue
    const isBelow = opening === TRANSCRIPT_OPENING || standsBelow(lines, best)
    return isBelow ? cutBefore(lines, best) : cutBlocks(lines, best)
  }
  return { preamble: notice, blocks: [] }
}

type Mention = { line: number; recipient: string }

function listOpenings(): RegExp[] {
  const address = `<?\\s?"?'?(?<![\\w.+-])(${ADDRESS_PATTERN})'?"?\\s?>?`
  const end = '(?=\\s*$|[\\s:;,.(\\[<>])'
  const label =
    '(?:final[- ]recipient|original[- ]recipient|(?:failed |invalid )?recipients?(?: e?-?mail)?(?: address(?:es)?)?|addressed to|rcpt to|e-?mail address|address(?:es)?|invalid final delivery userid|unknown user|user|mailbox|destinataire|empf.nger|destinatario|получатель|宛先|收件人)'
  return [
    new RegExp(
      `^[\\s>]{0,20}[*•·|-]{0,2}\\s{0,5}(?:[\\w.+-]{1,64}:\\d{1,9}:)?${address}${end}(?!\\s*(?:wrote|schrieb))`,
      'iu',
    ),
    new RegExp(
      `^\\s{0,20}[245]\\d\\d[ -](?:[245]\\.\\d{1,3}\\.\\d{1,3} )?${address}\\s?\\.\\.\\.`,
      'iu',
    ),
    new RegExp(
      `^\\s{0,20}[*•-]?\\s?${label}\\s{0,5}[:=]\\s{0,5}(?:rfc822;\\s?)?${address}${end}`,
      'iu',
    ),
    new RegExp(
      `\\b(?:deliver\\w{0,5}|deliver your m\\w{3,6}|message|mail|relayed|sent|send|returned?|addressed|reach\\w{0,3}|list|group|mailbox|address|user|account|recipients?|rcpt|für|an|à|para|destinatario)\\b(?: failed)?(?: to| for| named| list| group| address| recipient| the address| following)?\\s?:?\\s{0,3}${address}${end}`,
      'iu',
    ),
    new RegExp(`>>> ?rcpt to:\\s?${address}`, 'iu'),
    new RegExp(
      `^\\s{0,20}(?:to|an|à|para|кому)\\s{0,5}:\\s{0,9}(?:"?[^<>\\n"]{0,80}"?\\s)?${address}`,
      'iu',
    ),
    new RegExp(address, 'iu'),
  ]
}

function findOpenings(lines: readonly string[], opening: RegExp): Mention[] {
  const mentions: Mention[] = []
  for (const [line, text] of lines.entries()) {
    if (!text.includes('@')) continue
    const found = opening.exec(text)?.[1]
    if (found === undefined || isForHelp(lines, line, found)) continue
    mentions.push({ line, recipient: cleanAddress(found) })
    if (mentions.length === MAX_MENTIONS) break
  }
  return mentions
}

const HELP =
  /\b(?:for (?:further |more |additional |any )?(?:assistance|help|information|questions|details)|contact(?:e[rz])?|contactar|kontakt\w{0,10}|questions|problem report|(?:send|forward|report|write|mail|e-?mail)(?: an?| this| your| the)?(?: e-?mail| mail| message| report| problem| error)? to|write(?: us)? (?:at|to)|support(?: team)?(?: at|:)?|help ?desk(?: at|:)?|get in touch with)\b[^@]{0,60}$/i

/** Matches a request to contact the address, in the same sentence on the lines above it. */
const HELP_ABOVE =
  /\b(?:assistance|help|contact(?:e[rz])?|kontakt\w{0,10}|questions|problem report|write(?: us)? (?:at|to)|get in touch)\b[^.!?@]{0,120}$|\b(?:send|forward)\b[^.!?@]{0,40} to:?\s{0,9}$/i

/**
 * Whether an address is a contact for help, by the words before it on its line or on the lines
 * above.
 */
function isForHelp(lines: readonly string[], line: number, found: string): boolean {
  const text = lines[line] ?? ''
  const before = text.slice(0, text.indexOf(found))
  if (/\p{L}{2}/u.test(before)) return HELP.test(before)
  const above = lines.slice(Math.max(0, line - 4), line).filter((one) => one.trim() !== '')
  return HELP_ABOVE.test(above.slice(-2).join(' '))
}

/**
 * Whether each refusal stands above its `RCPT TO:<addr>`, because no refusal follows the last
 * recipient.
 */
function standsBelow(lines: readonly string[], mentions: readonly Mention[]): boolean {
  const first = mentions[0]?.line ?? 0
  const last = mentions.at(-1)?.line ?? 0
  if (!/^\s{0,20}rcpt to\b/i.test(lines[first] ?? '')) return false
  const isRefusal = (text: string) => /^\s{0,20}[45]\d\d[ -]/.test(text)
  return lines.slice(0, first).some(isRefusal) && !lines.slice(last).some(isRefusal)
}

/**
 * Finds where the prose mentions known recipients: at the beginning of a line if possible, else
 * anywhere.
 */
function findKnown(lines: readonly string[], known: ReadonlySet<string>): Mention[] {
  const [atBegin] = OPENINGS
  const mentions = atBegin === undefined ? [] : findOpenings(lines, atBegin)
  const listed = mentions.filter(({ recipient }) => known.has(recipient))
  const rest = [...known].filter(
    (recipient) => !listed.some((mention) => mention.recipient === recipient),
  )
  const others = rest.map((recipient) => {
    const line = lines.findIndex((text) => text.toLowerCase().includes(recipient))
    return { line: line === -1 ? lines.length : line, recipient }
  })
  return [...listed, ...others]
}

function cutBlocks(lines: readonly string[], mentions: readonly Mention[]): Prose {
  const sorted = mentions.toSorted((a, b) => a.line - b.line)
  const ordered = sorted.filter((mention, at) => mention.recipient !== sorted[at - 1]?.recipient)
  const blocks = new Map<string, Block>()
  for (const [index, { line, recipient }] of ordered.entries()) {
    const end = ordered.slice(index + 1).find((next) => next.line > line)?.line
    const text = lines.slice(line, end).join('\n')
    if (!blocks.has(recipient)) blocks.set(recipient, { recipient, text })
    if (blocks.size === MAX_READ_RECIPIENTS) break
  }
  return { preamble: lines.slice(0, ordered[0]?.line).join('\n'), blocks: [...blocks.values()] }
}

/** Cuts the prose into blocks that end with the line of their recipient. */
function cutBefore(lines: readonly string[], mentions: readonly Mention[]): Prose {
  const blocks = new Map<string, Block>()
  let start = 0
  for (const { line, recipient } of mentions) {
    const text = lines.slice(start, line + 1).join('\n')
    if (!blocks.has(recipient)) blocks.set(recipient, { recipient, text })
    if (blocks.size === MAX_READ_RECIPIENTS) break
    start = line + 1
  }
  return { preamble: '', blocks: [...blocks.values()] }
}
