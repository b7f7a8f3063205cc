/**
 * Finds the Content-Type that fits the body of a part, its boundary, and its parts. Of repeated
 * fields, the field counts whose boundary occurs in the body. A boundary that is missing or does
 * not occur is replaced by the boundary that the body uses. A multipart without parts becomes text.
 */
import type { Mending, OctetEdit } from './mending.ts'
import { findFields, mediaType, type PartField, readPartParameter } from './part-fields.ts'

type OctetRange = { start: number; end: number }

type MendedBody = {
  /** The value that replaces all Content-Type fields; undefined: the fields stay as they are. */
  contentType: string | undefined
  edits: OctetEdit[]
  parts: OctetRange[]
}

type Delimiter = OctetRange & { isLast: boolean; isExact: boolean }

const MAX_BOUNDARY_LENGTH = 200
const MAX_SEARCHED = 65_536
const MAX_PARTS = 400
/** Octets of white space after a boundary, which is padding (RFC 2046 section 5.1.1). */
const MAX_PADDING = 80
const LF = 0x0a

export function mendBody(
  mending: Mending,
  fields: readonly PartField[],
  { isRoot, ...body }: OctetRange & { isRoot: boolean },
): MendedBody {
  const types = findFields(fields, 'content-type')
  const left: MendedBody = { contentType: undefined, edits: [], parts: [] }
  if (types.length === 0) return isRoot ? withoutType(mending, body) : left
  const fitting = types.find(({ value }) => isMultipart(value) && fitsBody(mending, value, body))
  const chosen = fitting ?? types.find(({ value }) => mediaType(value) !== undefined) ?? types[0]
  const value = chosen?.value ?? ''
  if (types.length > 1)
    mending.damage.add('Content-Type: several fields; the one that fits was read.')
  const own = types.length > 1 ? value : undefined
  if (fitting !== undefined) {
    return { ...left, contentType: own, ...listParts(mending, readBoundary(value), body) }
  }
  if (isMultipart(value)) return withOtherBoundary(mending, value, body)
  if (mediaType(value) !== undefined) return { ...left, contentType: own }
  mending.damage.add('Content-Type: no media type; the part was read as it looks.')
  return { ...left, contentType: plainType(fields, value) }
}

/** Mends a message that has lost its Content-Type but still has its parts. */
function withoutType(mending: Mending, body: OctetRange): MendedBody {
  const boundary = guessBoundary(mending, body, LOST_TYPE)
  if (boundary === undefined) return { contentType: undefined, edits: [], parts: [] }
  mending.damage.add('Content-Type: missing; the parts were found in the body.')
  const contentType = multipartOf('multipart/mixed', boundary)
  return { contentType, ...listParts(mending, boundary, body) }
}

function withOtherBoundary(mending: Mending, value: string, body: OctetRange): MendedBody {
  const boundary = guessBoundary(mending, body, OTHER_BOUNDARY)
  if (boundary === undefined) {
    mending.damage.add('Content-Type: a multipart without parts; it was read as text.')
    const isHtml = /^\s*<(?:!doctype|html|head|body)\b/i.test(begin(mending, body))
    const type = isHtml ? 'text/html' : 'text/plain'
    return { contentType: withParameters(type, value), edits: [], parts: [] }
  }
  mending.damage.add('Content-Type: its boundary is not the one that the body uses.')
  const contentType = multipartOf(mediaType(value) ?? 'multipart/mixed', boundary)
  return { contentType, ...listParts(mending, boundary, body) }
}

function multipartOf(type: string, boundary: string): string {
  return `${type}; boundary="${boundary.replace(/["\\]/g, '\\$&')}"`
}

/**
 * Returns the type for a part that declares none: a file if the part has a filename or is an
 * attachment, else text.
 */
function plainType(fields: readonly PartField[], value: string): string {
  const disposition = findFields(fields, 'content-disposition')[0]?.value ?? ''
  const isFile =
    /^\s*attachment/i.test(disposition) ||
    readPartParameter(disposition, 'filename') !== '' ||
    readPartParameter(value, 'name') !== ''
  const name = readPartParameter(value, 'name')
  if (isFile)
    return name === '' ? 'application/octet-stream' : `application/octet-stream; name="${name}"`
  return withParameters(/^\W*html?\b/i.test(value) ? 'text/html' : 'text/plain', value)
}

function withParameters(type: string, value: string): string {
  const charset = readPartParameter(value, 'charset')
  return /^[\w.:-]+$/.test(charset) ? `${type}; charset=${charset}` : type
}

function isMultipart(value: string): boolean {
  return mediaType(value)?.startsWith('multipart/') ?? false
}

function readBoundary(value: string): string {
  return readPartParameter(value, 'boundary').slice(0, MAX_BOUNDARY_LENGTH).trimEnd()
}

function fitsBody({ raw }: Mending, value: string, body: OctetRange): boolean {
  const boundary = readBoundary(value)
  return boundary !== '' && findDelimiter(raw, boundary, body) !== undefined
}

function listParts(
  { raw }: Mending,
  boundary: string,
  body: OctetRange,
): Pick<MendedBody, 'edits' | 'parts'> {
  const edits: OctetEdit[] = []
  const parts: OctetRange[] = []
  let delimiter = findDelimiter(raw, boundary, body)
  while (delimiter !== undefined && parts.length < MAX_PARTS) {
    if (!delimiter.isExact) {
      const octets = Buffer.from(`--${boundary}${delimiter.isLast ? '--' : ''}\r\n`, 'latin1')
      edits.push({ start: delimiter.start, end: delimiter.end, octets })
    }
    if (delimiter.isLast) break
    const next = findDelimiter(raw, boundary, { start: delimiter.end, end: body.end })
    parts.push({ start: delimiter.end, end: next?.start ?? body.end })
    delimiter = next
  }
  return { edits, parts }
}

/** Finds the next delimiter line. */
function findDelimiter(
  raw: Buffer,
  boundary: string,
  { start, end }: OctetRange,
): Delimiter | undefined {
  const dashed = Buffer.from(`--${boundary}`, 'latin1')
  // Without this bound, each part would cost a search through the rest of the message.
  const within = raw.subarray(0, end)
  for (let at = within.indexOf(dashed, start); at !== -1; at = within.indexOf(dashed, at + 1)) {
    if (at > start && raw[at - 1] !== LF) continue
    const after = at + dashed.length
    const tail = raw.toString('latin1', after, Math.min(end, after + MAX_PADDING))
    const shape = /^(--)?([ \t]*)(\r?\n|$)/.exec(tail)
    if (shape === null) continue
    const [whole, last, padding] = shape
    return {
      start: at,
      end: after + whole.length,
      isLast: last !== undefined,
      isExact: padding === '',
    }
  }
  return undefined
}

/** The line after a delimiter line begins a header section or is empty. */
const OTHER_BOUNDARY = /^(?:content-[\w-]+[ \t]*:|$)/i
const LOST_TYPE = /^content-type[ \t]*:/i

/** The first line that looks like a delimiter and is followed by a line that matches `next`. */
function guessBoundary(mending: Mending, body: OctetRange, next: RegExp): string | undefined {
  const lines = begin(mending, body).split(/\r?\n/)
  const index = lines.findIndex((line, at) => {
    return /^--\S/.test(line) && next.test(lines[at + 1] ?? 'x')
  })
  const boundary = lines[index]?.slice(2).trimEnd().replace(/--$/, '') ?? ''
  return boundary === '' || boundary.length > MAX_BOUNDARY_LENGTH ? undefined : boundary
}

function begin({ raw }: Mending, { start, end }: OctetRange): string {
  return raw.toString('latin1', start, Math.min(end, start + MAX_SEARCHED))
}
