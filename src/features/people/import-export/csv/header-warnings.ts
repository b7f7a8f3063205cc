/** What an import says of a header: columns that are not read as they seem, and names that do not fit. */

import type { FieldWarning } from '../../../../base/errors.ts'
import { findClosest } from '../../../../config/layers/closest.ts'
import { RESERVED_KEYS } from '../../contacts/write/data.ts'
import { keyOf, type Mapping, normalizeHeader, shorten } from './column-names.ts'
import type { Cell } from './parser.ts'

const NO_SUCH_DATA = 'Contacts have no such data, so the column is left out'
/** Column names in a text for people. */
const MAX_SHOWN = 10

type DescribedHeader = {
  /** The columns of each field. */
  columns: ReadonlyMap<string, readonly number[]>
  cells: readonly Cell[]
  mapping: Mapping
  /** Names that are like known ones. */
  near: readonly FieldWarning[]
}

/** `warnings`: sentences for people. */
export function describeHeader({ columns, cells, mapping, near }: DescribedHeader): {
  warnings: string[]
  unknownFields: FieldWarning[]
} {
  const missing = missingColumns(cells, mapping)
  const reserved = reservedColumns(columns)
  const unknownFields = [
    ...near,
    ...missing.map((name) => missingFrom(name, cells)),
    ...reserved.map((field) => ({ field, message: NO_SUCH_DATA, suggestion: null })),
  ]
  const warnings = [
    ...duplicates(columns),
    ...missing.map((name) => `The mapping names a column "${name}" that does not exist.`),
    ...reserved.map((name) => `The column "${name}" is left out: contacts have no such data.`),
    ...near.map(({ field, message }) => `${field}: ${message}`),
  ]
  return { warnings, unknownFields }
}

export function describeMissingColumn(cells: readonly Cell[]): string {
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
    .map(([header]) => shorten(header))
}

function missingFrom(name: string, cells: readonly Cell[]): FieldWarning {
  const meant = findClosest(
    name,
    cells.map(({ text }) => shorten(normalizeHeader(text))),
  )
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`
  const message = `The file has no such column${hint}`
  return { field: `mapping.${name}`, message, suggestion: meant ?? null }
}

function reservedColumns(columns: ReadonlyMap<string, readonly number[]>): string[] {
  return [...columns.keys()]
    .map((field) => keyOf(field) ?? '')
    .filter((key) => RESERVED_KEYS.has(key))
    .slice(0, MAX_SHOWN)
    .map((key) => shorten(key))
}
