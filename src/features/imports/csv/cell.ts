/**
 * What a cell means, and how a value is written so that it comes back as it was.
 *
 * A text that a spreadsheet program would take for a formula is written with an apostrophe before
 * it, which such programs show as text. In a file of our own export the apostrophe goes again, a
 * text that reads like a number or a truth value stands in quotes, and lists and objects are JSON:
 * what was exported is imported as it was. In anybody else's file quotes mean nothing, and a value
 * has the type that it looks like.
 */
import type { Cell } from './parser.ts'
import type { OutCell } from './writer.ts'

export type CellRules = {
  /** The file is one of our exports. */
  isOwn: boolean
  /** Every value is a text. */
  areStrings: boolean
}

/** OWASP's list (CSV injection); what is blank or invisible before them may be dropped by who reads. */
const formula = /^'*(?:[\s\p{Cc}\p{Cf}]*[=+\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n])/u
const strictDecimal = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
/** As deep as JSON may be that is handed in; deeper, it stays text. */
const MAX_DEPTH = 64
/** A double keeps as many decimal digits whatever they are. */
const EXACT_DIGITS = 15

const words = new Map([
  ['true', true],
  ['yes', true],
  ['false', false],
  ['no', false],
])

/** Nothing is in it; in a file of ours, quoted blanks are something. */
export function isBlank({ text, isQuoted }: Cell, { isOwn }: Pick<CellRules, 'isOwn'>): boolean {
  return isOwn && isQuoted ? text === '' : text.trim() === ''
}

/** The value of a cell that is not blank. */
export function readCell(cell: Cell, rules: CellRules): unknown {
  if (!rules.isOwn) return rules.areStrings ? cell.text.trim() : readAnyones(cell.text.trim())
  return rules.areStrings ? readText(cell, rules) : readOurs(cell)
}

/** The cell as a text, whatever it looks like. */
export function readText({ text, isQuoted }: Cell, { isOwn }: Pick<CellRules, 'isOwn'>): string {
  if (!isOwn) return text.trim()
  return restore(isQuoted ? text : text.trim())
}

function readAnyones(text: string): unknown {
  const word = words.get(text.toLowerCase())
  if (word !== undefined) return word
  const isExact = strictDecimal.test(text) && text.replace(/\D/g, '').length <= EXACT_DIGITS
  return isExact ? Number(text) : text
}

function readOurs({ text, isQuoted }: Cell): unknown {
  if (!isQuoted) {
    const scalar = parseScalar(text)
    if (scalar !== undefined) return scalar
  }
  return parseCollection(text) ?? restore(text)
}

/** A value of a contact's data. */
export function writeValue(value: unknown): OutCell {
  if (typeof value === 'string') {
    const text = writeText(value)
    return parseScalar(text) === undefined ? text : { quoted: text }
  }
  if (value === null || value === undefined) return ''
  return JSON.stringify(value)
}

/** A text, so that no program runs it. */
export function writeText(text: string): string {
  return isMarked(text) ? `'${text}` : text
}

function restore(text: string): string {
  return text.startsWith("'") && isMarked(text) ? text.slice(1) : text
}

/** It is written with an apostrophe before it: also one that begins with apostrophes already. */
function isMarked(text: string): boolean {
  return formula.test(text) || parseCollection(text.replace(/^'+/, '')) !== undefined
}

function parseScalar(text: string): boolean | number | undefined {
  if (text === 'true' || text === 'false') return text === 'true'
  return jsonNumber.test(text) ? Number(text) : undefined
}

function parseCollection(text: string): object | undefined {
  if (!text.startsWith('{') && !text.startsWith('[')) return undefined
  try {
    const value: object = JSON.parse(text)
    return isShallow(value, 1) ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return depth <= MAX_DEPTH && Object.values(value).every((item) => isShallow(item, depth + 1))
}
