/**
 * Assigns the columns of a file to fields.
 *
 * Headers are compared in lower case, without surrounding blanks, and with line breaks as blanks.
 * The first rule that applies decides:
 *   1. the mapping of the request;
 *   2. `email` and `subscribed` are these fields; a mapping may name `unsubscribed`, too;
 *   3. `data.<key>` is the key as spelled; exports use these names;
 *   4. any other header is a key in lower case.
 * If no column is `email`, columns with another name of the address are (translated-names.ts).
 * Columns without a name are ignored, and in an export also `id`, `createdAt` and `updatedAt`.
 * Columns that say by their name who left (state-columns.ts) are data as well, unless the mapping names
 * them: it decides alone.
 *
 * Several columns may have the same field: the first cell of a row that is not blank counts, so
 * that a file that was merged from others loses nothing. A warning says so.
 */
import type { FieldWarning } from '../../../../base/errors.ts'
import { MAX_CSV_COLUMNS } from '../../../../records/limits.ts'
import { FinalFailure } from '../../../../work/jobs/run.ts'
import { type CellRules, isBlank } from './cell.ts'
import {
  DATA_PREFIX,
  describeHeader,
  describeMissingColumn,
  findNearNames,
  isMapped,
  keyOf,
  type Mapping,
  normalizeHeader,
  shortenName,
  toField,
  toLine,
} from './column-names.ts'
import type { RowDamage } from './encoding.ts'
import type { Cell, CsvRecord } from './parser.ts'
import { isFileOfPeopleWhoLeft, type StateKind, simplify, stateKindOf } from './state-columns.ts'
import { isAddressColumn } from './translated-names.ts'

/** A column that says who left, with its name in the file. */
export type StateColumn = { index: number; name: string; kind: StateKind }

export type Header = {
  isOwn: boolean
  /** The indexes of the columns of each field (`email`, `subscribed`, `unsubscribed`, `data.<key>`). */
  columns: ReadonlyMap<string, readonly number[]>
  /** The first header of each field of data that the mapping does not name. */
  names: ReadonlyMap<string, string>
  /** The columns that say who left; those of `subscribed` come first. */
  states: readonly StateColumn[]
  /** Fields whose cells may be JSON objects of data, as other services export them. */
  jsonFields: ReadonlySet<string>
  /** Whether the name of the file says that all of its people left. */
  isOfPeopleWhoLeft: boolean
  /** Indexes of columns that are left out on purpose: by the mapping, or as read-only in an export. */
  ignored: ReadonlySet<number>
  /** The line where the header starts. */
  line: number
  /** Sentences for people. */
  warnings: string[]
  /** Columns that contacts cannot have, and names of the mapping that the file does not have. */
  unknownFields: FieldWarning[]
  damage?: RowDamage
}

/** A record may have one cell more than `MAX_CSV_COLUMNS`, so that an excess is detected. */
export const RECORD_LIMITS = { maxCells: MAX_CSV_COLUMNS + 1, maxLength: 256 * 1024 }

/** The first columns of an export; all others are `data.<key>`. */
export const EXPORT_COLUMNS = ['id', 'email', 'subscribed', 'createdAt', 'updatedAt'] as const

const READ_ONLY_COLUMNS = new Set(['id', 'createdat', 'updatedat'])
/** listmonk has `attributes`; Keila has `data`. */
export const JSON_COLUMNS = ['attributes', 'attribs', 'data']

type HeaderRules = { mapping: Mapping; filename: string }

/** Reads the header row. @throws FinalFailure for a file that cannot be imported */
export function readHeader(
  { cells, problem, line }: CsvRecord,
  { mapping, filename }: HeaderRules,
): Header {
  if (problem === 'unclosed') throw new FinalFailure('A quote in the header row is never closed.')
  if (problem === 'too-long') {
    const { maxLength } = RECORD_LIMITS
    throw new FinalFailure(`The header row is longer than ${maxLength} characters.`)
  }
  if (cells.length > MAX_CSV_COLUMNS) {
    throw new FinalFailure(`The file has more than ${MAX_CSV_COLUMNS} columns.`)
  }
  const isOwn = EXPORT_COLUMNS.every((name, index) => cells[index]?.text === name)
  const columns = new Map<string, number[]>()
  const names = new Map<string, string>()
  const ignored = new Set<number>()
  for (const [index, cell] of cells.entries()) {
    const field = fieldOf(cell, { isOwn, mapping })
    if (field !== undefined) columns.set(field, [...(columns.get(field) ?? []), index])
    else if (normalizeHeader(cell.text) !== '') ignored.add(index)
    const isGiven = isMapped(normalizeHeader(cell.text), mapping)
    if (field !== undefined && keyOf(field) !== undefined && !isGiven && !names.has(field)) {
      names.set(field, toLine(cell.text).trim())
    }
  }
  if (!columns.has('email')) assignAddressColumns(columns, cells, mapping)
  if (!columns.has('email')) throw new FinalFailure(describeMissingColumn(cells))
  const states = findStates(columns, { cells, mapping, isOwn })
  const near = isOwn ? [] : findNearNames({ mapping, headers: freeHeaders(cells, mapping, states) })
  const told = describeHeader({ columns, cells, mapping, near })
  const jsonFields = isOwn ? [] : JSON_COLUMNS.filter((name) => !isMapped(name, mapping))
  return {
    ...{
      isOwn,
      columns,
      names: new Map([...names].filter(([field]) => columns.has(field))),
      states,
      ignored,
      line,
      ...told,
    },
    jsonFields: new Set(jsonFields.map((name) => DATA_PREFIX + name)),
    isOfPeopleWhoLeft: !isOwn && isFileOfPeopleWhoLeft(filename, headersOf(cells)),
  }
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
  return !isMapped(header, mapping) && isAddressColumn(header)
}

function headersOf(cells: readonly Cell[]): ReadonlySet<string> {
  return new Set(cells.map(({ text }) => simplify(text)))
}

type StateRules = { cells: readonly Cell[]; mapping: Mapping; isOwn: boolean }

/**
 * Finds the columns that say who left. In an export, these are `subscribed` and the columns that
 * the mapping names.
 */
function findStates(
  columns: ReadonlyMap<string, readonly number[]>,
  { cells, mapping, isOwn }: StateRules,
): StateColumn[] {
  const mapped = new Set(columns.get('unsubscribed') ?? [])
  const headers = headersOf(cells)
  const indexes = columns.get('subscribed') ?? []
  const nameOf = (index: number) => shortenName(toLine(cells[index]?.text ?? '').trim())
  const others = cells.flatMap(({ text }, index): StateColumn[] => {
    const isFree = !indexes.includes(index) && !isMapped(normalizeHeader(text), mapping)
    const found = isFree && !isOwn ? stateKindOf(text, headers) : undefined
    const kind = mapped.has(index) ? 'left' : found
    return kind === undefined ? [] : [{ index, name: nameOf(index), kind }]
  })
  const subscribed = indexes.map(
    (index): StateColumn => ({ index, name: nameOf(index), kind: 'subscribed' }),
  )
  return [...subscribed, ...others]
}

/** Headers that become keys of the data by their own name, and say nothing about who left. */
function freeHeaders(
  cells: readonly Cell[],
  mapping: Mapping,
  states: readonly StateColumn[],
): string[] {
  const taken = new Set(states.map(({ index }) => index))
  const free = cells.filter((_, index) => !taken.has(index))
  return free.map(({ text }) => normalizeHeader(text)).filter((name) => !isMapped(name, mapping))
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
