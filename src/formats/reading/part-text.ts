/**
 * Processes the text of a part on its way through mailparser: transfer encoding, octets as
 * characters, charset, the paragraphs of flowed text, and HTML for plain text. Each step takes
 * little memory beside its result.
 */
import { Transform } from 'node:stream'
import { decodeOctets } from '../parse/charset.ts'
import type { Damage } from '../parse/damage.ts'
import { withLf } from '../parse/entity.ts'
import { mapSlices } from '../parse/slices.ts'
import { escapeHtml } from '../template/characters.ts'

type PartText = {
  /** The charset that the part declares. */
  label: string | undefined
  isHtml: boolean
  /** Charsets that the message declares elsewhere. */
  guesses: readonly string[]
  damage: Damage
}

/** Octets at the beginning of an HTML document in which a charset declaration is looked for. */
const MAX_SEARCHED = 1_024
const META = /<meta\b[^>]{0,200}\bcharset[ \t]{0,9}=[ \t]{0,9}["']?([\w.:-]{2,40})/i

type TextLine = { depth: number; text: string; isOpen: boolean }

/**
 * `texts`: the lines of the paragraph, joined once at the end, because cutting a long text is
 * expensive.
 */
type Paragraph = { depth: number; texts: string[]; isOpen: boolean }

const SIGNATURE = '-- '
/**
 * The number of lines that are joined at a time: millions of short strings take far more memory
 * than one text.
 */
const GROUP = 1_000
/** LF goes through mailparser as U+010A, whose lower octet is that of LF. */
const LINE_FEEDS = /\n/g
const HIDDEN_LF = '\u010a'

const SLICE_BYTES = 65_536
const [TAB, LF, CR, SPACE, EQUALS] = [0x09, 0x0a, 0x0d, 0x20, 0x3d]

/** Decodes the octets of a text part. The result has LF line ends. */
export function readPartText(octets: Buffer, { label, isHtml, guesses, damage }: PartText): string {
  const part = isHtml ? 'HTML' : 'Text'
  const meta = isHtml ? META.exec(octets.toString('latin1', 0, MAX_SEARCHED))?.[1] : undefined
  const decoded = decodeOctets(octets, label, meta === undefined ? guesses : [meta, ...guesses])
  damage.addReplaced(part, decoded)
  if (decoded.isGuessed) damage.addGuessed(part, decoded.charset)
  return withLf(decoded.text).toWellFormed()
}

/**
 * Joins the lines of `format=flowed` text (RFC 3676): a line that ends in a space continues on the
 * next line if both have the same quote depth. A blank line or a signature ends the paragraph.
 * `text` has LF line ends. `isDelSp`: the space at a line's end is not part of the text.
 */
export function unflow(text: string, isDelSp: boolean): string {
  const groups: string[] = []
  let paragraphs: string[] = []
  let last: Paragraph | undefined
  for (let at = 0; at <= text.length; ) {
    const found = text.indexOf('\n', at)
    const end = found === -1 ? text.length : found
    const next = readLine(text.slice(at, end))
    at = end + 1
    if (last !== undefined && isContinued(last, next)) {
      if (isDelSp) last.texts.push((last.texts.pop() ?? '').slice(0, -1))
      last.texts.push(next.text)
      last.isOpen = next.isOpen
      continue
    }
    if (last !== undefined) paragraphs.push(writeParagraph(last))
    last = { ...next, texts: [next.text] }
    if (paragraphs.length < GROUP) continue
    groups.push(paragraphs.join('\n'))
    paragraphs = []
  }
  if (last !== undefined) paragraphs.push(writeParagraph(last))
  return [...groups, paragraphs.join('\n')].join('\n')
}

/** A space after the quote marks may have been added as stuffing (section 4.4). */
function readLine(line: string): TextLine {
  const depth = /^>*/.exec(line)?.[0].length ?? 0
  const text = line.slice(line[depth] === ' ' ? depth + 1 : depth)
  return { depth, text, isOpen: text.endsWith(' ') && text !== SIGNATURE }
}

function isContinued(last: Paragraph, { depth, text }: TextLine): boolean {
  return last.isOpen && last.depth === depth && text !== '' && text !== SIGNATURE
}

function writeParagraph({ depth, texts }: Paragraph): string {
  const text = texts.join('')
  if (depth === 0) return text
  return '>'.repeat(depth) + (text === '' ? '' : ` ${text}`)
}

/**
 * Converts plain text to HTML in little more memory than the result, even for megabytes of line
 * ends. Blank lines separate paragraphs; white space at the ends of lines is removed.
 */
export function textToHtml(text: string): string {
  const groups: string[] = []
  let lines: string[] = []
  let separator = ''
  for (let at = 0; at < text.length; ) {
    const found = text.indexOf('\n', at)
    const end = found === -1 ? text.length : found
    const line = text.slice(at, end).trimEnd()
    at = end + 1
    if (line === '') {
      if (separator !== '') separator = '</p><p>'
      continue
    }
    lines.push(separator, mapSlices(line, escapeHtml))
    separator = '<br/>'
    if (lines.length < GROUP) continue
    groups.push(lines.join(''))
    lines = []
  }
  return `<p>${groups.join('')}${lines.join('')}</p>`
}

/**
 * A stream that passes on, as text with one character per octet, the octets that `allow` returns.
 * mailparser replaces all line ends of a text at once, which takes a hundred octets of memory for
 * each line end, so LF passes as U+010A. `textAsOctets` restores the octets.
 */
export function octetsAsText(allow: (octets: Buffer) => Buffer): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const text = allow(chunk).toString('latin1')
      done(
        null,
        mapSlices(text, (slice) => slice.replace(LINE_FEEDS, HIDDEN_LF)),
      )
    },
  })
}

export function textAsOctets(text: string): Buffer {
  return Buffer.from(text, 'latin1')
}

/**
 * Returns a decoder for mailparser: our own for base64 and quoted-printable (RFC 2045 section 6),
 * else the parser's. The parser's decoders of these two replace characters of a whole line or part
 * at once, which takes a hundred octets of memory for each character. `encoding`: in lower case;
 * `getDecoder`: makes the parser's decoder.
 */
export function decoderOf(encoding: string | false, getDecoder: () => Transform): Transform {
  if (encoding === 'quoted-printable') return quotedPrintableDecoder()
  return encoding === 'base64' ? inSlices(getDecoder()) : getDecoder()
}

/** Feeds the decoder a slice at a time; the decoder pushes the decoded octets. */
function inSlices(decoder: Transform): Transform {
  const decodeWhole = decoder._transform.bind(decoder)
  decoder._transform = (chunk: Buffer, encoding, done) => {
    let at = 0
    const next = (error?: Error | null) => {
      if (error || at >= chunk.length) return done(error)
      const slice = chunk.subarray(at, at + SLICE_BYTES)
      at += SLICE_BYTES
      decodeWhole(slice, encoding, next)
    }
    next()
  }
  return decoder
}

/** A decoder that collects the whole part before it decodes. */
function quotedPrintableDecoder(): Transform {
  const chunks: Buffer[] = []
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      chunks.push(chunk)
      done()
    },
    flush(done) {
      done(null, decodeQuotedPrintable(Buffer.concat(chunks)))
    },
  })
}

/**
 * Decodes quoted-printable. Blanks at the ends of lines are removed; a `=` without an escape stays.
 */
export function decodeQuotedPrintable(encoded: Buffer): Buffer {
  const joined = joinLines(encoded)
  const decoded = Buffer.alloc(joined.length)
  let length = 0
  for (let at = 0; at < joined.length; at += 1) {
    const octet = joined[at] === EQUALS ? readEscape(joined, at) : undefined
    decoded[length++] = octet ?? joined.readUInt8(at)
    if (octet !== undefined) at += 2
  }
  return decoded.subarray(0, length)
}

/** Removes soft line breaks, and blanks at the ends of lines. */
function joinLines(encoded: Buffer): Buffer {
  const joined = Buffer.alloc(encoded.length)
  let length = 0
  /**
   * The offset up to which lines are already joined: a `=` before this offset begins no soft line
   * break.
   */
  let joinedTo = 0
  for (let at = 0; at < encoded.length; ) {
    const end = endOfBlanks(encoded, at)
    const isLineEnd = end === encoded.length || encoded[end] === LF || encoded[end] === CR
    if (!isLineEnd) length += encoded.copy(joined, length, at, end)
    at = end
    if (at === encoded.length) break
    const isBreak = isLineEnd && length > joinedTo && joined[length - 1] === EQUALS
    const octets = encoded[at] === CR && encoded[at + 1] === LF ? 2 : 1
    if (isBreak && (octets === 2 || encoded[at] === LF)) {
      length -= 1
      joinedTo = length
      at += octets
    } else joined[length++] = encoded.readUInt8(at++)
  }
  if (length > joinedTo && joined[length - 1] === EQUALS) length -= 1
  return joined.subarray(0, length)
}

function endOfBlanks(octets: Buffer, from: number): number {
  let end = from
  while (octets[end] === SPACE || octets[end] === TAB) end += 1
  return end
}

function readEscape(octets: Buffer, at: number): number | undefined {
  const [high, low] = [hexOf(octets[at + 1]), hexOf(octets[at + 2])]
  return high === undefined || low === undefined ? undefined : high * 16 + low
}

/** The value of a hexadecimal digit in either case; undefined for another octet. */
function hexOf(octet: number | undefined): number | undefined {
  if (octet === undefined) return undefined
  if (octet >= 0x30 && octet <= 0x39) return octet - 0x30
  const letter = octet | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : undefined
}
