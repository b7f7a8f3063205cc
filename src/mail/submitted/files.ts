/** The files of a message that was handed in, as the attachments of a send request. */
import type { Attachment, StructuredHeader } from 'mailparser'
import type { FileAttachment } from '../compose/attachment.ts'
import { MAX_ATTACHMENT_FIELD_LENGTH } from '../limits.ts'

const EXTENSIONS: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'image/jpeg': 'jpg',
  'image/svg+xml': 'svg',
  'message/rfc822': 'eml',
  'text/calendar': 'ics',
  'text/plain': 'txt',
}

/** The files in order, or why they are too many or too large. */
export function collectFiles(
  files: readonly Attachment[],
  html: string,
  limits: { attachmentsMaxCount: number; attachmentsMaxBytes: number },
): FileAttachment[] | string {
  const { attachmentsMaxCount, attachmentsMaxBytes } = limits
  if (files.length > attachmentsMaxCount) return `More than ${attachmentsMaxCount} attachments`
  const bytes = files.reduce((sum, { content }) => sum + content.length, 0)
  if (bytes > attachmentsMaxBytes) {
    return `The attachments are larger than ${attachmentsMaxBytes} bytes in total`
  }
  return files.map((file, index) => toAttachment(file, index + 1, html))
}

function toAttachment(file: Attachment, number: number, html: string): FileAttachment {
  const contentType = typeOf(file)
  const contentId = idOf(file)
  return {
    filename: cleanName(file.filename ?? '') || `attachment-${number}.${extensionOf(contentType)}`,
    contentType,
    content: file.content.toString('base64'),
    contentId,
    disposition: isInline(file, contentId, html) ? 'inline' : 'attachment',
  }
}

/**
 * Inline is what the HTML shows, whatever the part calls itself; without an id nothing can be. What
 * stands beside the HTML is believed to be shown unless it says otherwise: people would not see it.
 */
function isInline(file: Attachment, contentId: string | null, html: string): boolean {
  if (contentId === null || html === '') return false
  if (file.related && file.contentDisposition !== 'attachment') return true
  return html.includes(`cid:${contentId}`) || html.includes(`cid:${encodeURIComponent(contentId)}`)
}

function idOf({ cid }: Attachment): string | null {
  const id = (cid ?? '').replace(/[<>\p{Cc}]/gu, '').trim()
  return id === '' || id.length > MAX_ATTACHMENT_FIELD_LENGTH ? null : id
}

function cleanName(name: string): string {
  const clean = name
    .replace(/\p{Cc}+/gu, ' ')
    .replaceAll('"', "'")
    .trim()
    .toWellFormed()
  return clean.slice(0, MAX_ATTACHMENT_FIELD_LENGTH)
}

/** As declared, with its parameters but the file's name: a charset belongs to the octets. */
function typeOf({ headers, contentType }: Attachment): string {
  const declared = headers.get('content-type')
  if (!isStructured(declared)) return contentType
  const type = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/.test(declared.value)
    ? declared.value.toLowerCase()
    : contentType
  const parameters = Object.entries(declared.params)
    .filter(([name, value]) => name !== 'name' && /^[\x20-\x7e]*$/.test(name + value))
    .map(([name, value]) => `; ${name}="${value.replace(/["\\]/g, '\\$&')}"`)
  const whole = type + parameters.join('')
  return whole.length > MAX_ATTACHMENT_FIELD_LENGTH
    ? type.slice(0, MAX_ATTACHMENT_FIELD_LENGTH)
    : whole
}

function isStructured(value: unknown): value is StructuredHeader {
  return typeof value === 'object' && value !== null && 'params' in value && 'value' in value
}

function extensionOf(contentType: string): string {
  const [type = ''] = contentType.split(';', 1)
  const [, subtype = ''] = /^(?:image|audio|video)\/([a-z0-9]{1,8})$/.exec(type) ?? []
  return EXTENSIONS[type] ?? (subtype || 'bin')
}
