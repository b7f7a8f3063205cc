import { hash } from 'node:crypto'
import { MAX_LINE_OCTETS, MAX_WRITTEN_ID_LENGTH } from '../limits.ts'
import { encodeBase64Lines } from './base64-lines.ts'
import { assertOneLine } from './header-field.ts'
import {
  formatFilename,
  formatLegacyName,
  formatParameter,
  formatParameterField,
  parseContentType,
} from './parameters.ts'
import { type EncodedText, encodeText } from './text-body.ts'

/** A MIME entity (RFC 2045): its Content-* fields, each with its CRLF, and its encoded body. */
export type MimePart = { fields: string; body: string }

/**
 * `alternative`: the file is another form of the text (RFC 2046 section 5.1.4), such as a calendar.
 */
export type Disposition = 'attachment' | 'inline' | 'alternative'

type AttachmentFacts = {
  filename: string
  contentType: string
  contentId: string | null
  disposition: Disposition
}

/**
 * `sealed`: the content is the whole body of a signed or encrypted message, and `fields` are its
 * Content-* fields; both are sent as they are.
 */
export type Attachment = AttachmentFacts & {
  content: Uint8Array
  sealed?: { fields: string; files: readonly AttachmentFacts[] }
}

/**
 * Returns a new boundary at each call; no boundary of a message is a prefix of another boundary.
 */
export type NextBoundary = () => string

/** The body of a signed or encrypted message, unchanged. */
export function sealedPart({ content }: Attachment, { fields }: { fields: string }): MimePart {
  return { fields, body: Buffer.from(content).toString('latin1') }
}

export function boundariesOf(messageId: string): NextBoundary {
  const seed = hash('sha256', messageId, 'hex').slice(0, 32)
  let count = 0
  return () => `=_${String(count++)}_${seed}`
}

export function textPart(subtype: 'plain' | 'html', text: string | EncodedText): MimePart {
  const { transferEncoding, body } = typeof text === 'string' ? encodeText(text) : text
  const fields =
    `Content-Type: text/${subtype}; charset=utf-8\r\n` +
    `Content-Transfer-Encoding: ${transferEncoding}\r\n`
  return { fields, body }
}

/** Multipart (RFC 2046 section 5.1). `related` names the type of its root part (RFC 2387). */
export function multipart(
  subtype: 'alternative' | 'related' | 'mixed',
  parts: readonly MimePart[],
  boundary: string,
): MimePart {
  const root = subtype === 'related' ? ['type="text/html"'] : []
  const fields = formatParameterField('Content-Type', `multipart/${subtype}`, [
    ...root,
    `boundary="${boundary}"`,
  ])
  let body = ''
  for (const part of parts) body += `--${boundary}\r\n${part.fields}\r\n${part.body}\r\n`
  return { fields, body: `${body}--${boundary}--\r\n` }
}

/**
 * A file in base64; an alternative has no Content-Disposition. RFC 2046 section 5 forbids base64
 * for message/* and multipart/*: a message in 7-bit lines is sent as it is. Other files of these
 * types, and files of an invalid type, are sent as application/octet-stream.
 * @throws TypeError if a text contains CR, LF or NUL, or the content id is invalid
 */
export function attachmentPart(attachment: Attachment): MimePart {
  const { filename, contentId, disposition } = attachment
  assertOneLine('attachment filename', filename)
  assertOneLine('attachment content type', attachment.contentType)
  const name = filename === '' ? [] : [formatLegacyName(filename)]
  const message = plainMessage(attachment)
  const { type, parameters } =
    message === undefined
      ? carriedType(attachment.contentType)
      : { type: 'message/rfc822', parameters: [] }
  const named = filename === '' ? [] : formatFilename(filename)
  const fields =
    formatParameterField('Content-Type', type, [...parameters, ...name]) +
    `Content-Transfer-Encoding: ${message === undefined ? 'base64' : '7bit'}\r\n` +
    (contentId === null ? '' : contentIdField(contentId)) +
    (disposition === 'alternative'
      ? ''
      : formatParameterField('Content-Disposition', disposition, named))
  return { fields, body: message ?? encodeBase64Lines(attachment.content) }
}

/**
 * The octets of an attached message that can be sent without an encoding; undefined for all other
 * files.
 */
function plainMessage({ content, contentType }: Attachment): string | undefined {
  if (parseContentType(contentType)?.type !== 'message/rfc822') return undefined
  const octets = Buffer.from(content).toString('latin1')
  const isPlain = !/[^\t\r\n -~]|\r(?!\n)|(?<!\r)\n|--=_/.test(octets)
  if (!isPlain || octets.split('\r\n').some(({ length }) => length > MAX_LINE_OCTETS))
    return undefined
  return octets
}

function carriedType(contentType: string): { type: string; parameters: string[] } {
  const parsed = parseContentType(contentType)
  if (parsed === undefined || /^(?:message|multipart)\//.test(parsed.type)) {
    return { type: 'application/octet-stream', parameters: [] }
  }
  const kept = [...parsed.parameters].filter(([name]) => name !== 'name')
  return {
    type: parsed.type,
    parameters: kept.flatMap(([name, value]) => formatParameter(name, value)),
  }
}

/** Characters outside ASCII are percent-encoded, as in the cid: URL of the part (RFC 2392). */
function contentIdField(contentId: string): string {
  assertOneLine('attachment content id', contentId)
  if (/[<>]/.test(contentId)) throw new TypeError('attachment content id must not contain < or >')
  const safe = contentId.toWellFormed().replace(/[^\x20-\x7e]+/g, (run) => encodeURIComponent(run))
  if (safe.length > MAX_WRITTEN_ID_LENGTH) throw new TypeError('attachment content id is too long')
  return `Content-ID: <${safe}>\r\n`
}
