/**
 * Reads and writes the values of cells, so that an exported value is imported without a change, except for what no
 * text of CSV can have (`writeText`).
 *
 * A text that a spreadsheet program would take for a formula is written with a leading apostrophe,
 * which such programs show as text. When an export of this service is read, the apostrophe is
 * removed. In an export, a text that looks like a number or a boolean is in quotes, and lists and
 * objects are JSON (`column-types.ts`). In any other file the type of the column decides
 * (`column-types.ts`).
 */

import { isDeeperThan, parseJsonText } from '../../../../base/json-text.ts'
import type { Cell } from './parser.ts'
import type { OutCell } from './writer.ts'

/**
 * `mixed`: each cell has a type of its own, as in an export of this service. `json`: each cell is an object of
 * data, as in exports of other services (`json-data.ts`).
 */
export type ColumnType = 'text' | 'number' | 'boolean' | 'mixed' | 'json'

export type CellRules = {
  /** Whether the file is an export of this service. */
  isOwn: boolean
  /** The type of the cells of the column. */
  type: ColumnType
}

/**
 * The beginning of a formula, by OWASP's list (CSV injection). Programs may drop blank or invisible
 * characters before it.
 */
const FORMULA = /^'*(?:[\s\p{Cc}\p{Cf}]*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n])/u
const STRICT_DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
/** A text that a spreadsheet program reads as a number; such a program drops leading zeros. */
const NUMERAL = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/
/** The maximum nesting of a JSON value; deeper JSON stays a text. */
const MAX_DEPTH = 64
/** The number of decimal digits that a double always preserves. */
const EXACT_DIGITS = 15

const BOOLEAN_WORDS = new Map([
  ['true', true],
  ['yes', true],
  ['false', false],
  ['no', false],
])

/** Whether a cell is blank. In an export, quoted blanks are a value. */
export function isBlank({ text, isQuoted }: Cell, { isOwn }: Pick<CellRules, 'isOwn'>): boolean {
  return isOwn && isQuoted ? text === '' : text.trim() === ''
}

/** Reads a cell that is not blank. */
export function readCell(cell: Cell, { isOwn, type }: CellRules): unknown {
  if (type === 'mixed') return readExported(cell)
  if (isOwn && type === 'text') return removeApostrophe(cell.text)
  const text = readCellText(cell, { isOwn })
  if (type === 'number') return readNumber(text) ?? text
  return type === 'boolean' ? (readBoolean(text) ?? text) : text
}

/** Reads a cell as a text, even if it looks like a number or a boolean. */
export function readCellText(
  { text, isQuoted }: Cell,
  { isOwn }: Pick<CellRules, 'isOwn'>,
): string {
  if (!isOwn) return text.trim()
  return removeApostrophe(isQuoted ? text : text.trim())
}

/** Returns the boolean that a word means: true or yes, false or no, in any letter case. */
export function readBoolean(text: string): boolean | undefined {
  return BOOLEAN_WORDS.get(text.toLowerCase())
}

/**
 * Returns the number in a text if the number, written again, gives the same characters and no
 * exponent: not for 01067, 1.10 or +1. Undefined for any other text.
 */
export function readNumber(text: string): number | undefined {
  if (!STRICT_DECIMAL.test(text) || countDigits(text) > EXACT_DIGITS) return undefined
  const number = Number(text)
  return String(number) === text ? number : undefined
}

/**
 * Whether a text is a JSON number with more digits than a double keeps, or too large for a double.
 */
export function isHugeNumber(text: string): boolean {
  if (!JSON_NUMBER.test(text)) return false
  return (
    !Number.isFinite(Number(text)) ||
    (STRICT_DECIMAL.test(text) && countDigits(text) > EXACT_DIGITS)
  )
}

/** Whether a text that is not in quotes could be taken for a number. */
export function isNumeral(text: string): boolean {
  return NUMERAL.test(text)
}

/** Whether an export puts a text in quotes, so that an import reads it as a text again. */
export function looksTyped(text: string): boolean {
  return isNumeral(text) || readBoolean(text) !== undefined
}

function countDigits(text: string): number {
  return text.replace(/\D/g, '').length
}

function readExported({ text, isQuoted }: Cell): unknown {
  if (!isQuoted) {
    const scalar = parseScalar(text)
    if (scalar !== undefined) return scalar
  }
  return parseCollection(text) ?? removeApostrophe(text)
}

/** Writes a value of a contact's data. */
export function writeValue(value: unknown): OutCell {
  if (typeof value === 'string') {
    const text = writeText(value)
    return looksTyped(text) ? { quoted: text } : text
  }
  if (value === null || value === undefined) return ''
  return JSON.stringify(value)
}

/**
 * Writes a text so that no program runs it as a formula, and every program reads all of the file. A lone
 * surrogate is no character, and RFC 4180 has no NUL: programs in C end the cell at it, and some readers refuse
 * the file. Both become U+FFFD, and an import brings that back. In JSON both stay, as escapes.
 */
export function writeText(text: string): string {
  const written = text.toWellFormed().replaceAll('\0', '\ufffd')
  return needsApostrophe(written) ? `'${written}` : written
}

function removeApostrophe(text: string): string {
  return text.startsWith("'") && needsApostrophe(text) ? text.slice(1) : text
}

/** Whether a text needs an apostrophe; one that starts with apostrophes may need another. */
function needsApostrophe(text: string): boolean {
  return FORMULA.test(text) || parseCollection(text.replace(/^'+/, '')) !== undefined
}

/**
 * A number counts only in the form in which an export writes it; any other form would lose
 * characters.
 */
function parseScalar(text: string): boolean | number | undefined {
  if (text === 'true' || text === 'false') return text === 'true'
  if (!JSON_NUMBER.test(text)) return undefined
  const number = Number(text)
  return JSON.stringify(number) === text ? number : undefined
}

function parseCollection(text: string): object | undefined {
  if (!text.startsWith('{') && !text.startsWith('[')) return undefined
  try {
    const value = parseJsonText(text) as object
    return isDeeperThan(value, MAX_DEPTH) ? undefined : value
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
