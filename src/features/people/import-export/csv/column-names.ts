/**
 * Turns the names of columns, in a header or a mapping, into fields of contacts, and warns of
 * columns that may be read otherwise than they are meant, of names that cannot be used, and of
 * names that resemble a field: a column `subscribd`, or one that is mapped to this name, becomes a
 * key of the data and unsubscribes no contact. A misspelt `email` is an error of its own.
 */
import type { FieldWarning } from '../../../../base/errors.ts'
import { findClosest } from '../../../../config/layers/closest.ts'
import { isDataKey, RESERVED_KEYS } from '../../contacts/write/data.ts'
import type { Cell } from './parser.ts'

/** The field for each header in lower case; null ignores the column. */
export type Mapping = readonly (readonly [header: string, field: string | null])[]

export const DATA_PREFIX = 'data.'

const NO_SUCH_DATA = 'Contacts have no such data, so the column is left out'
/** The number of column names that a warning lists. */
const MAX_SHOWN = 10

type DescribedHeader = {
  /** The columns of each field. */
  columns: ReadonlyMap<string, readonly number[]>
  cells: readonly Cell[]
  mapping: Mapping
  /** Warnings about names that resemble known ones. */
  near: readonly FieldWarning[]
}

const STATES = ['subscribed', 'unsubscribed']
/** `locale` is the one key of the data that the service reads. */
const READ_NAMES = [...STATES, 'locale']
/** Names that resemble one of `READ_NAMES` but mean something else. */
const LOOKALIKE_NAMES = [
  'subscriber',
  'subscribers',
  'locate',
  'scale',
  'local',
  'locals',
  'vocal',
  'focal',
]

const MAX_WARNINGS = 10
/** A longer name resembles none of `READ_NAMES`, and takes long to compare. */
const MAX_NAME_LENGTH = 20

type Names = {
  mapping: readonly (readonly [header: string, field: string | null])[]
  /** Headers in lower case that the mapping does not name and that say nothing of the subscription. */
  headers: readonly string[]
}

/** Returns a header in the form in which headers are compared. */
export function normalizeHeader(text: string): string {
  return toLine(text).trim().toLowerCase()
}

/** Joins the lines of a header: spreadsheet programs break long ones. */
export function toLine(text: string): string {
  return text.replace(/[\t\n\v\f\r]+/g, ' ')
}

/** Returns the key of a field of a contact's data; undefined for other fields. */
export function keyOf(field: string): string | undefined {
  return field.startsWith(DATA_PREFIX) ? field.slice(DATA_PREFIX.length) : undefined
}

/** Returns the field of a name in a mapping: `plan` and `data.plan` are the same. */
export function toField(word: string): string {
  if (word === 'email' || word === 'subscribed' || word === 'unsubscribed') return word
  return word.startsWith(DATA_PREFIX) ? word : DATA_PREFIX + word
}

/** Whether a mapping may use the name; reserved and invalid keys are excluded. */
export function isImportable(word: string): boolean {
  const key = keyOf(toField(word))
  return key === undefined || isDataKey(key)
}

export function isMapped(header: string, mapping: Mapping): boolean {
  return mapping.some(([name]) => name === header)
}

/** Shortens a name to `length` characters and an ellipsis, for a text for people. */
export function shortenName(text: string, length = 40): string {
  return text.length > length ? `${text.slice(0, length)}…`.toWellFormed() : text
}

/** Returns the warnings of a header; `warnings` are sentences for people. */
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
  const names = cells.slice(0, MAX_SHOWN).map(({ text }) => `"${shortenName(text.trim())}"`)
  const more = cells.length > MAX_SHOWN ? ', …' : ''
  const [name = '"Address"'] = names
  return (
    `The header row has no column "email". Its columns: ${names.join(', ')}${more}. ` +
    `If one of them is the address, name it in the field "mapping", as in {${name}: "email"}.`
  )
}

export function findNearNames({ mapping, headers }: Names): FieldWarning[] {
  const mapped = mapping.flatMap(([header, field]) => {
    const near = field === null ? undefined : nearest(field, READ_NAMES)
    return near === undefined ? [] : [warningOf(`mapping.${header}`, field ?? '', near)]
  })
  const columns = headers.flatMap((header) => {
    const near = nearest(header, STATES)
    return near === undefined ? [] : [warningOf(header, header, near)]
  })
  return [...mapped, ...columns].slice(0, MAX_WARNINGS)
}

function duplicates(columns: ReadonlyMap<string, readonly number[]>): string[] {
  return [...columns]
    .filter(([, indexes]) => indexes.length > 1)
    .slice(0, MAX_SHOWN)
    .map(([field, { length }]) => {
      const name = shortenName(field)
      return `${length} columns are "${name}"; in each row, the first that is not empty counts.`
    })
}

function missingColumns(cells: readonly Cell[], mapping: Mapping): string[] {
  const headers = new Set(cells.map(({ text }) => normalizeHeader(text)))
  return mapping
    .filter(([header]) => !headers.has(header))
    .slice(0, MAX_SHOWN)
    .map(([header]) => shortenName(header))
}

function missingFrom(name: string, cells: readonly Cell[]): FieldWarning {
  const meant = findClosest(
    name,
    cells.map(({ text }) => shortenName(normalizeHeader(text))),
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
    .map((key) => shortenName(key))
}

function nearest(name: string, fields: readonly string[]): string | undefined {
  const lower = name.toLowerCase()
  const known =
    lower.length > MAX_NAME_LENGTH || LOOKALIKE_NAMES.includes(lower) || fields.includes(name)
  return known ? undefined : findClosest(lower, fields)
}

function warningOf(field: string, key: string, near: string): FieldWarning {
  const message = `The column becomes the key "${key}" of the data; did you mean ${near}?`
  return { field, message, suggestion: near }
}
