/**
 * Reads a cell with a JSON object of data, such as the column `attributes` of listmonk: the keys of
 * the object become keys of the contact's data. Any other text in such a column stays a text. Null
 * and empty texts change nothing, as empty cells do.
 */
import { parseJsonText } from '../../../../base/json-text.ts'
import { keyOf, shortenName } from './column-names.ts'
import { type Header, pickCell } from './header.ts'
import type { Cell, CsvRecord } from './parser.ts'

type ColumnScan = {
  /** The first keys of the objects so far. */
  keys: Set<string>
  hasObject: boolean
  /** Whether some cell that is no object begins like one. */
  hasLikeObject: boolean
  /** The lines of the cells that are no objects. */
  textLines: number[]
}

/** By the field of the column. */
export type JsonColumnScans = Map<string, ColumnScan>

/** A column of objects that has other texts, with the lines of these. */
type MixedColumn = { name: string; lines: number[] }

/** The number of keys of a column that are listed. */
const MAX_KEYS = 50
/** The number of characters of a key in the list. */
const MAX_SHOWN_LENGTH = 60

/** Adds the cells of a record. */
export function scanJsonData(scan: JsonColumnScans, record: CsvRecord, header: Header): void {
  for (const field of header.jsonFields) {
    const cell = pickCell(record, header.columns.get(field), header)
    if (cell === undefined) continue
    let column = scan.get(field)
    if (column === undefined) {
      column = { keys: new Set(), hasObject: false, hasLikeObject: false, textLines: [] }
      scan.set(field, column)
    }
    addCell(column, cell, record.line)
  }
}

function addCell(column: ColumnScan, cell: Cell, line: number): void {
  const entries = readJsonData(cell)
  if (entries === undefined) {
    column.textLines.push(line)
    column.hasLikeObject ||= isLikeObject(cell)
    return
  }
  column.hasObject = true
  const { keys } = column
  for (const [key] of entries.slice(0, MAX_KEYS))
    if (keys.size < MAX_KEYS) keys.add(shortenName(key, MAX_SHOWN_LENGTH))
}

/** Returns the first keys of the objects of a column; undefined without an object. */
export function keysOfObjects(scan: JsonColumnScans, field: string): string[] | undefined {
  const column = scan.get(field)
  return column?.hasObject ? [...column.keys] : undefined
}

/**
 * Returns the columns with texts that are no objects, unless no text of the column is an object or
 * begins like one.
 */
export function findMixedColumns(
  scan: JsonColumnScans,
  { names }: Pick<Header, 'names'>,
): MixedColumn[] {
  return [...scan].flatMap(([field, { hasObject, hasLikeObject, textLines }]) => {
    if (textLines.length === 0 || !(hasObject || hasLikeObject)) return []
    return [{ name: names.get(field) ?? keyOf(field) ?? field, lines: textLines }]
  })
}

/** Returns the keys and values of an object; undefined for another text. */
export function readJsonData({ text }: Pick<Cell, 'text'>): [string, unknown][] | undefined {
  if (!isLikeObject({ text })) return undefined
  try {
    const entries = Object.entries(parseJsonText(text.trim()) as object)
    return entries.filter(([, value]) => value !== null)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function isLikeObject({ text }: Pick<Cell, 'text'>): boolean {
  return text.trimStart().startsWith('{')
}
