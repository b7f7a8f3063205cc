/**
 * The types of the columns of a file.
 *
 * In a file that is no export of this service, all cells of a column have one type: beside the code
 * 01067, the code 10115 is no number either. The cells are numbers if each can be read as a number
 * without loss and none is in quotes, likewise booleans, and otherwise texts. A field that the
 * project already has keeps its type if the whole column fits, also in quotes. A warning names a
 * column that does not fit, and a column of numbers with more digits than a number of JSON holds.
 *
 * In an export of this service each cell has its own type: a text that looks like a number or a
 * boolean is in quotes. A program that saves the export again leaves such quotes out. The cells of
 * a column without quotes are texts if the project has only texts there, or if a number of the
 * column would lose characters, since an export has no such number. The cells are booleans, in any
 * spelling, if the project has only booleans there.
 */
import type { ColumnReading } from '../../../../records/import.ts'
import type { ValueKind } from '../../../../store/schema/words.ts'
import {
  type ColumnType,
  isHugeNumber,
  isNumeral,
  looksTyped,
  readBoolean,
  readCell,
  readNumber,
} from './cell.ts'
import { keyOf, shortenName } from './column-names.ts'
import { type Header, pickCell } from './header.ts'
import type { CsvRecord } from './parser.ts'

type CellPlace = { line: number; text: string }

type ColumnScan = {
  cells: number
  numbers: number
  booleans: number
  /** The first cell of each of these kinds, for a warning. */
  quoted?: CellPlace
  notNumber?: CellPlace
  notBoolean?: CellPlace
  huge?: CellPlace
}

export type ColumnScans = Map<string, ColumnScan>

const MAX_WARNINGS = 10

type Decided = {
  field: string
  kind: ValueKind | undefined
  reason: string | null
  scan: ColumnScan
}

type ExportScan = {
  /** Whether some text is in quotes that only an export writes. */
  isMarked: boolean
  hasList: boolean
  /** Whether some cell is a number or a boolean. */
  hasScalar: boolean
  isBoolean: boolean
  /** The first text without quotes that looks like a number but would lose characters as one. */
  lossy?: CellPlace
}

export type ExportScans = Map<string, ExportScan>

/** Adds the cells of a record. */
export function scanRecord(scans: ColumnScans, record: CsvRecord, header: Header): void {
  for (const [field, indexes] of header.columns) {
    const cell = keyOf(field) === undefined ? undefined : pickCell(record, indexes, header)
    if (cell === undefined) continue
    const text = cell.text.trim()
    const place = { line: record.line, text }
    const scan = scans.get(field) ?? { cells: 0, numbers: 0, booleans: 0 }
    scans.set(field, scan)
    scan.cells += 1
    if (cell.isQuoted) scan.quoted ??= place
    if (readNumber(text) === undefined) scan.notNumber ??= place
    else scan.numbers += 1
    if (readBoolean(text) === undefined) scan.notBoolean ??= place
    else scan.booleans += 1
    if (isHugeNumber(text)) scan.huge ??= place
  }
}

/**
 * Decides the types of the columns of a file that is no export. `kinds`: by key, the kinds of the
 * values that contacts have; only the last one counts, which most values have.
 */
export function decideTypes(
  scans: ColumnScans,
  kinds: ReadonlyMap<string, readonly ValueKind[]>,
): { columns: ColumnReading[]; warnings: string[] } {
  const columns: ColumnReading[] = []
  const warnings: string[] = []
  for (const [field, scan] of scans) {
    const key = keyOf(field) ?? ''
    // `no` is Norwegian, not false.
    const kind = key === 'locale' ? 'string' : kinds.get(key)?.at(-1)
    const type = decideType(scan, kind)
    const reason = type === 'text' ? whyText(scan, kind) : null
    columns.push({ field, type, reason })
    const warning = type === 'text' ? findWarning({ field, kind, reason, scan }) : undefined
    if (warning !== undefined && warnings.length < MAX_WARNINGS) warnings.push(warning)
  }
  return { columns, warnings }
}

/** Adds the cells of a record. */
export function scanExported(scans: ExportScans, record: CsvRecord, header: Header): void {
  for (const [field, indexes] of header.columns) {
    const cell = keyOf(field) === undefined ? undefined : pickCell(record, indexes, header)
    if (cell === undefined) continue
    const { text, isQuoted } = cell
    const scan = scans.get(field) ?? {
      ...{ isMarked: false, hasList: false, hasScalar: false, isBoolean: true },
    }
    scans.set(field, scan)
    const value = readCell(cell, { isOwn: true, type: 'mixed' })
    if (isQuoted && looksTyped(text)) scan.isMarked = true
    if (typeof value === 'object') scan.hasList = true
    else if (typeof value !== 'string') scan.hasScalar = true
    else if (!isQuoted && isNumeral(text)) scan.lossy ??= { line: record.line, text }
    if (readBoolean(text) === undefined) scan.isBoolean = false
  }
}

/**
 * Decides the types of the columns of an export. `kinds`: by key, the kinds of the values that
 * contacts have. Empty columns are `mixed`.
 */
export function decideExportTypes(
  scans: ExportScans,
  { columns }: Header,
  kinds: ReadonlyMap<string, readonly ValueKind[]>,
): { columns: ColumnReading[]; warnings: string[] } {
  const decided: ColumnReading[] = []
  const warnings: string[] = []
  for (const field of columns.keys()) {
    const key = keyOf(field)
    if (key === undefined) continue
    const scan = scans.get(field)
    const reading = decide(scan, kinds.get(key) ?? [])
    decided.push({ field, ...reading })
    if (scan?.lossy === undefined || warnings.length === MAX_WARNINGS) continue
    const what = reading.type === 'text' ? 'is read as text' : 'has texts among its numbers'
    warnings.push(`The column "${shortenName(field)}" ${what}: ${whyLossy(scan.lossy)}.`)
  }
  return { columns: decided, warnings }
}

function decideType(scan: ColumnScan, kind: ValueKind | undefined): ColumnType {
  const isNumeric = scan.notNumber === undefined
  const isBoolean = scan.notBoolean === undefined
  if (kind === 'number') return isNumeric ? 'number' : 'text'
  if (kind === 'boolean') return isBoolean ? 'boolean' : 'text'
  if (kind === 'string' || kind === 'date' || scan.quoted !== undefined) return 'text'
  return isNumeric ? 'number' : isBoolean ? 'boolean' : 'text'
}

function whyText(scan: ColumnScan, kind: ValueKind | undefined): string | null {
  const isOfNumbers = kind === 'number' || (kind !== 'boolean' && scan.numbers >= scan.booleans)
  const misfit = isOfNumbers ? scan.notNumber : scan.notBoolean
  const isOther = scan.numbers === 0 && scan.booleans === 0 && scan.huge === undefined
  if (isOther && kind !== 'number' && kind !== 'boolean') return null
  if (kind === 'string' || kind === 'date') return 'other contacts have texts there'
  if (scan.huge !== undefined)
    return `${describePlace(scan.huge)} has more digits than a number keeps`
  if (misfit === undefined) {
    return scan.quoted === undefined ? null : `${describePlace(scan.quoted)} is in quotes`
  }
  if (!isOfNumbers) return `${describePlace(misfit)} is neither true nor false`
  const isLossy = misfit.text !== '' && Number.isFinite(Number(misfit.text))
  return isLossy
    ? `${describePlace(misfit)} would lose characters as a number`
    : `${describePlace(misfit)} is no number`
}

function findWarning({ field, kind, reason, scan }: Decided): string | undefined {
  const name = `The column "${shortenName(field)}" is read as text`
  if (kind === 'number' || kind === 'boolean') {
    return `${name}, though other contacts have a ${kind} there: ${reason}.`
  }
  return scan.huge === undefined || kind !== undefined ? undefined : `${name}: ${reason}.`
}

function describePlace({ line, text }: CellPlace): string {
  return `"${shortenName(text)}" in line ${line}`
}

function decide(
  scan: ExportScan | undefined,
  kinds: readonly ValueKind[],
): Omit<ColumnReading, 'field'> {
  const mixed = { type: 'mixed', reason: null } as const
  if (scan === undefined || scan.isMarked || scan.hasList) return mixed
  if (scan.lossy !== undefined) return { type: 'text', reason: whyLossy(scan.lossy) }
  const isKnown = kinds.length > 0
  if (isKnown && scan.hasScalar && kinds.every((kind) => kind === 'string' || kind === 'date')) {
    return { type: 'text', reason: 'other contacts have texts there' }
  }
  const isBoolean = isKnown && scan.isBoolean && kinds.every((kind) => kind === 'boolean')
  return isBoolean ? { type: 'boolean', reason: null } : mixed
}

function whyLossy(place: CellPlace): string {
  return `${describePlace(place)} would lose characters as a number`
}
