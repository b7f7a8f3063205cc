/**
 * Reads the parts of a message in one pass. Octets, depth and the number of parts are bounded, so
 * that no sender can make the reading expensive. Tolerates the errors of mail systems (missing or
 * unclosed boundaries, no header section, mbox lines). A part is listed before its own parts.
 */
import { htmlToText } from '../html/html-to-text.ts'
import { decodeCharset, decodeTransfer } from './decode-text.ts'
import { type Field, findField, isFieldLine, readFields } from './fields.ts'
import { mapSlices } from './slices.ts'

export type Entity = {
  fields: Field[]
  /** The media type in lower case; `text/plain` by default. */
  type: string
  /** The whole Content-Type field, from which parameters are read. */
  contentType: string
  /** The undecoded body, one character per octet. */
  body: string
  /**
   * The number of messages around the part: 0 in the message itself, 1 in a message that it
   * contains.
   */
  level: number
}

/**
 * Octets of a message that are read. A report begins with its relevant parts, so the rest is not
 * needed.
 */
export const MAX_REPORT_OCTETS = 8_388_608
const MAX_DEPTH = 12
const MAX_PARTS = 200
const MAX_BOUNDARY_LENGTH = 200
const MAX_TEXT_LENGTH = 200_000

const MEDIA_TYPE = /^[ \t"]*([\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100})/

/** All parts of a message; the first is the message itself. */
export function readEntities(message: Buffer): Entity[] {
  const raw = withLf(message.toString('latin1', 0, MAX_REPORT_OCTETS))
  const entities: Entity[] = []
  collectEntities(entities, { source: raw.replace(/^\s*\n/, ''), depth: 0, level: 0, parent: '' })
  return entities
}

/** Replaces CR and CRLF by LF. */
export function withLf(text: string): string {
  return mapSlices(text, (slice) => slice.replace(/\r\n?/g, '\n'))
}

/** A parameter of the Content-Type; '' if it is absent. */
function readParameter({ contentType }: Entity, name: string): string {
  const found = new RegExp(
    `[;\\s]${name}\\*?\\s{0,9}=\\s{0,9}(?:"([^"]{0,400})"|([^\\s";]{0,400}))`,
    'i',
  )
  const match = found.exec(contentType)
  return match?.[1] ?? match?.[2] ?? ''
}

/** The text of a part, cut if it is long; HTML is converted to plain text. */
export function readText(entity: Entity): string {
  const octets = decodeTransfer(
    entity.body,
    findField(entity.fields, 'content-transfer-encoding') ?? '',
  )
  const text = decodeCharset(octets.slice(0, MAX_TEXT_LENGTH), readParameter(entity, 'charset'))
  return entity.type === 'text/html' ? htmlToText(text) : text
}

type EntitySource = { source: string; depth: number; level: number; parent: string }

function collectEntities(entities: Entity[], { source, depth, level, parent }: EntitySource): void {
  if (entities.length >= MAX_PARTS || depth > MAX_DEPTH) return
  const entity = { ...readEntity(source, parent), level }
  entities.push(entity)
  const inner = { depth: depth + 1, parent: entity.type }
  if (entity.type.startsWith('multipart/') || isUnmarkedMultipart(entity, depth)) {
    const count = entities.length
    for (const part of listParts(entity))
      collectEntities(entities, { ...inner, source: part, level })
    if (entities.length === count) entity.type = 'text/plain'
  } else if (isMessage(entity.type)) {
    const encoding = findField(entity.fields, 'content-transfer-encoding') ?? ''
    const isEncoded = /base64|quoted-printable/i.test(encoding)
    const body = isEncoded ? decodeTransfer(entity.body, encoding) : entity.body
    const message = mapSlices(body, (text) => text.replaceAll('\r\n', '\n'))
    const source = message.replace(/^\s{0,9}\n/, '')
    collectEntities(entities, { ...inner, source, level: level + 1 })
  }
}

/** Whether a message has parts but no Content-Type, for example after its header was cut. */
function isUnmarkedMultipart({ contentType, body }: Entity, depth: number): boolean {
  return (
    depth === 0 && contentType === '' && /^content-type: ?message\//im.test(body.slice(0, 65_536))
  )
}

/**
 * Whether the type is that of a message: RFC 2046 section 5.2.1, RFC 6532, and types of old
 * systems.
 */
function isMessage(type: string): boolean {
  return /^message\/(?:rfc822|global|news|partial|x-rfc822)$/.test(type)
}

function readEntity(source: string, parent: string): Omit<Entity, 'level'> {
  const { header, body } = splitHeader(source)
  const fields = readFields(header)
  const contentType = findField(fields, 'content-type') ?? ''
  const type = MEDIA_TYPE.exec(contentType)?.[1]?.toLowerCase()
  const assumed = parent === 'multipart/digest' ? 'message/rfc822' : 'text/plain'
  return { fields, type: type ?? assumed, contentType, body }
}

function splitHeader(source: string): { header: string; body: string } {
  if (source.startsWith('\n')) return { header: '', body: source.slice(1) }
  const firstEnd = source.indexOf('\n')
  const first = firstEnd === -1 ? source : source.slice(0, firstEnd)
  if (!isFieldLine(first) && !/^>?From /.test(first)) return { header: '', body: source }
  const end = source.indexOf('\n\n')
  if (end === -1) return { header: source, body: '' }
  return { header: source.slice(0, end), body: source.slice(end + 2) }
}

function* listParts(entity: Entity): Generator<string> {
  const declared = readParameter(entity, 'boundary').slice(0, MAX_BOUNDARY_LENGTH).trimEnd()
  const first = declared === '' ? undefined : findDelimiter(entity.body, declared, 0)
  const boundary = first === undefined ? guessBoundary(entity.body) : declared
  if (boundary === undefined) return
  let delimiter = first ?? findDelimiter(entity.body, boundary, 0)
  while (delimiter !== undefined && !delimiter.isLast) {
    const next = findDelimiter(entity.body, boundary, delimiter.end)
    yield entity.body.slice(delimiter.end, next?.start)
    delimiter = next
  }
}

type Delimiter = { start: number; end: number; isLast: boolean }

/**
 * Finds the next delimiter line (RFC 2046 section 5.1.1); blanks before the dashes are allowed.
 * `start`: the offset of the line; `end`: the offset after it.
 */
function findDelimiter(body: string, boundary: string, from: number): Delimiter | undefined {
  const dashed = `--${boundary}`
  for (let at = body.indexOf(dashed, from); at !== -1; at = body.indexOf(dashed, at + 2)) {
    let start = at
    while (start > from && at - start < 8 && isBlank(body, start - 1)) start -= 1
    if (start > 0 && body[start - 1] !== '\n') continue
    const newline = body.indexOf('\n', at)
    const end = newline === -1 ? body.length : newline + 1
    const rest = body.slice(at + dashed.length, Math.min(end, at + dashed.length + 80)).trim()
    if (rest === '' || rest === '--') return { start, end, isLast: rest === '--' }
  }
  return undefined
}

function isBlank(body: string, at: number): boolean {
  return body[at] === ' ' || body[at] === '\t'
}

/**
 * Guesses a boundary that is missing or occurs nowhere: from the first line that could be a
 * delimiter.
 */
function guessBoundary(body: string): string | undefined {
  const guess = /^--([^\s-][^\n]{0,199}|-{1,60}[^\s-][^\n]{0,130})$/m.exec(body.slice(0, 65_536))
  return guess?.[1]?.trimEnd().replace(/--$/, '')
}
