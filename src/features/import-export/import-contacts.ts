/** Imports rows as contacts: a row with a known address changes its contact, others create one. */
import { invalidField } from '../../errors.ts'
import type { RunningJob } from '../../jobs/run.ts'
import type { ParsedAddress } from '../../mail/address/address.ts'
import { parseShownAddress } from '../../mail/address/named-mailbox.ts'
import type { Base } from '../base.ts'
import { parseData } from '../contacts/write/data.ts'
import type { ContactEntry } from '../contacts/write/upsert.ts'
import { upsertValidContacts } from '../contacts/write/upsert.ts'
import { type ColumnType, readCell, readCellText } from './csv/cell.ts'
import type { ColumnReading } from './csv/column-types.ts'
import { type Header, keyOf, pickCell } from './csv/header.ts'
import type { CsvRecord } from './csv/parser.ts'
import type { ImportPayload } from './import-file.ts'
import { type RowError, type RowHandler, runImport, type Tally } from './run.ts'
import type { FileDamage } from './scan.ts'

export type ImportResult = {
  totalRows: number
  successCount: number
  createdCount: number
  /** Rows with a known address, also those that changed nothing. */
  updatedCount: number
  failureCount: number
  errors: RowError[]
  warnings: string[]
  columns: ColumnReading[]
  damage: FileDamage
}

export type ContactImportResult = ImportResult & {
  /** Rows that would have subscribed a person who left: the contact stays unsubscribed. */
  keptUnsubscribedCount: number
}

type Deps = Pick<Base, 'store' | 'now'>

/** Runs the job. @throws FinalFailure for a file that cannot be read */
export async function importContacts(deps: Deps, job: RunningJob): Promise<ContactImportResult> {
  const tally = await runImport(deps, job, contactHandler(deps, job))
  return { ...toResult(tally), keptUnsubscribedCount: tally.keptUnsubscribedCount ?? 0 }
}

/** The counts under the names of the API. */
export function toResult({ rows, newCount, knownCount, ...tally }: Tally): ImportResult {
  return {
    totalRows: rows,
    successCount: newCount + knownCount,
    createdCount: newCount,
    updatedCount: knownCount,
    failureCount: tally.failureCount,
    errors: tally.errors,
    warnings: tally.warnings,
    columns: tally.columns,
    damage: tally.damage,
  }
}

function contactHandler({ now }: Pick<Deps, 'now'>, job: RunningJob): RowHandler<ContactEntry> {
  const projectId = job.projectId ?? ''
  const { subscribed: subscribedByDefault, resubscribe } = job.payload as ImportPayload
  const newWish = resubscribe === true ? 'always' : undefined
  return {
    hasTypes: true,
    isCut: () => false,
    read: (record, { header, typeOf }) => ({
      address: readAddress(record, header),
      subscribed: readSubscribed(record, header),
      changes: readChanges(record, header, typeOf),
    }),
    apply: async (tx, entries) => {
      const at = now()
      const rule = { subscribed: undefined, subscribedByDefault, reason: 'import' } as const
      return upsertValidContacts(tx, { projectId, ...rule, newWish, at }, entries)
    },
  }
}

/** Reads the address of a row. @throws AppError VALIDATION_ERROR */
export function readAddress(record: CsvRecord, header: Header): ParsedAddress {
  const cell = pickCell(record, header.columns.get('email'), header)
  if (cell === undefined) throw invalidField('email', 'required', 'There is no email address')
  const address = parseShownAddress(readCellText(cell, header))
  if (address === undefined) throw invalidField('email', 'invalid_string', 'Not an email address')
  return address
}

const TRUE_WORDS = new Set(['true', '1', 'yes'])

/** Any other word means false; an empty cell keeps the state. */
function readSubscribed(record: CsvRecord, header: Header): boolean | undefined {
  const cell = pickCell(record, header.columns.get('subscribed'), header)
  return cell && TRUE_WORDS.has(readCellText(cell, header).toLowerCase())
}

/** @throws AppError VALIDATION_ERROR for data that breaks a limit */
function readChanges(
  record: CsvRecord,
  header: Header,
  typeOf: (field: string) => ColumnType,
): ContactEntry['changes'] {
  const entries: [string, unknown][] = []
  const { isOwn } = header
  for (const [field, indexes] of header.columns) {
    const key = keyOf(field)
    const cell = key === undefined ? undefined : pickCell(record, indexes, header)
    if (key === undefined || cell === undefined) continue
    const type = key === 'locale' ? 'text' : typeOf(field)
    entries.push([key, readCell(cell, { isOwn, type })])
  }
  return parseData(Object.fromEntries(entries)).changes
}
