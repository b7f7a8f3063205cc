/**
 * Reads a file once before its import: the types of its columns, what of it is damaged or left out, and how
 * its columns differ from the fields that the contacts of the project have. The result is stored with the
 * first rows, so that a resumed import reads the rest of the file in the same way, also when its own rows
 * have given the project new fields.
 */
import { setImmediate } from 'node:timers/promises'
import type { FieldWarning } from '../../../base/errors.ts'
import type { ColumnReading, FileDamage, StateWord } from '../../../records/import.ts'
import { listOf } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import type { ValueKind } from '../../../store/schema/words.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'
import { keyOf, shortenName } from './csv/column-names.ts'
import {
  type ColumnScans,
  decideExportTypes,
  decideTypes,
  type ExportScans,
  scanExported,
  scanRecord,
} from './csv/column-types.ts'
import { findDropped, type Header } from './csv/header.ts'
import {
  findMixedColumns,
  type JsonColumnScans,
  keysOfObjects,
  scanJsonData,
} from './csv/json-data.ts'
import type { CsvRecord } from './csv/parser.ts'
import { describeStates, type StateScan, scanStates } from './csv/row-state.ts'
import type { ImportPayload } from './import-file.ts'
import { readRows } from './read-rows.ts'

type FileScan = {
  /** Rows below the header. */
  fileRows: number
  columns: ColumnReading[]
  damage: FileDamage
  warnings: string[]
  unknownFields: FieldWarning[]
  /** The words that say who gets mail. */
  stateWords: StateWord[]
}

export type ScanRules = {
  /** Whether the rows are contacts, so that columns have types and may say who gets mail. */
  areContacts: boolean
  /** Whether the import will shorten a value of the row. */
  isCut(record: CsvRecord, header: Header): boolean
}

type Scan = ScanRules & { projectId: string; payload: ImportPayload; signal: AbortSignal }

export const NO_DAMAGE: FileDamage = {
  guessedRows: 0,
  replacedCharacters: 0,
  droppedCells: 0,
  cutFields: 0,
}

/** The number of rows that are looked at before other work runs. */
const ROWS_AT_ONCE = 1_000

/** The number of lines that a warning lists. */
const MAX_LINES = 10

/** A number of faults, with the first lines that have one. */
type Count = { count: number; lines: number[] }

const selectKinds = statement<{ key: string; kind: ValueKind; contacts: number }>(
  () => sql`select key, kind, contacts from contact_fields
    where project_id = ${parameter('projectId')} and contacts > 0 and kind <> 'other'
      and key in ${listOf(parameter('keys'))}
    order by contacts, kind`,
)

/** The maximum number of warnings about one file. */
const MAX_WARNINGS = 10

/** Lists the keys of the project's data, the key of the most contacts first. */
const listKeys = statement<{ key: string; contacts: number }>(
  () => sql`select key, sum(contacts) as contacts from contact_fields
    where project_id = ${parameter('projectId')} and contacts > 0
    group by key order by contacts desc, key`,
)

type NamedColumns = {
  projectId: string
  /** By field, the header of its first column; without columns that the mapping names. */
  names: ReadonlyMap<string, string>
}

/** @throws FinalFailure for a file without a usable header; the signal's reason when it aborts */
export async function scanFile(
  deps: Pick<Base, 'store'>,
  { projectId, payload, signal, areContacts, isCut }: Scan,
): Promise<FileScan> {
  const scans: ColumnScans = new Map()
  const exported: ExportScans = new Map()
  const states: StateScan = new Map()
  const json: JsonColumnScans = new Map()
  const counts = { guessed: none(), replaced: none(), dropped: none(), cut: none() }
  let known: Header | undefined
  let guessedEncoding: string | undefined
  let fileRows = 0
  for await (const { header, rows, encoding } of readRows(deps, payload)) {
    signal.throwIfAborted()
    guessedEncoding = encoding.isGuessed ? encoding.name.toUpperCase() : undefined
    if (known === undefined) addDamage(counts, header.line, header.damage)
    known = header
    fileRows += rows.length
    for (const [at, { record, damage }] of rows.entries()) {
      if (at > 0 && at % ROWS_AT_ONCE === 0) await setImmediate()
      addDamage(counts, record.line, damage)
      if (record.problem !== undefined) continue
      add(counts.dropped, record.line, findDropped(record, header))
      if (isCut(record, header)) add(counts.cut, record.line, 1)
      if (areContacts) scanStates(states, record, header)
      if (!areContacts || payload.areStrings) continue
      scanJsonData(json, record, header)
      if (header.isOwn) scanExported(exported, record, header)
      else scanRecord(scans, record, header)
    }
  }
  const { columns, warnings } = await decide(deps, { projectId, payload, known, scans, exported })
  const { words, warnings: stateWarnings } = describeStates(states, areContacts ? known : undefined)
  const names = areContacts && known?.isOwn === false ? known.names : new Map<string, string>()
  return {
    fileRows,
    columns: areContacts ? columns.map((column) => markJson(column, json)) : [],
    damage: {
      guessedRows: counts.guessed.count,
      replacedCharacters: counts.replaced.count,
      droppedCells: counts.dropped.count,
      cutFields: counts.cut.count,
    },
    warnings: [
      ...(known?.warnings ?? []),
      ...stateWarnings,
      ...(await findOtherCases(deps, { projectId, names })),
      ...describeDamage(counts, guessedEncoding),
      ...(known === undefined ? [] : describeMixed(json, known)),
      ...warnings,
    ],
    unknownFields: [...(payload.unknownFields ?? []), ...(known?.unknownFields ?? [])],
    stateWords: words,
  }
}

type Scanned = Pick<Scan, 'projectId' | 'payload'> & {
  known: Header | undefined
  scans: ColumnScans
  exported: ExportScans
}

async function decide(
  deps: Pick<Base, 'store'>,
  { projectId, payload, known, scans, exported }: Scanned,
): Promise<{ columns: ColumnReading[]; warnings: string[] }> {
  if (known === undefined) return { columns: [], warnings: [] }
  if (payload.areStrings) return { columns: textColumns(known), warnings: [] }
  const keys = [...scans.keys(), ...exported.keys()].map((field) => keyOf(field) ?? '')
  const kinds = await findKnownKinds(deps, { projectId, keys })
  return known.isOwn ? decideExportTypes(exported, known, kinds) : decideTypes(scans, kinds)
}

function markJson(column: ColumnReading, json: JsonColumnScans): ColumnReading {
  const keys = keysOfObjects(json, column.field)
  return keys === undefined ? column : { ...column, type: 'json', reason: null, keys }
}

function textColumns({ columns }: Header): ColumnReading[] {
  const fields = [...columns.keys()].filter((field) => keyOf(field) !== undefined)
  return fields.map((field) => ({ field, type: 'text', reason: null }))
}

function none(): Count {
  return { count: 0, lines: [] }
}

function add(to: Count, line: number, count: number): void {
  if (count === 0) return
  to.count += count
  to.lines.push(line)
}

type Counts = { guessed: Count; replaced: Count; dropped: Count; cut: Count }

function addDamage(
  { guessed, replaced }: Counts,
  line: number,
  damage: { isGuessed: boolean; replaced: number } | undefined,
): void {
  if (damage === undefined) return
  if (damage.isGuessed) add(guessed, line, 1)
  add(replaced, line, damage.replaced)
}

function describeDamage(
  { guessed, replaced, dropped, cut }: Counts,
  guessedEncoding: string | undefined,
): string[] {
  const guess = 'which is a guess'
  return [
    ...(guessedEncoding === undefined
      ? []
      : [`The file has no byte order mark and was read as ${guessedEncoding}, ${guess}.`]),
    ...describe(guessed, {
      one: `1 row is no UTF-8 and was read as Windows-1252, ${guess}`,
      many: `rows are no UTF-8 and were read as Windows-1252, ${guess}`,
    }),
    ...describe(replaced, {
      one: '1 character could not be read and became U+FFFD',
      many: 'characters could not be read and became U+FFFD',
    }),
    ...describe(dropped, {
      one: '1 cell is left out, because its column has no name',
      many: 'cells are left out, because their columns have no name',
    }),
    ...describe(cut, {
      one: '1 value was too long and is shortened',
      many: 'values were too long and are shortened',
    }),
  ]
}

function describeMixed(json: JsonColumnScans, header: Header): string[] {
  return findMixedColumns(json, header).flatMap(({ name, lines }) => {
    const of = `of the column "${shortenName(name)}"`
    return describe(
      { count: lines.length, lines },
      {
        one: `1 cell ${of} is no JSON object and becomes a text, not keys of the data`,
        many: `cells ${of} are no JSON objects and become texts, not keys of the data`,
      },
    )
  })
}

function describe({ count, lines }: Count, { one, many }: { one: string; many: string }): string[] {
  if (count === 0) return []
  const shown = lines.slice(0, MAX_LINES).join(', ')
  const more = lines.length > MAX_LINES ? ` and ${lines.length - MAX_LINES} more` : ''
  const where = lines.length === 1 ? 'line' : 'lines'
  return [`${count === 1 ? one : `${count} ${many}`}: ${where} ${shown}${more}.`]
}

/**
 * Returns the kinds of values by key, the kind of most values last. Lists and objects do not count:
 * only an export can have them.
 */
async function findKnownKinds(
  { store }: Pick<Base, 'store'>,
  { projectId, keys }: { projectId: string; keys: readonly string[] },
): Promise<Map<string, ValueKind[]>> {
  const rows = await store.read.list(selectKinds, { projectId, keys: JSON.stringify(keys) })
  const kinds = new Map<string, ValueKind[]>()
  for (const { key, kind } of rows) kinds.set(key, [...(kinds.get(key) ?? []), kind])
  return kinds
}

/**
 * Returns a warning, as a sentence, for each column whose key differs only in letter case from a
 * key that more contacts have: `Vorname` becomes `vorname`, and templates that print `Vorname` do
 * not change.
 */
async function findOtherCases(
  { store }: Pick<Base, 'store'>,
  { projectId, names }: NamedColumns,
): Promise<string[]> {
  if (names.size === 0) return []
  const mostUsed = new Map<string, string>()
  for (const { key } of await store.scan.list(listKeys, { projectId })) {
    const lower = key.toLowerCase()
    if (!mostUsed.has(lower)) mostUsed.set(lower, key)
  }
  const warnings: string[] = []
  for (const [field, name] of names) {
    const key = keyOf(field) ?? ''
    const other = mostUsed.get(key.toLowerCase())
    if (other === undefined || other === key) continue
    warnings.push(
      `The column "${name}" becomes the key "${key}"; contacts have the key "${other}": ` +
        `map ${JSON.stringify({ [name]: other })} to fill it.`,
    )
    if (warnings.length === MAX_WARNINGS) break
  }
  return warnings
}
