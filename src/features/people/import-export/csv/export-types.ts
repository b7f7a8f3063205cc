/**
 * The types of the columns of an export of this service. Each cell has its own type: a text that looks like a
 * number or a boolean is in quotes.
 *
 * A program that saves the file again leaves such quotes out. A column without one is of texts if the project
 * has only texts there, or if a number of the column would lose characters, since an export has no such
 * number. It is of booleans, in any spelling, if the project has only booleans there.
 */
import type { ColumnReading } from '../../../../records/import.ts'
import type { ValueKind } from '../../../../store/schema/words.ts'
import { isNumeral, looksTyped, readBoolean, readCell } from './cell.ts'
import { keyOf, shorten } from './column-names.ts'
import { describePlace, MAX_WARNINGS, type Place } from './column-types.ts'
import { type Header, pickCell } from './header.ts'
import type { CsvRecord } from './parser.ts'

type ExportScan = {
  /** A text is in quotes that only an export has. */
  isMarked: boolean
  hasList: boolean
  /** A number or a boolean. */
  hasScalar: boolean
  isBoolean: boolean
  /** The first text that looks like a number. */
  lossy?: Place
}

export type ExportScans = Map<string, ExportScan>

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

/** `kinds`: those of the values that contacts have, by key. Empty columns are `mixed`. */
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
    warnings.push(`The column "${shorten(field)}" ${what}: ${whyLossy(scan.lossy)}.`)
  }
  return { columns: decided, warnings }
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

function whyLossy(place: Place): string {
  return `${describePlace(place)} would lose characters as a number`
}
