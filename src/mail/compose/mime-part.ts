import { hash } from 'node:crypto'
import { MAX_WRITTEN_ID_LENGTH } from '../limits.ts'
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
export type Part = { fields: string; body: string }

export type Attachment = {
  filename: string
  contentType: string
  content: Uint8Array
  contentId: string | null
  disposition: 'attachment' | 'inline'
}

/** Returns a new boundary each time; no boundary of a message is a prefix of another. */
export type NextBoundary = () => string

export function boundariesOf(messageId: string): NextBoundary {
  const seed = hash('sha256', messageId, 'hex').slice(0, 32)
  let count = 0
  return () => `=_${String(count++)}_${seed}`
}

export function textPart(subtype: 'plain' | 'html', text: string | EncodedText): Part {
  const { transferEncoding, body } = typeof text === 'string' ? encodeText(text) : text
  const fields =
    `Content-Type: text/${subtype}; charset=utf-8\r\n` +
    `Content-Transfer-Encoding: ${transferEncoding}\r\n`
  return { fields, body }
}

/** Multipart (RFC 2046 section 5.1). `related` names the type of its root part (RFC 2387). */
export function multipart(
  subtype: 'alternative' | 'related' | 'mixed',
  parts: readonly Part[],
  boundary: string,
): Part {
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
 * A file in base64. An invalid type, or one for which RFC 2046 section 5 forbids base64 (message/*,
 * multipart/*), is sent as application/octet-stream.
 * @throws TypeError if a text contains CR, LF or NUL, or the content id is invalid
 */
export function attachmentPart(attachment: Attachment): Part {
  const { filename, contentId, disposition } = attachment
  assertOneLine('attachment filename', filename)
  assertOneLine('attachment content type', attachment.contentType)
  const name = filename === '' ? [] : [formatLegacyName(filename)]
  const { type, parameters } = carriedType(attachment.contentType)
  const fields =
    formatParameterField('Content-Type', type, [...parameters, ...name]) +
    'Content-Transfer-Encoding: base64\r\n' +
    (contentId === null ? '' : contentIdField(contentId)) +
    formatParameterField(
      'Content-Disposition',
      disposition,
      filename === '' ? [] : formatFilename(filename),
    )
  return { fields, body: encodeBase64Lines(attachment.content) }
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
