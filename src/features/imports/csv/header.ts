/**
 * Which column is what. Headers are compared in lower case without blanks around them, a line break
 * within being a blank. `email` and `subscribed` are themselves; `data.<key>` is that key as it is
 * spelled, which is how exports name them; any other header is a key in lower case. A mapping goes
 * before all that. Where none is `email` so far, the columns that people call by its other names are
 * (`address-column.ts`). Columns without a name are left out, and of a file of our own export those
 * that nobody sets: `id`, `createdAt`, `updatedAt`.
 *
 * Several columns may be the same: of each row the first that is not empty counts, so that nothing
 * is lost of a file that was put together from others; whoever asked is told.
 */
import { FinalFailure } from '../../../jobs/run.ts'
import { isDataKey } from '../../contacts/write/data.ts'
import { isAddressColumn } from './address-column.ts'
import { type CellRules, isBlank } from './cell.ts'
import type { Cell, CsvRecord } from './parser.ts'

/** Header, in lower case, and the field that it is; null leaves the column out. */
export type Mapping = readonly (readonly [header: string, field: string | null])[]

export type Header = {
  isOwn: boolean
  /** By field (`email`, `subscribed`, `data.<key>`), where its columns stand. */
  columns: ReadonlyMap<string, readonly number[]>
  /** For people. */
  warnings: string[]
}

export const MAX_COLUMNS = 1000

/** One cell more than there may be columns, so that one too many is seen. */
export const RECORD_LIMITS = { maxCells: MAX_COLUMNS + 1, maxLength: 256 * 1024 }

/** What an export begins with; all other columns are `data.<key>`. */
export const EXPORT_COLUMNS = ['id', 'email', 'subscribed', 'createdAt', 'updatedAt'] as const

const DATA = 'data.'
const managed = new Set(['id', 'createdat', 'updatedat'])
/** So many names, of so many characters, stand in a text for people. */
const SHOWN = 10
const SHOWN_LENGTH = 40

/** @throws FinalFailure where there can be no row */
export function readHeader({ cells, problem }: CsvRecord, mapping: Mapping): Header {
  if (problem === 'unclosed') throw new FinalFailure('A quote in the header row is never closed.')
  if (problem === 'too-long') {
    const most = RECORD_LIMITS.maxLength
    throw new FinalFailure(`The header row is longer than ${most} characters.`)
  }
  if (cells.length > MAX_COLUMNS) {
    throw new FinalFailure(`The file has more than ${MAX_COLUMNS} columns.`)
  }
  const isOwn = EXPORT_COLUMNS.every((name, index) => cells[index]?.text === name)
  const columns = new Map<string, number[]>()
  for (const [index, cell] of cells.entries()) {
    const field = fieldOf(cell, { isOwn, mapping })
    if (field !== undefined) columns.set(field, [...(columns.get(field) ?? []), index])
  }
  if (!columns.has('email')) findAddresses(columns, cells, mapping)
  if (!columns.has('email')) throw new FinalFailure(noEmail(cells))
  return { isOwn, columns, warnings: [...duplicates(columns), ...strangers(cells, mapping)] }
}

/** Whether a header, by itself or by the mapping, is the address. */
export function isEmailHeader(text: string, mapping: Mapping): boolean {
  if (fieldOf({ text, isQuoted: false }, { isOwn: false, mapping }) === 'email') return true
  return isAddress(text, mapping)
}

/** As headers are compared. */
export function normalizeHeader(text: string): string {
  return toLine(text).trim().toLowerCase()
}

/** Spreadsheet programs break long headers into lines. */
function toLine(text: string): string {
  return text.replace(/[\t\n\v\f\r]+/g, ' ')
}

/** The key that a field of a contact's data is; undefined for other fields. */
export function keyOf(field: string): string | undefined {
  return field.startsWith(DATA) ? field.slice(DATA.length) : undefined
}

/** The field that a mapping's word means: `plan` and `data.plan` are the same. */
function toField(word: string): string {
  if (word === 'email' || word === 'subscribed') return word
  return word.startsWith(DATA) ? word : DATA + word
}

/** Whether a mapping may name it: what nobody can set is no field. */
export function isImportable(word: string): boolean {
  const key = keyOf(toField(word))
  return key === undefined || isDataKey(key)
}

/** The first cell of a field in a row that is not blank. */
export function pick(
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

/** Nothing is in it, as in rows of delimiters that spreadsheet programs leave behind. */
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
  if (header === '' || header === DATA || (isOwn && managed.has(header))) return undefined
  if (!header.startsWith(DATA)) return DATA + header
  const line = toLine(cell.text)
  const spelled = isOwn && cell.isQuoted ? line : line.trim()
  return DATA + spelled.slice(DATA.length)
}

/** By another name; what the mapping speaks of is what the mapping says. */
function isAddress(text: string, mapping: Mapping): boolean {
  const header = normalizeHeader(text)
  return mapping.every(([name]) => name !== header) && isAddressColumn(header)
}

/** Makes the columns that mean the address the address. */
function findAddresses(
  columns: Map<string, number[]>,
  cells: readonly Cell[],
  mapping: Mapping,
): void {
  const found = cells.flatMap(({ text }, index) => (isAddress(text, mapping) ? [index] : []))
  if (found.length === 0) return
  for (const [field, indexes] of columns) {
    const left = indexes.filter((index) => !found.includes(index))
    if (left.length === 0) columns.delete(field)
    else columns.set(field, left)
  }
  columns.set('email', found)
}

function noEmail(cells: readonly Cell[]): string {
  const names = cells.slice(0, SHOWN).map(({ text }) => `"${shorten(text.trim())}"`)
  const more = cells.length > SHOWN ? ', …' : ''
  const [name = '"Address"'] = names
  return (
    `The header row has no column "email". Its columns: ${names.join(', ')}${more}. ` +
    `Where one of them is the address, say so by the field "mapping", as in {${name}: "email"}.`
  )
}

function duplicates(columns: ReadonlyMap<string, readonly number[]>): string[] {
  return [...columns]
    .filter(([, indexes]) => indexes.length > 1)
    .slice(0, SHOWN)
    .map(([field, { length }]) => {
      const name = shorten(field)
      return `${length} columns are "${name}": of each row the first that is not empty counts.`
    })
}

function strangers(cells: readonly Cell[], mapping: Mapping): string[] {
  const headers = new Set(cells.map(({ text }) => normalizeHeader(text)))
  return mapping
    .filter(([header]) => !headers.has(header))
    .slice(0, SHOWN)
    .map(([header]) => `The mapping names a column "${shorten(header)}", which is not there.`)
}

function shorten(text: string): string {
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text
}
