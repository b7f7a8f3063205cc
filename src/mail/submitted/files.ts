/** Converts the files of a submitted message to the attachments of a send request. */
import type { Attachment, StructuredHeader } from 'mailparser'
import type { FileAttachment } from '../compose/attachment.ts'
import { MAX_ATTACHMENT_FIELD_LENGTH } from '../limits.ts'
import { oneLine } from '../one-line.ts'

const EXTENSIONS: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'image/jpeg': 'jpg',
  'image/svg+xml': 'svg',
  'message/rfc822': 'eml',
  'text/calendar': 'ics',
  'text/plain': 'txt',
}

/** The files in order, or the reason for which they are refused. */
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
 * A file is inline if the HTML refers to its id, regardless of its disposition. A related part is also
 * inline unless it is declared an attachment, because the HTML probably shows it.
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
  const clean = oneLine(name.replaceAll('"', "'")).toWellFormed()
  return clean.slice(0, MAX_ATTACHMENT_FIELD_LENGTH)
}

/** The declared type with its parameters, such as the charset, but without the filename. */
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
