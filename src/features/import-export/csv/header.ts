/**
 * Assigns the columns of a file to fields.
 *
 * Headers are compared in lower case, without surrounding blanks, and with line breaks as blanks.
 * The first rule that applies decides:
 *   1. the mapping of the request;
 *   2. `email` and `subscribed` are these fields;
 *   3. `data.<key>` is the key as spelled; exports use these names;
 *   4. any other header is a key in lower case.
 * If no column is `email`, columns with another name of the address are (address-column.ts).
 * Columns without a name are ignored, and in an export also `id`, `createdAt` and `updatedAt`.
 *
 * Several columns may have the same field: the first cell of a row that is not blank counts, so
 * that a file that was merged from others loses nothing. A warning says so.
 */
import { FinalFailure } from '../../../jobs/run.ts'
import { isDataKey, RESERVED_KEYS } from '../../contacts/write/data.ts'
import { isAddressColumn } from './address-column.ts'
import { type CellRules, isBlank } from './cell.ts'
import type { RowDamage } from './damage.ts'
import type { Cell, CsvRecord } from './parser.ts'

/** The field for each header in lower case; null ignores the column. */
export type Mapping = readonly (readonly [header: string, field: string | null])[]

export type Header = {
  isOwn: boolean
  /** The indexes of the columns of each field (`email`, `subscribed`, `data.<key>`). */
  columns: ReadonlyMap<string, readonly number[]>
  /** Indexes of columns that are left out on purpose: by the mapping, or as read-only in an export. */
  ignored: ReadonlySet<number>
  /** The line where the header starts. */
  line: number
  /** Sentences for people. */
  warnings: string[]
  damage?: RowDamage
}

export const MAX_COLUMNS = 1000

/** One cell more than the maximum of columns, so that an excess is detected. */
export const RECORD_LIMITS = { maxCells: MAX_COLUMNS + 1, maxLength: 256 * 1024 }

/** The first columns of an export; all others are `data.<key>`. */
export const EXPORT_COLUMNS = ['id', 'email', 'subscribed', 'createdAt', 'updatedAt'] as const

const DATA_PREFIX = 'data.'
const READ_ONLY_COLUMNS = new Set(['id', 'createdat', 'updatedat'])
/** Column names in a text for people, and characters of each. */
const MAX_SHOWN = 10
const MAX_SHOWN_LENGTH = 40

/** Reads the header row. @throws FinalFailure for a file that cannot be imported */
export function readHeader({ cells, problem, line }: CsvRecord, mapping: Mapping): Header {
  if (problem === 'unclosed') throw new FinalFailure('A quote in the header row is never closed.')
  if (problem === 'too-long') {
    const { maxLength } = RECORD_LIMITS
    throw new FinalFailure(`The header row is longer than ${maxLength} characters.`)
  }
  if (cells.length > MAX_COLUMNS) {
    throw new FinalFailure(`The file has more than ${MAX_COLUMNS} columns.`)
  }
  const isOwn = EXPORT_COLUMNS.every((name, index) => cells[index]?.text === name)
  const columns = new Map<string, number[]>()
  const ignored = new Set<number>()
  for (const [index, cell] of cells.entries()) {
    const field = fieldOf(cell, { isOwn, mapping })
    if (field !== undefined) columns.set(field, [...(columns.get(field) ?? []), index])
    else if (normalizeHeader(cell.text) !== '') ignored.add(index)
  }
  if (!columns.has('email')) assignAddressColumns(columns, cells, mapping)
  if (!columns.has('email')) throw new FinalFailure(describeMissingColumn(cells))
  const warnings = [
    ...duplicates(columns),
    ...missingColumns(cells, mapping),
    ...reservedColumns(columns),
  ]
  return { isOwn, columns, ignored, line, warnings }
}

/** Returns the number of cells with a value in no column of the header, or in one without a name. */
export function findDropped({ cells }: CsvRecord, { columns, ignored }: Header): number {
  if (cells.length === 0) return 0
  const taken = new Set([...columns.values()].flat())
  const isDropped = ({ text }: Cell, index: number) =>
    text.trim() !== '' && !taken.has(index) && !ignored.has(index)
  return cells.filter(isDropped).length
}

/** Whether a header is the address column, by its name or by the mapping. */
export function isAddressHeader(text: string, mapping: Mapping): boolean {
  if (fieldOf({ text, isQuoted: false }, { isOwn: false, mapping }) === 'email') return true
  return isOtherAddressName(text, mapping)
}

/** Returns a header in the form in which headers are compared. */
export function normalizeHeader(text: string): string {
  return toLine(text).trim().toLowerCase()
}

/** Joins the lines of a header: spreadsheet programs break long ones. */
function toLine(text: string): string {
  return text.replace(/[\t\n\v\f\r]+/g, ' ')
}

/** Returns the key of a field of a contact's data; undefined for other fields. */
export function keyOf(field: string): string | undefined {
  return field.startsWith(DATA_PREFIX) ? field.slice(DATA_PREFIX.length) : undefined
}

/** Returns the field of a name in a mapping: `plan` and `data.plan` are the same. */
function toField(word: string): string {
  if (word === 'email' || word === 'subscribed') return word
  return word.startsWith(DATA_PREFIX) ? word : DATA_PREFIX + word
}

/** Whether a mapping may use the name; reserved and invalid keys are excluded. */
export function isImportable(word: string): boolean {
  const key = keyOf(toField(word))
  return key === undefined || isDataKey(key)
}

/** Returns the first cell of a field in a row that is not blank. */
export function pickCell(
  { cells }: CsvRecord,
  indexes: readonly number[] | undefined,
  rules: Pick<CellRules, 'isOwn'>,
): Cell | undefined {
  for (const index of indexes ?? []) {
    const cell = cells[index]
    if (cell !== undefined && !isBlank(cell, rules)) return cell
  }
  return undefined
}

/**
 * Whether all cells are blank, as in the rows of delimiters that spreadsheet programs leave behind.
 */
export function isBlankRecord({ cells, problem }: CsvRecord): boolean {
  return problem === undefined && cells.every(({ text }) => text.trim() === '')
}

function fieldOf(
  cell: Cell,
  { isOwn, mapping }: Pick<Header, 'isOwn'> & { mapping: Mapping },
): string | undefined {
  const header = normalizeHeader(cell.text)
  const mapped = mapping.find(([name]) => name === header)
  if (mapped !== undefined) return mapped[1] === null ? undefined : toField(mapped[1])
  if (header === 'email' || header === 'subscribed') return header
  if (header === '' || header === DATA_PREFIX || (isOwn && READ_ONLY_COLUMNS.has(header)))
    return undefined
  if (!header.startsWith(DATA_PREFIX)) return DATA_PREFIX + header
  const line = toLine(cell.text)
  const spelled = isOwn && cell.isQuoted ? line : line.trim()
  return DATA_PREFIX + spelled.slice(DATA_PREFIX.length)
}

/** Whether a header is another name of the address and does not occur in the mapping. */
function isOtherAddressName(text: string, mapping: Mapping): boolean {
  const header = normalizeHeader(text)
  return mapping.every(([name]) => name !== header) && isAddressColumn(header)
}

/** Assigns columns with another name of the address to `email`. */
function assignAddressColumns(
  columns: Map<string, number[]>,
  cells: readonly Cell[],
  mapping: Mapping,
): void {
  const found = cells.flatMap(({ text }, index) =>
    isOtherAddressName(text, mapping) ? [index] : [],
  )
  if (found.length === 0) return
  for (const [field, indexes] of columns) {
    const left = indexes.filter((index) => !found.includes(index))
    if (left.length === 0) columns.delete(field)
    else columns.set(field, left)
  }
  columns.set('email', found)
}

function describeMissingColumn(cells: readonly Cell[]): string {
  const names = cells.slice(0, MAX_SHOWN).map(({ text }) => `"${shorten(text.trim())}"`)
  const more = cells.length > MAX_SHOWN ? ', …' : ''
  const [name = '"Address"'] = names
  return (
    `The header row has no column "email". Its columns: ${names.join(', ')}${more}. ` +
    `If one of them is the address, name it in the field "mapping", as in {${name}: "email"}.`
  )
}

function duplicates(columns: ReadonlyMap<string, readonly number[]>): string[] {
  return [...columns]
    .filter(([, indexes]) => indexes.length > 1)
    .slice(0, MAX_SHOWN)
    .map(([field, { length }]) => {
      const name = shorten(field)
      return `${length} columns are "${name}"; in each row, the first that is not empty counts.`
    })
}

function missingColumns(cells: readonly Cell[], mapping: Mapping): string[] {
  const headers = new Set(cells.map(({ text }) => normalizeHeader(text)))
  return mapping
    .filter(([header]) => !headers.has(header))
    .slice(0, MAX_SHOWN)
    .map(([header]) => `The mapping names a column "${shorten(header)}" that does not exist.`)
}

function reservedColumns(columns: ReadonlyMap<string, readonly number[]>): string[] {
  return [...columns.keys()]
    .filter((field) => RESERVED_KEYS.has(keyOf(field) ?? ''))
    .slice(0, MAX_SHOWN)
    .map(
      (field) =>
        `The column "${shorten(keyOf(field) ?? '')}" is left out: contacts have no such data.`,
    )
}

function shorten(text: string): string {
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text
}
