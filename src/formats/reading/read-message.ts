/**
 * The reader of messages for every way in. mailparser 3.9.31 reads words, names and files; before,
 * `mend-message.ts` rewrites the places that the parser would read wrongly. Some results are then
 * corrected: texts are decoded by their real charset, paragraphs of flowed text stay separate, a
 * text part with a filename is a file, and an attached message is a file whose own parts are not
 * read.
 */
import { Readable, type Transform } from 'node:stream'
import {
  type AddressObject,
  type Attachment,
  type AttachmentStream,
  type HeaderLines,
  MailParser,
  type MessageText,
} from 'mailparser'
import { MAX_HEADER_BYTES } from '../limits.ts'
import { Damage } from '../parse/damage.ts'
import { decodeHeader } from '../parse/decode-text.ts'
import { mendMessage } from './mend-message.ts'
import {
  decoderOf,
  octetsAsText,
  readPartText,
  textAsOctets,
  textToHtml,
  unflow,
} from './part-text.ts'
import { type Seal, sealOfText, sealOfType } from './seal.ts'

/**
 * `isAlternative`: the file is another form of the text, such as a calendar (RFC 2046 section
 * 5.1.4).
 */
export type ReadFile = Attachment & { isAlternative: boolean }

export type ReadMessage = {
  /** The lines of the mended header section, undecoded. */
  lines: HeaderLines
  from: AddressObject | undefined
  to: AddressObject | AddressObject[] | undefined
  cc: AddressObject | AddressObject[] | undefined
  replyTo: AddressObject | undefined
  subject: string
  /** The HTML of the message; '' without an HTML part. */
  html: string
  text: string
  /** Every HTML part has a plain-text alternative, so `text` has the whole message. */
  isTextWhole: boolean
  /** Text beyond `maxTextBytes` was left out. */
  isTextCut: boolean
  files: ReadFile[]
  /** How the message is signed or encrypted; null if it is not. */
  seal: Seal | null
  damage: Damage
  /**
   * The reason why only the beginning of the message was read; its code is EMAXLEN if a limit was
   * exceeded.
   */
  error: Error | undefined
}

type ReadOptions = {
  /** Whether the contents of files are returned; their sizes always are. */
  keepsFiles: boolean
  maxParts: number
  /**
   * The limit on the octets of all plain texts together, and of all HTML together, before they are
   * decoded. Text beyond the limit is left out. If absent, there is no limit.
   */
  maxTextBytes?: number
}

/** A part in the parser's words, as its header section describes it. */
type ParserPart = {
  parentNode: ParserPart | false
  contentType: string | false
  charset: string | false
  disposition: string | false
  filename: string | false
  flowed: boolean
  delSp: boolean
  encoding: string | false
  getDecoder(): Transform
}

type TextPart = 'Text' | 'HTML'

type ParserEntity = { textContent?: string; children: ParserEntity[]; isAttachment?: boolean }

declare module 'mailparser' {
  interface MailParser {
    /** The parts of the message; false until the header section has been read. */
    tree: ParserEntity | false
    headerLines: HeaderLines | false
    hasHtml: boolean
    getDecoder(): { decodeStream(): Transform }
    createNode(part: ParserPart): ParserEntity
    getTextContent(): MessageText
    textToHtml(text: string): string
  }
}

const PARSER_OPTIONS = {
  maxHeadSize: MAX_HEADER_BYTES,
  // An attached message is one file; its own parts are not read.
  ignoreEmbedded: true,
  keepDeliveryStatus: true,
  skipHtmlToText: true,
  skipTextLinks: true,
  skipImageLinks: true,
}

const LF = 0x0a
const PIECE_BYTES = 65_536

/** A charset that the parser leaves undecoded; the text is decoded later. */
const OCTETS = 'binary'

/** Reads the message. Resolves for any octets. */
export async function readMessage(
  given: Buffer,
  { keepsFiles, ...limits }: ReadOptions,
): Promise<ReadMessage> {
  const damage = new Damage()
  const { raw, guesses } = mendMessage(given, damage)
  const message = emptyMessage(damage)
  const parser = new TolerantParser({ ...limits, guesses, damage })
  const error = await new Promise<Error | undefined>((resolve) => {
    parser.on('headers', (headers: ReadonlyMap<string, unknown>) => {
      message.lines = parser.headerLines || []
      message.from = headers.get('from') as ReadMessage['from']
      message.to = headers.get('to') as ReadMessage['to']
      message.cc = headers.get('cc') as ReadMessage['cc']
      message.replyTo = headers.get('reply-to') as ReadMessage['replyTo']
      message.subject = readSubject(message, guesses)
    })
    parser.on('data', (data: AttachmentStream | MessageText) => {
      if (data.type === 'attachment') {
        addFile(message, { part: data, isAlternative: parser.nextIsAlternative(), keepsFiles })
        return
      }
      message.html = data.html ? String(data.html) : ''
      message.text = data.text ?? ''
    })
    parser.on('error', resolve)
    parser.on('end', () => resolve(undefined))
    Readable.from(linesOf(raw)).pipe(parser)
  })
  const isTextWhole = parser.isTextWhole()
  const seal = parser.seal ?? sealOfText(message.text)
  return { ...message, isTextWhole, isTextCut: parser.isTextCut, seal, error }
}

/**
 * Yields whole lines, some of them at a time: the parser's memory is a multiple of what it is given
 * at once. A longer line is yielded whole.
 */
function* linesOf(raw: Buffer): Generator<Buffer> {
  for (let at = 0; at < raw.length; ) {
    const last = raw.lastIndexOf(LF, at + PIECE_BYTES - 1)
    const found = last >= at ? last : raw.indexOf(LF, at)
    const end = found === -1 ? raw.length : found + 1
    yield raw.subarray(at, end)
    at = end
  }
}

type ParserContext = Omit<ReadOptions, 'keepsFiles'> & {
  guesses: readonly string[]
  damage: Damage
}

class TolerantParser extends MailParser {
  seal: Seal | null = null
  readonly #context: ParserContext
  readonly #parents = new Set<ParserPart>()
  readonly #texts = new Map<ParserEntity, (text: string) => string>()
  /**
   * The content types of parts that are no attachments, by their nearest multipart/alternative; the
   * key undefined has the parts outside of any.
   */
  readonly #alternatives = new Map<ParserPart | undefined, Set<string>>()
  /** For each file that the parser has not delivered yet: whether it is an alternative. */
  readonly #files: boolean[] = []
  #textPart: TextPart = 'Text'
  readonly #textBytes = { Text: 0, HTML: 0 }
  isTextCut = false

  constructor(context: ParserContext) {
    super({ ...PARSER_OPTIONS, ...{ maxChildNodes: context.maxParts } })
    this.#context = context
  }

  override createNode(part: ParserPart): ParserEntity {
    const { parentNode, flowed, delSp } = part
    const label = part.charset || undefined
    const isFirst = parentNode === false || !this.#parents.has(parentNode)
    if (parentNode !== false) this.#parents.add(parentNode)
    if (!isFirst && isNamedText(part)) part.disposition = 'attachment'
    this.#addAlternative(part)
    this.seal ??= sealOfType(part.contentType || '')
    part.flowed = false
    part.charset = OCTETS
    const getDecoder = part.getDecoder.bind(part)
    part.getDecoder = () => decoderOf(part.encoding, getDecoder)
    this.#textPart = part.contentType === 'text/html' ? 'HTML' : 'Text'
    const entity = super.createNode(part)
    if (entity.isAttachment) this.#files.push(isAlternativeFile(part))
    const isHtml = part.contentType === 'text/html'
    this.#texts.set(entity, (octets) => {
      const text = readPartText(textAsOctets(octets), { label, isHtml, ...this.#context })
      return flowed ? unflow(text, delSp) : text
    })
    return entity
  }

  /**
   * Returns whether the next file is an alternative. To be called once for each file, in the files'
   * order.
   */
  nextIsAlternative(): boolean {
    return this.#files.shift() ?? false
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

  /**
   * The parser asks for this decoder after `createNode`, so all octets of that part's text pass
   * through it.
   */
  override getDecoder(): { decodeStream(): Transform } {
    return {
      decodeStream: () => {
        const part = this.#textPart
        return octetsAsText((octets) => this.#allow(part, octets))
      },
    }
  }

  /**
   * Returns the first of the octets, up to the limit on texts of this kind. The cut does not split
   * a character of UTF-8.
   */
  #allow(part: TextPart, octets: Buffer): Buffer {
    const { maxTextBytes = Number.POSITIVE_INFINITY, damage } = this.#context
    const left = maxTextBytes - this.#textBytes[part]
    this.#textBytes[part] = Math.min(maxTextBytes, this.#textBytes[part] + octets.length)
    if (octets.length <= left) return octets
    this.isTextCut = true
    damage.add(`${part}: cut off at ${maxTextBytes} octets.`)
    let end = left
    while (end > 0 && left - end < 3 && isContinuation(octets[end])) end -= 1
    return octets.subarray(0, end)
  }

  override getTextContent(): MessageText {
    for (const [entity, read] of this.#texts) {
      if (entity.textContent) entity.textContent = read(entity.textContent)
    }
    return super.getTextContent()
  }

  /** Converts plain text to HTML only if the message has HTML: other messages need no HTML form. */
  override textToHtml(text: string): string {
    return this.hasHtml ? textToHtml(text) : ''
  }
}

/** Whether the octet continues a character of UTF-8 (RFC 3629 section 3). */
function isContinuation(octet: number | undefined): boolean {
  return octet !== undefined && (octet & 0xc0) === 0x80
}

function emptyMessage(damage: Damage): ReadMessage {
  const none = { from: undefined, to: undefined, cc: undefined, replyTo: undefined }
  const texts = { subject: '', html: '', text: '', isTextWhole: true, isTextCut: false }
  return { ...none, ...texts, lines: [], files: [], seal: null, damage, error: undefined }
}

function readSubject({ lines, damage }: ReadMessage, guesses: readonly string[]): string {
  const line = lines.find(({ key }) => key === 'subject')?.line ?? ''
  const value = line.slice(line.indexOf(':') + 1).replace(/\r?\n(?=[ \t])/g, '')
  return decodeHeader(value, { guesses, damage, part: 'Subject' }).trim()
}

function alternativeOf({ parentNode }: ParserPart): ParserPart | undefined {
  let part = parentNode
  while (part !== false && part.contentType !== 'multipart/alternative') part = part.parentNode
  return part === false ? undefined : part
}

/**
 * Whether a file is another form of the text: a part of multipart/alternative that is not declared
 * an attachment.
 */
function isAlternativeFile({ parentNode, disposition }: ParserPart): boolean {
  if (parentNode === false || parentNode.contentType !== 'multipart/alternative') return false
  return disposition !== 'attachment'
}

type AddedFile = { part: AttachmentStream; isAlternative: boolean; keepsFiles: boolean }

function addFile({ files }: ReadMessage, { part, isAlternative, keepsFiles }: AddedFile): void {
  const chunks: Buffer[] = []
  const file: ReadFile = {
    ...part,
    related: part.related ?? false,
    content: Buffer.alloc(0),
    size: 0,
    isAlternative,
  }
  files.push(file)
  part.content.on('data', (chunk: Buffer) => {
    file.size += chunk.length
    if (keepsFiles) chunks.push(chunk)
  })
  part.content.on('end', () => {
    file.content = Buffer.concat(chunks)
    part.release()
  })
}

/**
 * Whether a text part of multipart/mixed has a filename. Such a part is a file, even if its
 * Content-Disposition is inline or missing.
 */
function isNamedText({ parentNode, contentType, filename }: ParserPart): boolean {
  if (parentNode === false || parentNode.contentType !== 'multipart/mixed') return false
  return filename !== false && /^text\/(?:plain|html)$/.test(contentType || '')
}
