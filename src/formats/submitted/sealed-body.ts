/**
 * Takes the body of a signed or encrypted message as it is, with the fields that describe it. A body
 * that cannot be sent unchanged is refused: changed, its signature would be wrong.
 */
import type { FileAttachment } from '../compose/attachment.ts'
import { MAX_LINE_OCTETS } from '../limits.ts'
import { findFields, mediaType, readPartFields } from '../reading/part-fields.ts'

const HEADER_END = '\r\n\r\n'
const LF = 0x0a

/** `files`: what a reader finds in the body. A text is the reason for which it is refused. */
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
