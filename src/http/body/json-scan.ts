/**
 * Estimates the cost of parsing a JSON body in one pass over its bytes: counts values, names and
 * levels, and skips texts, without building anything. The pass does not check the grammar, which is
 * the parser's task; for invalid JSON the counts mean nothing. The pass can be made in steps, so that
 * other work can run between the steps.
 */
import { type AppError, invalidField } from '../../base/errors.ts'

/** The most values in a body, including those in arrays and objects. */
export const MAX_JSON_VALUES = 200_000
/** The most names of fields in a body: each new name costs a parser more than a value. */
export const MAX_JSON_NAMES = 25_000
/** The most bytes of all names together. */
const MAX_JSON_NAME_BYTES = 1_000_000
/**
 * The most levels of lists and objects: more than any reasonable data has, and far fewer than
 * recursion can take.
 */
export const MAX_JSON_LEVELS = 100

/** Text values of at least this size are listed in `texts`. */
const LISTED_TEXT_BYTES = 64

export type JsonBodyScan = {
  /**
   * Scans the bytes up to `end`; a text that crosses `end` is finished by the next call.
   * @throws AppError VALIDATION_ERROR 422 `too_big`, naming the field of the outermost object
   */
  advance(end: number): void
  /** Whether the scanned bytes end within a text. */
  isCutOff(): boolean
  /** The positions of the long text values: start and end of each in turn, without its quotes. */
  texts: readonly number[]
  /** Whether a scanned name has an escape. */
  hasEscapedName(): boolean
}

const SPACE = 0x20
const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const COMMA = 0x2c
/** Bytes of a text that are scanned here before native code searches for its end. */
const SHORT_TEXT = 64
const SHOWN_NAME_BYTES = 100

export function scanJson(body: Buffer): JsonBodyScan {
  const texts: number[] = []
  let at = 0
  let level = 0
  let values = 0
  let names = 0
  let nameBytes = 0
  let hasEscape = false
  /** Start of the text that has not ended yet, or -1. */
  let textFrom = -1
  let isWord = false
  /** The position of the last name in the outermost object, for the error. */
  let fieldFrom = 0
  let fieldTo = 0

  function advance(end: number): void {
    while (at < end) {
      if (textFrom >= 0) {
        const quote = findQuote(body, at, end)
        at = quote.at
        if (quote.isFound) endText()
      } else if ((body[at] as number) <= SPACE) {
        at = skipBlanks(body, at, end)
        isWord = false
      } else {
        step(body[at] as number)
      }
    }
  }

  function step(byte: number): void {
    at += 1
    const wasWord = isWord
    isWord = false
    if (byte === COMMA || byte === COLON) return
    if (byte === QUOTE) {
      textFrom = at
    } else if (byte === 0x5b || byte === 0x7b) {
      level += 1
      if (level > MAX_JSON_LEVELS)
        throw tooBig(`is nested more than ${MAX_JSON_LEVELS} levels deep`)
      addValue()
    } else if (byte === 0x5d || byte === 0x7d) {
      level -= 1
    } else {
      // The byte is part of a word: a number, true, false, null, or an invalid word.
      isWord = true
      if (!wasWord) addValue()
    }
  }

  /** Ends a text. `at` is on the closing quote. */
  function endText(): void {
    const from = textFrom
    const to = at
    textFrom = -1
    at = skipBlanks(body, to + 1)
    if (body[at] !== COLON) {
      addValue()
      if (to - from >= LISTED_TEXT_BYTES) texts.push(from, to)
      return
    }
    if (level === 1) {
      fieldFrom = from
      fieldTo = to
    }
    names += 1
    nameBytes += to - from
    for (let part = from; part < to && !hasEscape; part += 1) hasEscape = body[part] === BACKSLASH
    if (names > MAX_JSON_NAMES) throw tooBig(`has more than ${MAX_JSON_NAMES} names`)
    if (nameBytes <= MAX_JSON_NAME_BYTES) return
    throw tooBig(`has names of more than ${MAX_JSON_NAME_BYTES} bytes in total`)
  }

  function addValue(): void {
    values += 1
    if (values > MAX_JSON_VALUES) throw tooBig(`has more than ${MAX_JSON_VALUES} values`)
  }

  function tooBig(fault: string): AppError {
    const shownTo = Math.min(fieldTo, fieldFrom + SHOWN_NAME_BYTES)
    const name = body.toString('utf8', fieldFrom, shownTo)
    return invalidField(name, 'too_big', `The JSON ${fault}`)
  }

  return { advance, isCutOff: () => textFrom >= 0, hasEscapedName: () => hasEscape, texts }
}

/**
 * The quote that ends a text, or the position up to which the text is known to continue. `at` is
 * never within an escape. Short texts are scanned here; in long texts native code finds the quote.
 */
function findQuote(body: Buffer, from: number, end: number): { at: number; isFound: boolean } {
  let at = from
  while (at < end) {
    const walked = Math.min(at + SHORT_TEXT, body.length)
    while (at < walked) {
      if (body[at] === QUOTE) return { at, isFound: true }
      at += body[at] === BACKSLASH ? 2 : 1
    }
    const quote = body.indexOf(QUOTE, at)
    if (quote === -1) return { at: Math.max(body.length, end), isFound: false }
    if (!isEscaped(body, at, quote)) return { at: quote, isFound: true }
    at = quote + 1
  }
  return { at, isFound: false }
}

/** Whether an odd number of backslashes precedes `at`; `from` must not be within an escape. */
export function isEscaped(body: Buffer, from: number, at: number): boolean {
  let first = at
  while (first > from && body[first - 1] === BACKSLASH) first -= 1
  return (at - first) % 2 === 1
}

function skipBlanks(body: Buffer, from: number, end = body.length): number {
  let at = from
  while (at < end && (body[at] as number) <= SPACE) at += 1
  return at
}
