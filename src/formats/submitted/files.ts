/**
 * Converts the files of a submitted message to the attachments of a send request. The body of a signed or
 * encrypted message is one attachment.
 */
import type { StructuredHeader } from 'mailparser'
import type { FileAttachment } from '../compose/attachment.ts'
import { refersTo } from '../compose/embedded-files.ts'
import { MAX_ATTACHMENT_FIELD_LENGTH, MAX_LINE_OCTETS } from '../limits.ts'
import { oneLine } from '../one-line.ts'
import type { Damage } from '../parse/damage.ts'
import { findFields, mediaType, readPartFields } from '../reading/part-fields.ts'
import type { ReadFile } from '../reading/read-message.ts'

type FileLimits = { attachmentsMaxCount: number; attachmentsMaxBytes: number }

const EXTENSIONS: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'image/jpeg': 'jpg',
  'image/svg+xml': 'svg',
  'message/rfc822': 'eml',
  'text/calendar': 'ics',
  'text/plain': 'txt',
}

type FileContext = { number: number; html: string; damage: Damage }

const HEADER_END = '\r\n\r\n'
const LF = 0x0a

/** Returns the files as attachments, in order, or the reason why they are refused. */
export function collectFiles(
  { files, html, damage }: { files: readonly ReadFile[]; html: string; damage: Damage },
  { attachmentsMaxCount, attachmentsMaxBytes }: FileLimits,
): FileAttachment[] | string {
  if (files.length > attachmentsMaxCount) return `More than ${attachmentsMaxCount} attachments`
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  if (bytes > attachmentsMaxBytes) {
    return `The attachments are larger than ${attachmentsMaxBytes} bytes in total`
  }
  return files.map((file, index) => toAttachment(file, { number: index + 1, html, damage }))
}

function toAttachment(file: ReadFile, { number, html, damage }: FileContext): FileAttachment {
  const contentType = typeOf(file)
  const name = cleanName(file.filename ?? '', damage)
  const contentId = idOf(file)
  return {
    filename: file.isAlternative
      ? name
      : name || `attachment-${number}.${extensionOf(contentType)}`,
    contentType,
    content: file.content.toString('base64'),
    contentId,
    disposition: dispositionOf(file, contentId, html),
  }
}

/**
 * A file is inline if the HTML refers to its id, whatever its declared disposition. A related file
 * is also inline unless it is declared an attachment, because the HTML probably shows it.
 */
function dispositionOf(
  file: ReadFile,
  contentId: string | null,
  html: string,
): FileAttachment['disposition'] {
  const isReferred = contentId !== null && html !== '' && refersTo(html, contentId)
  if (file.isAlternative && !isReferred) return 'alternative'
  const isRelated = file.related && file.contentDisposition !== 'attachment'
  const isShown = isReferred || (isRelated && contentId !== null && html !== '')
  return isShown ? 'inline' : 'attachment'
}

function idOf({ cid }: ReadFile): string | null {
  const id = (cid ?? '').replace(/[<>\p{Cc}]/gu, '').trim()
  return id === '' || id.length > MAX_ATTACHMENT_FIELD_LENGTH ? null : id
}

function cleanName(name: string, damage: Damage): string {
  const clean = oneLine(name.replaceAll('"', "'")).toWellFormed()
  if (clean.length > MAX_ATTACHMENT_FIELD_LENGTH) {
    damage.addCut('Filename', MAX_ATTACHMENT_FIELD_LENGTH)
  }
  return clean.slice(0, MAX_ATTACHMENT_FIELD_LENGTH).toWellFormed()
}

/** The declared type with its parameters, such as the charset, but without a filename. */
function typeOf({ headers, contentType }: ReadFile): string {
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

/**
 * Takes the body of a signed or encrypted message unchanged, with the fields that describe it. A
 * body that cannot be sent unchanged is refused, because a change would break the signature.
 *
 * `files`: the files that a mail program finds in the body. Returns a text as the reason for a
 * refusal.
 */
export function takeSealedBody(
  raw: Buffer,
  files: readonly FileAttachment[],
): FileAttachment | string {
  const end = raw.indexOf(HEADER_END)
  const header = raw.toString('latin1', 0, end === -1 ? raw.length : end)
  const content = end === -1 ? Buffer.alloc(0) : raw.subarray(end + HEADER_END.length)
  const fields = readPartFields(header)
  const own = fields.filter(({ name }) => name.startsWith('content-')).map(({ source }) => source)
  const types = findFields(fields, 'content-type')
  if (types.length > 1) return 'A signed message must have a single Content-Type field'
  const sources = own.map((source) => `${source}\r\n`).join('')
  if (/[^\t\r\n -~]/.test(sources)) {
    return 'The Content-* fields of a signed message must be ASCII'
  }
  if (content.includes(0)) return 'A signed message must not contain NUL'
  if (
    hasLongLine(content) ||
    sources.split('\r\n').some(({ length }) => length > MAX_LINE_OCTETS)
  ) {
    return `A line of a signed message has more than ${MAX_LINE_OCTETS} octets`
  }
  return {
    filename: '',
    contentType: mediaType(types[0]?.value ?? '') ?? 'text/plain',
    content: content.toString('base64'),
    contentId: null,
    disposition: 'attachment',
    sealed: { fields: sources, files: files.map(factsOf) },
  }
}

function factsOf({ filename, contentType, contentId, disposition }: FileAttachment) {
  return { filename, contentType, contentId, disposition }
}

function hasLongLine(content: Buffer): boolean {
  for (let start = 0; start < content.length; ) {
    const newline = content.indexOf(LF, start)
    const end = newline === -1 ? content.length : newline
    if (end - start > MAX_LINE_OCTETS + 1) return true
    start = end + 1
  }
  return false
}
