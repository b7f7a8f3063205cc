/**
 * Parses JSON without blocking the event loop for long. `json-scan.ts` refuses bodies that would be
 * slow to parse. A large body is parsed in steps, with other work between them: its long texts,
 * such as attachments, are cut out, decoded piece by piece, and inserted into the value that was
 * parsed without them. Measured with 50 MB: JSON.parse of the whole blocks for 60 to 150 ms, each
 * step for less than 30 ms. Keys named `__proto__` are dropped, because copying them changes an
 * object's prototype, and the places of the dropped keys are reported.
 */
import { isUtf8 } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { AppError, type UnknownName } from '../../base/errors.ts'
import { parseJsonText } from '../../base/json-text.ts'
import { isEscaped, type JsonBodyScan, scanJson } from './json-scan.ts'

const PROTOTYPE_KEY = '__proto__'
/** The places of at most this many dropped keys are reported. */
const MAX_DROPPED = 20

/** Smaller bodies are parsed in one step. */
const LARGE_BYTES = 2 * 1024 * 1024
/** The work of one step. */
const STEP_BYTES = 1024 * 1024
const STEP_TEXTS = 5_000

const BACKSLASH = 0x5c
/** The length of `\uXXXX`. */
const LONGEST_ESCAPE = 6

/**
 * Parses a body. Adds the places of dropped keys to `dropped`.
 * @throws AppError VALIDATION_ERROR: 400 for invalid JSON, 422 for JSON that exceeds the limits
 */
export async function parseJson(given: Buffer, dropped: UnknownName[] = []): Promise<unknown> {
  if (!isLargeJson(given)) return parseAtOnce(given, dropped)
  return parseInPieces(readable(given), dropped)
}

/** Whether `parseAtOnce` would take too long. */
export function isLargeJson({ length }: Buffer): boolean {
  return length >= LARGE_BYTES
}

/** Does the same as `parseJson`, but in one step. */
export function parseAtOnce(given: Buffer, dropped: UnknownName[]): unknown {
  const body = readable(given)
  const scan = scanJson(body)
  scan.advance(body.length)
  const text = body.toString('utf8')
  const value = parseText(text, scan)
  // The text contains the key `__proto__` as it is, unless its name is written with an escape.
  const mayHaveKey = scan.hasEscapedName() || text.includes(PROTOTYPE_KEY)
  if (mayHaveKey && hasPrototypeKey(value)) dropPrototypeKeys(value, dropped)
  return value
}

/**
 * Returns the body without its byte order mark.
 * @throws AppError VALIDATION_ERROR for an empty body and for one that is not UTF-8
 */
function readable(given: Buffer): Buffer {
  if (given.length === 0) throw malformed('The body is empty.')
  const body = withoutByteOrderMark(given)
  if (!isUtf8(body)) throw malformed('The body is not valid UTF-8.')
  return body
}

function withoutByteOrderMark(body: Buffer): Buffer {
  const hasByteOrderMark = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf
  return hasByteOrderMark ? body.subarray(3) : body
}

async function parseInPieces(body: Buffer, dropped: UnknownName[]): Promise<unknown> {
  const scan = scanJson(body)
  for (let end = 0; end < body.length; ) {
    end = Math.min(end + STEP_BYTES, body.length)
    scan.advance(end)
    await setImmediate()
  }
  if (scan.isCutOff()) throw malformed('The body is not valid JSON.')
  // The marker is random, so no text of the body can be mistaken for one that was cut out.
  const marker = randomBytes(9).toString('base64')
  const text = await cutTexts(body, scan.texts, marker)
  const texts = await decodeTexts(body, scan.texts)
  const value = parseText(text, scan)
  await setImmediate()
  if (hasPrototypeKey(value)) dropPrototypeKeys(value, dropped)
  await setImmediate()
  return insertTexts(value, { marker, texts })
}

/** Returns the JSON with `<marker><number>` in place of each long text. */
async function cutTexts(body: Buffer, ranges: readonly number[], marker: string): Promise<string> {
  const parts: string[] = []
  let at = 0
  for (let index = 0; index < ranges.length; index += 2) {
    parts.push(body.toString('utf8', at, ranges[index]), `${marker}${index / 2}`)
    at = ranges[index + 1] as number
    if (index % STEP_TEXTS === 0) await setImmediate()
  }
  parts.push(body.toString('utf8', at))
  return parts.join('')
}

async function decodeTexts(body: Buffer, ranges: readonly number[]): Promise<string[]> {
  const texts: string[] = []
  let inStep = 0
  for (let index = 0; index < ranges.length; index += 2) {
    const [from = 0, to = 0] = [ranges[index], ranges[index + 1]]
    const isLong = to - from > STEP_BYTES
    texts.push(isLong ? await decodeLong(body, from, to) : decode(body, from, to))
    inStep += to - from
    if (inStep < STEP_BYTES && texts.length % STEP_TEXTS > 0) continue
    inStep = 0
    await setImmediate()
  }
  return texts
}

/**
 * Decodes one long text piece by piece. The plain ASCII at its beginning, which is all of a base64
 * text, is copied as a whole at the end.
 */
async function decodeLong(body: Buffer, from: number, to: number): Promise<string> {
  const pieces: string[] = []
  let plainEnd = from
  for (let at = from; at < to; ) {
    const end = endOfPiece(body, at, to)
    const piece = decode(body, at, end)
    // Decoding shortens escapes and characters of several bytes.
    const isPlain = piece.length === end - at
    if (isPlain && plainEnd === at) plainEnd = end
    else pieces.push(piece)
    at = end
    await setImmediate()
  }
  const plain = body.toString('latin1', from, plainEnd)
  return pieces.length === 0 ? plain : plain + pieces.join('')
}

/** Returns where a piece ends: never within a character or an escape. */
function endOfPiece(body: Buffer, from: number, to: number): number {
  let end = from + STEP_BYTES
  if (end >= to) return to
  while (((body[end] as number) & 0xc0) === 0x80) end -= 1
  const tail = end - LONGEST_ESCAPE + 1
  const backslash = tail + body.subarray(tail, end).lastIndexOf(BACKSLASH)
  if (backslash < tail) return end
  return isEscaped(body, from, backslash) ? backslash + 1 : backslash
}

function decode(body: Buffer, from: number, to: number): string {
  return parseText(`"${body.toString('utf8', from, to)}"`) as string
}

/** The scan says whether a name has an escape, so that the text is not searched again. */
function parseText(text: string, scan?: Pick<JsonBodyScan, 'hasEscapedName'>): unknown {
  try {
    return scan?.hasEscapedName() ? parseJsonText(text) : JSON.parse(text)
  } catch (error) {
    throw malformed('The body is not valid JSON.', error)
  }
}

function hasPrototypeKey(value: unknown): boolean {
  if (!isObject(value)) return false
  return Object.hasOwn(value, PROTOTYPE_KEY) || Object.values(value).some(hasPrototypeKey)
}

/**
 * Removes keys that would change an object's prototype when copied. `path`: the path of the value,
 * of which a copy is kept.
 */
function dropPrototypeKeys(value: unknown, dropped: UnknownName[], path: string[] = []): void {
  if (!isObject(value)) return
  if (Object.hasOwn(value, PROTOTYPE_KEY)) {
    Reflect.deleteProperty(value, PROTOTYPE_KEY)
    if (dropped.length < MAX_DROPPED) {
      dropped.push({ path: [...path], name: PROTOTYPE_KEY, known: [] })
    }
  }
  for (const name in value) {
    const part = value[name]
    if (!isObject(part)) continue
    path.push(name)
    dropPrototypeKeys(part, dropped, path)
    path.pop()
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

type Cut = { marker: string; texts: readonly string[] }

/** Inserts the texts that were cut out. */
function insertTexts(value: unknown, cut: Cut): unknown {
  if (typeof value === 'string') {
    return value.startsWith(cut.marker) ? cut.texts[Number(value.slice(cut.marker.length))] : value
  }
  if (!isObject(value)) return value
  for (const [name, part] of Object.entries(value)) value[name] = insertTexts(part, cut)
  return value
}

function malformed(text: string, cause?: unknown): AppError {
  return new AppError('VALIDATION_ERROR', text, {
    status: 400,
    cause,
    suggestion: 'Send one JSON object in UTF-8 with "Content-Type: application/json".',
  })
}
