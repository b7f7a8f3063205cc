/**
 * JSON from bytes, without holding up others. What would be slow to parse is refused before
 * (`json-scan.ts`). A large body is worked on in turns: its long texts, such as attachments and
 * bodies of mail, are cut out, decoded piece by piece and put back into what was parsed without
 * them. Measured with 50 MB: JSON.parse of the whole takes 60 to 150 ms at a stretch, each turn of
 * this under 30 ms. Keys named `__proto__`, which would change an object when copied, are dropped.
 */
import { isUtf8 } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import { setImmediate as othersTurn } from 'node:timers/promises'
import { AppError } from '../../errors.ts'
import { isEscaped, scanJson } from './json-scan.ts'

/** Smaller ones are parsed at once. */
const LARGE_BYTES = 2 * 1024 * 1024
/** What is done of a large one before others get their turn. */
const TURN_BYTES = 1024 * 1024
const TURN_TEXTS = 5_000

const BACKSLASH = 0x5c
/** \uXXXX */
const LONGEST_ESCAPE = 6

/** @throws AppError VALIDATION_ERROR: 400 for what is not JSON, 422 for more than can be handled */
export async function parseJson(body: Buffer): Promise<unknown> {
  if (body.length === 0) throw malformed('The body is empty.')
  const bytes = withoutMark(body)
  if (!isUtf8(bytes)) throw malformed('The body is not valid UTF-8.')
  if (bytes.length >= LARGE_BYTES) return parseInTurns(bytes)
  scanJson(bytes).advance(bytes.length)
  const value = parseText(bytes.toString('utf8'))
  tame(value)
  return value
}

/** Without the byte order mark. */
function withoutMark(bytes: Buffer): Buffer {
  const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  return hasMark ? bytes.subarray(3) : bytes
}

async function parseInTurns(bytes: Buffer): Promise<unknown> {
  const scan = scanJson(bytes)
  for (let end = 0; end < bytes.length; ) {
    end = Math.min(end + TURN_BYTES, bytes.length)
    scan.advance(end)
    await othersTurn()
  }
  if (scan.isCutOff()) throw malformed('The body is not valid JSON.')
  // Nobody can guess the sign, so that no text of the body's own is taken for a cut one.
  const sign = randomBytes(9).toString('base64')
  const text = await cutTexts(bytes, scan.texts, sign)
  const texts = await decodeTexts(bytes, scan.texts)
  const value = parseText(text)
  await othersTurn()
  tame(value)
  await othersTurn()
  return putBack(value, { sign, texts })
}

/** The JSON with `<sign><number>` in place of each long text. */
async function cutTexts(bytes: Buffer, ranges: readonly number[], sign: string): Promise<string> {
  const parts: string[] = []
  let at = 0
  for (let index = 0; index < ranges.length; index += 2) {
    parts.push(bytes.toString('utf8', at, ranges[index]), `${sign}${index / 2}`)
    at = ranges[index + 1] as number
    if (index % TURN_TEXTS === 0) await othersTurn()
  }
  parts.push(bytes.toString('utf8', at))
  return parts.join('')
}

async function decodeTexts(bytes: Buffer, ranges: readonly number[]): Promise<string[]> {
  const texts: string[] = []
  let inTurn = 0
  for (let index = 0; index < ranges.length; index += 2) {
    const [from = 0, to = 0] = [ranges[index], ranges[index + 1]]
    const isLong = to - from > TURN_BYTES
    texts.push(isLong ? await decodeLong(bytes, from, to) : decode(bytes, from, to))
    inTurn += to - from
    if (inTurn < TURN_BYTES && texts.length % TURN_TEXTS > 0) continue
    inTurn = 0
    await othersTurn()
  }
  return texts
}

/**
 * Its pieces are kept only from where a text is more than plain ASCII: what comes before, in base64
 * all of it, is copied whole in the end.
 */
async function decodeLong(bytes: Buffer, from: number, to: number): Promise<string> {
  const pieces: string[] = []
  let plainEnd = from
  for (let at = from; at < to; ) {
    const end = endOfPiece(bytes, at, to)
    const piece = decode(bytes, at, end)
    // Escapes, and characters of several bytes, are shorter when they are decoded.
    const isPlain = piece.length === end - at
    if (isPlain && plainEnd === at) plainEnd = end
    else pieces.push(piece)
    at = end
    await othersTurn()
  }
  const plain = bytes.toString('latin1', from, plainEnd)
  return pieces.length === 0 ? plain : plain + pieces.join('')
}

/** Where a piece of a text may end: within no character and no escape. */
function endOfPiece(bytes: Buffer, from: number, to: number): number {
  let end = from + TURN_BYTES
  if (end >= to) return to
  while (((bytes[end] as number) & 0xc0) === 0x80) end -= 1
  const tail = end - LONGEST_ESCAPE + 1
  const backslash = tail + bytes.subarray(tail, end).lastIndexOf(BACKSLASH)
  if (backslash < tail) return end
  return isEscaped(bytes, from, backslash) ? backslash + 1 : backslash
}

function decode(bytes: Buffer, from: number, to: number): string {
  return parseText(`"${bytes.toString('utf8', from, to)}"`) as string
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw malformed('The body is not valid JSON.', error)
  }
}

/** Removes keys that would change an object's prototype when copied. */
function tame(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  if (Object.hasOwn(value, '__proto__')) Reflect.deleteProperty(value, '__proto__')
  for (const part of Object.values(value)) tame(part)
}

type Cut = { sign: string; texts: readonly string[] }

/** The value with the texts that were cut out. */
function putBack(value: unknown, cut: Cut): unknown {
  if (typeof value === 'string') {
    return value.startsWith(cut.sign) ? cut.texts[Number(value.slice(cut.sign.length))] : value
  }
  if (typeof value !== 'object' || value === null) return value
  const parts = value as Record<string, unknown>
  for (const [name, part] of Object.entries(parts)) parts[name] = putBack(part, cut)
  return value
}

function malformed(text: string, cause?: unknown): AppError {
  return new AppError('VALIDATION_ERROR', text, {
    status: 400,
    cause,
    suggestion: 'Send one JSON object, as UTF-8, with "Content-Type: application/json".',
  })
}
