/**
 * Decodes a file. A byte order mark decides the encoding. Without one, a file is UTF-16 if every
 * other of its first bytes is zero (as in text of mostly Latin letters), otherwise UTF-8.
 *
 * A byte that is not UTF-8 becomes a lone surrogate that keeps its value (U+DC80 to U+DCFF), which
 * valid UTF-8 never has. What such bytes are is decided later, for each row by itself, so that one
 * byte does not change how the rest of the file is read. If a row has no other character beyond
 * ASCII, the row is taken for Windows-1252, which old spreadsheet programs write and in which every
 * byte is a character. If the row has other characters beyond ASCII, it is UTF-8 and the bytes are
 * damage: each becomes U+FFFD.
 */
import { isUtf8 } from 'node:buffer'
import type { CsvRecord } from './parser.ts'

export type Encoding = {
  name: 'utf-8' | 'utf-16le' | 'utf-16be'
  /**
   * Whether the encoding was guessed by the zero bytes at the beginning, without a byte order mark.
   */
  isGuessed: boolean
}

/** The number of bytes at the beginning by which UTF-16 is recognized. */
const SAMPLE_BYTES = 1024
/** This plus a byte of 0x80 or more is the surrogate that keeps the byte. */
const ESCAPE = 0xdc00
const LF = 10

const BYTE_ORDER_MARKS: readonly [Encoding['name'], readonly number[]][] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
]

export type RowDamage = {
  /** Whether the row was read as Windows-1252. */
  isGuessed: boolean
  /** The number of bytes or characters that became U+FFFD. */
  replaced: number
}

const KEPT_BYTE = /[\udc80-\udcff]/
/** With the flag u, only lone surrogates match: a surrogate in a pair is no kept byte. */
const KEPT_BYTES = /[\udc80-\udcff]/gu
const OTHER_CHARACTER = /[^\0-\x7f\udc80-\udcff]/u
const REPLACEMENT = '\ufffd'
const windows1252 = new TextDecoder('windows-1252')

/** Detects the encoding by the first chunk. */
function detectEncoding(bytes: Uint8Array): Encoding {
  for (const [name, mark] of BYTE_ORDER_MARKS) {
    if (mark.every((byte, index) => bytes[index] === byte)) return { name, isGuessed: false }
  }
  const sample = bytes.subarray(0, SAMPLE_BYTES)
  const zeros = [0, 0]
  for (const [index, byte] of sample.entries()) {
    if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1
  }
  const [even = 0, odd = 0] = zeros
  // In UTF-16, a Latin letter has a zero byte always in the same place, the first or the second; in
  // the other place only few characters have one.
  const isMostly = (one: number, other: number) => one > sample.length / 4 && other * 10 < one
  if (isMostly(odd, even)) return { name: 'utf-16le', isGuessed: true }
  if (isMostly(even, odd)) return { name: 'utf-16be', isGuessed: true }
  return { name: 'utf-8', isGuessed: false }
}

export type DecodedPiece = {
  text: string
  /** Bytes of the file up to the end of this piece. */
  bytesRead: number
  encoding: Encoding
}

/**
 * Yields the text without a byte order mark, one piece per chunk and one for the end. In UTF-16,
 * code units that form no character become U+FFFD.
 */
export async function* decode(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<DecodedPiece> {
  let encoding: Encoding | undefined
  let decoder: Decoder | undefined
  let bytesRead = 0
  for await (const chunk of chunks) {
    bytesRead += chunk.length
    encoding ??= detectEncoding(chunk)
    decoder ??= encoding.name === 'utf-8' ? createUtf8Decoder() : createUtf16Decoder(encoding.name)
    yield { text: decoder(chunk), bytesRead, encoding }
  }
  if (encoding !== undefined && decoder !== undefined) {
    yield { text: decoder(), bytesRead, encoding }
  }
}

/** Returns the record as text, and what was damaged; undefined if nothing was. */
export function repairRecord(record: CsvRecord): { record: CsvRecord; damage?: RowDamage } {
  if (!record.cells.some(({ text }) => KEPT_BYTE.test(text) && !text.isWellFormed())) {
    return { record }
  }
  const isGuessed = !record.cells.some(({ text }) => OTHER_CHARACTER.test(text))
  let replaced = 0
  const read = (kept: string): string => {
    if (isGuessed) return windows1252.decode(Uint8Array.of(kept.charCodeAt(0) & 0xff))
    replaced += 1
    return REPLACEMENT
  }
  const cells = record.cells.map((cell) => ({ ...cell, text: cell.text.replace(KEPT_BYTES, read) }))
  return { record: { ...record, cells }, damage: { isGuessed, replaced } }
}

/**
 * Returns the damage of a record in UTF-16, where the decoder has already replaced it by U+FFFD;
 * undefined if nothing was damaged.
 */
export function findReplaced({ cells }: CsvRecord): RowDamage | undefined {
  let replaced = 0
  for (const { text } of cells) {
    if (text.includes(REPLACEMENT)) replaced += text.split(REPLACEMENT).length - 1
  }
  return replaced === 0 ? undefined : { isGuessed: false, replaced }
}

/** Takes the next bytes, or nothing at the end. */
type Decoder = (bytes?: Uint8Array) => string

function createUtf16Decoder(name: string): Decoder {
  const decoder = new TextDecoder(name)
  return (bytes) => decoder.decode(bytes, { stream: bytes !== undefined })
}

function createUtf8Decoder(): Decoder {
  let tail: Uint8Array = new Uint8Array()
  let isFirst = true
  return (bytes) => {
    const all = bytes === undefined ? tail : Buffer.concat([tail, bytes])
    const end = bytes === undefined ? all.length : lastCharacterStart(all)
    tail = all.subarray(end)
    const text = readUtf8(Buffer.from(all.buffer, all.byteOffset, end))
    if (!isFirst || text === '') return text
    isFirst = false
    return text.startsWith('\ufeff') ? text.slice(1) : text
  }
}

/** Only lines with other bytes than UTF-8 are read byte by byte. */
function readUtf8(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8')
  let text = ''
  for (let at = 0; at < bytes.length; ) {
    const lineEnd = bytes.indexOf(LF, at)
    const end = lineEnd < 0 ? bytes.length : lineEnd + 1
    const line = bytes.subarray(at, end)
    text += isUtf8(line) ? line.toString('utf8') : readDamaged(line)
    at = end
  }
  return text
}

function readDamaged(line: Buffer): string {
  const parts: string[] = []
  let from = 0
  for (let at = 0; at < line.length; ) {
    const length = characterLength(line, at)
    if (length > 0) {
      at += length
      continue
    }
    parts.push(line.toString('utf8', from, at), String.fromCharCode(ESCAPE + (line[at] ?? 0)))
    at += 1
    from = at
  }
  return parts.join('') + line.toString('utf8', from)
}

/** Returns the number of bytes of the character; 0 if there is none. */
function characterLength(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? 0
  if (first < 0x80) return 1
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2
  return first >= 0xc0 && isUtf8(bytes.subarray(at, at + length)) && at + length <= bytes.length
    ? length
    : 0
}

/** Returns the start of a character that may continue in the next chunk, otherwise the end. */
function lastCharacterStart(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return bytes.length
    if (byte >= 0xc0) return bytes.length - back
  }
  return bytes.length
}
