/**
 * Parses a submitted message with mailparser 3.9.31 and corrects some of its results: paragraphs of
 * flowed text stay separate, octets without a declared charset survive if they are not UTF-8, and a
 * text part with a filename is a file.
 */
import { isUtf8 } from 'node:buffer'
import {
  type AddressObject,
  type Attachment,
  type AttachmentStream,
  type HeaderLines,
  MailParser,
  type MailParserOptions,
  type MessageText,
} from 'mailparser'
import { unflow } from './flowed.ts'

export type ParsedSubmission = {
  lines: HeaderLines
  from: AddressObject | undefined
  to: AddressObject | AddressObject[] | undefined
  cc: AddressObject | AddressObject[] | undefined
  replyTo: AddressObject | undefined
  subject: string
  /** '' without an HTML part. */
  html: string
  text: string
  /** Each HTML part has a plain-text alternative, so that `text` is complete. */
  isTextWhole: boolean
  files: Attachment[]
}

/** A part, as described by its header section. */
type ParserPart = {
  parentNode: ParserPart | false
  contentType: string | false
  charset: string | false
  disposition: string | false
  filename: string | false
  flowed: boolean
  delSp: boolean
}

type ParserEntity = { textContent?: string; children: ParserEntity[] }

declare module 'mailparser' {
  interface MailParser {
    /** False until the header section has been read. */
    tree: ParserEntity | false
    headerLines: HeaderLines | false
    createNode(part: ParserPart): ParserEntity
    getTextContent(): MessageText
  }
}

/** One character per octet, for text whose charset is detected later. */
const OCTETS = 'binary'
/** Charset labels that do not define octets above 127. */
const UNDECLARED = /^(?:|binary|(?:us-)?ascii|[78]bit)$/i

/** @throws Error with code EMAXLEN if a limit in `options` is exceeded */
export function parseMessage(raw: Buffer, options: MailParserOptions): Promise<ParsedSubmission> {
  return new Promise((resolve, reject) => {
    const parser = new TolerantParser(options)
    const message = emptyMessage()
    parser.on('headers', (headers: ReadonlyMap<string, unknown>) => {
      message.lines = parser.headerLines || []
      message.from = headers.get('from') as ParsedSubmission['from']
      message.to = headers.get('to') as ParsedSubmission['to']
      message.cc = headers.get('cc') as ParsedSubmission['cc']
      message.replyTo = headers.get('reply-to') as ParsedSubmission['replyTo']
      message.subject = String(headers.get('subject') ?? '')
    })
    parser.on('data', (data: AttachmentStream | MessageText) => {
      if (data.type === 'attachment') return addFile(message, data)
      message.html = data.html ? String(data.html) : ''
      message.text = data.text ?? ''
    })
    parser.on('error', reject)
    parser.on('end', () => resolve({ ...message, isTextWhole: parser.isTextWhole() }))
    parser.end(withReadableHeader(raw))
  })
}

class TolerantParser extends MailParser {
  readonly #parents = new Set<ParserPart>()
  readonly #texts = new Map<ParserEntity, (text: string) => string>()
  /** Content types by their nearest multipart/alternative; undefined: outside of any. */
  readonly #alternatives = new Map<ParserPart | undefined, Set<string>>()

  override createNode(part: ParserPart): ParserEntity {
    const { parentNode, flowed, delSp, charset } = part
    const isFirst = parentNode === false || !this.#parents.has(parentNode)
    if (parentNode !== false) this.#parents.add(parentNode)
    if (!isFirst && isNamedText(part)) part.disposition = 'attachment'
    this.#addAlternative(part)
    part.flowed = false
    const isDeclared = !UNDECLARED.test(charset || '')
    if (!isDeclared) part.charset = OCTETS
    const entity = super.createNode(part)
    this.#texts.set(entity, (octets) => {
      const text = isDeclared ? octets : decodeUndeclared(Buffer.from(octets, OCTETS))
      return flowed ? unflow(text, delSp) : text
    })
    return entity
  }

  isTextWhole(): boolean {
    return [...this.#alternatives].every(([alternative, types]) => {
      return !types.has('text/html') || (alternative !== undefined && types.has('text/plain'))
    })
  }

  #addAlternative(part: ParserPart): void {
    const { contentType, disposition } = part
    if (contentType === false || disposition === 'attachment') return
    const alternative = alternativeOf(part)
    const types = this.#alternatives.get(alternative) ?? new Set()
    this.#alternatives.set(alternative, types.add(contentType))
  }

  override getTextContent(): MessageText {
    for (const [entity, read] of this.#texts) {
      if (entity.textContent) entity.textContent = read(entity.textContent)
    }
    return super.getTextContent()
  }
}

function emptyMessage(): ParsedSubmission {
  const none = { from: undefined, to: undefined, cc: undefined, replyTo: undefined }
  return { ...none, lines: [], subject: '', html: '', text: '', isTextWhole: true, files: [] }
}

function alternativeOf({ parentNode }: ParserPart): ParserPart | undefined {
  let part = parentNode
  while (part !== false && part.contentType !== 'multipart/alternative') part = part.parentNode
  return part === false ? undefined : part
}

function addFile({ files }: ParsedSubmission, part: AttachmentStream): void {
  const chunks: Buffer[] = []
  const file: Attachment = { ...part, related: part.related ?? false, content: Buffer.alloc(0) }
  files.push(file)
  part.content.on('data', (chunk: Buffer) => chunks.push(chunk))
  part.content.on('end', () => {
    file.content = Buffer.concat(chunks)
    part.release()
  })
}

/** Whether a text part is a file, though its Content-Disposition is inline or missing. */
function isNamedText({ parentNode, contentType, filename }: ParserPart): boolean {
  if (parentNode === false || parentNode.contentType !== 'multipart/mixed') return false
  return filename !== false && /^text\/(?:plain|html)$/.test(contentType || '')
}

/** Decodes the lines of a header section that are not UTF-8 (RFC 6532) as windows-1252. */
function withReadableHeader(raw: Buffer): Buffer {
  const end = raw.indexOf('\r\n\r\n')
  const head = raw.subarray(0, end === -1 ? raw.length : end)
  if (isUtf8(head)) return raw
  const lines = head.toString(OCTETS).split('\r\n')
  const readable = lines.map((line) => decodeUndeclared(Buffer.from(line, OCTETS)))
  return Buffer.concat([Buffer.from(readable.join('\r\n')), raw.subarray(head.length)])
}

function decodeUndeclared(octets: Buffer): string {
  return isUtf8(octets) ? octets.toString() : new TextDecoder('windows-1252').decode(octets)
}
