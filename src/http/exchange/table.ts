/**
 * Responses that are JSON, or CSV (RFC 4180, UTF-8) for a client that prefers it. Text that a spreadsheet
 * program would take for a formula is escaped, as in every export.
 */
import { parseAccept } from 'hono/utils/accept'
import { writeText } from '../../features/people/import-export/csv/cell.ts'
import { writeRecord } from '../../features/people/import-export/csv/writer.ts'
import type { HttpResponse } from '../response.ts'
import { largeJson } from './large-json.ts'

export type Table = {
  /** The file that a browser saves, without `.csv`. */
  name: string
  columns: readonly string[]
  /** Each row has the columns; null is an empty cell. */
  rows: readonly Readonly<Record<string, unknown>>[]
}

type MediaRange = ReturnType<typeof parseAccept>[number]

export const CSV_TYPE = 'text/csv'

const VARY = { vary: 'Accept' }

/**
 * Whether a client prefers `type` to JSON. JSON is for clients that take both equally, that take anything,
 * or that name neither (RFC 9110, section 12.5.1).
 */
export function prefers(type: string, accept: string | undefined): boolean {
  if (accept === undefined) return false
  const ranges = parseAccept(accept)
  return qualityOf(type, ranges) > qualityOf('application/json', ranges)
}

/** `accept`: the header field of the request. */
export function jsonOrTable(
  accept: string | undefined,
  value: object,
  toTable: () => Table,
): HttpResponse {
  if (prefers(CSV_TYPE, accept)) return csvResponse(toTable())
  return varyingByType(largeJson(200, value))
}

/** Adds `Vary`: clients that prefer CSV get this response as a table. */
export function varyingByType(response: HttpResponse): HttpResponse {
  return { ...response, headers: { ...response.headers, ...VARY } }
}

/**
 * Returns a table with one row: the fields of a record. The fields of an object in it are named
 * `object.field`.
 */
export function recordTable(name: string, record: object): Table {
  const cells = Object.entries(record).flatMap(([field, value]): [string, unknown][] =>
    typeof value === 'object' && value !== null
      ? Object.entries(value).map(([inner, own]) => [`${field}.${inner}`, own])
      : [[field, value]],
  )
  return { name, columns: cells.map(([column]) => column), rows: [Object.fromEntries(cells)] }
}

export function csvResponse({ name, columns, rows }: Table): HttpResponse {
  const records = rows.map((row) => columns.map((column) => toCell(row[column])))
  return {
    status: 200,
    body: new TextEncoder().encode(
      [columns, ...records].map((cells) => writeRecord(cells)).join(''),
    ),
    headers: {
      ...VARY,
      'content-type': `${CSV_TYPE}; charset=utf-8`,
      'content-disposition': `attachment; filename="${name}.csv"`,
    },
  }
}

function toCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? writeText(value) : String(value)
}

/**
 * Returns the quality of a type: that of the most specific range that matches, or 0 if none
 * matches.
 */
function qualityOf(type: string, ranges: readonly MediaRange[]): number {
  const [group = ''] = type.split('/')
  for (const wanted of [type, `${group}/*`, '*/*']) {
    const found = ranges.find((range) => range.type.toLowerCase() === wanted)
    if (found !== undefined) return found.q
  }
  return 0
}
