/** Imports rows as contacts: a row with a known address changes its contact, others create one. */
import { isInvalid } from '../../../base/errors.ts'
import type { ContactImportResult, ImportResult } from '../../../records/import.ts'
import type { RunningJob } from '../../../work/jobs/run.ts'
import type { Base } from '../../ground/base.ts'
import { parseData } from '../contacts/write/data.ts'
import { type ContactEntry, withoutData } from '../contacts/write/next-contact.ts'
import { upsertValidContacts } from '../contacts/write/upsert.ts'
import { createContactPreview } from './contact-preview.ts'
import { type ColumnType, readCell } from './csv/cell.ts'
import { keyOf } from './csv/column-names.ts'
import { type Header, pickCell } from './csv/header.ts'
import { readJsonData } from './csv/json-data.ts'
import type { CsvRecord } from './csv/parser.ts'
import { readAddress } from './csv/row-address.ts'
import { readState } from './csv/row-state.ts'
import type { ImportPayload } from './import-file.ts'
import { isWithheld } from './last-unsubscriptions.ts'
import { type RowHandler, runImport } from './run.ts'
import type { Tally } from './tally.ts'

type Deps = Pick<Base, 'store' | 'now'>

const MAX_UNKNOWN_FIELDS = 20

/** Runs the job. @throws FinalFailure for a file that cannot be read */
export async function importContacts(deps: Deps, job: RunningJob): Promise<ContactImportResult> {
  const tally = await runImport(deps, job, contactHandler(deps, job))
  const { resubscribe } = job.payload as ImportPayload
  const result = toResult(tally)
  return {
    ...result,
    warnings: [
      ...result.warnings,
      ...describeSubscribed(tally.keptSubscribedCount ?? 0),
      ...(resubscribe === true ? describeUnsubscribed(tally.stillUnsubscribedCount ?? 0) : []),
    ],
    subscribedCount: tally.subscribedCount ?? 0,
    unsubscribedCount: tally.unsubscribedCount ?? 0,
    keptUnsubscribedCount: tally.keptUnsubscribedCount ?? 0,
    subscriptionWords: tally.stateWords ?? [],
  }
}

/** `rows`: of people whom the sender of the file may want unsubscribed. */
function describeSubscribed(rows: number): string[] {
  if (rows === 0) return []
  const who = rows === 1 ? '1 row is of a contact who is' : `${rows} rows are of contacts who are`
  return [
    `${who} subscribed here and will stay so: the form field "subscribed" is the state of new contacts only. ` +
      'If they left, map a column that is filled in each row to "unsubscribed", which lasts: later files ' +
      'subscribe them only with resubscribe=true. Otherwise, add a column "subscribed" with the word no: a ' +
      'later file with the word yes subscribes them again.',
  ]
}

/** `rows`: of people whom the sender of the file may want subscribed. */
function describeUnsubscribed(rows: number): string[] {
  if (rows === 0) return []
  const who = rows === 1 ? '1 row is of a contact who is' : `${rows} rows are of contacts who are`
  return [
    `${who} unsubscribed here and will stay so: no column says "subscribed" of them, and the form field ` +
      '"resubscribe" alone subscribes new contacts only. To subscribe them, add the form field ' +
      'subscribed=true, or a column "subscribed" with the word yes.',
  ]
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
    unknownFields: (tally.unknownFields ?? []).slice(0, MAX_UNKNOWN_FIELDS),
  }
}

function contactHandler({ now }: Pick<Deps, 'now'>, job: RunningJob): RowHandler<ContactEntry> {
  const projectId = job.projectId ?? ''
  const {
    subscribed: subscribedByDefault,
    resubscribe,
    subscribesKnown,
  } = job.payload as ImportPayload
  const newWish = resubscribe === true ? ('always' as const) : undefined
  const subscribed = subscribesKnown === true ? true : undefined
  const rule = { projectId, subscribed, subscribedByDefault, newWish }
  const preview = createContactPreview(rule)
  return {
    areContacts: true,
    isCut: () => false,
    read: ({ record, number }, { header, options, typeOf, lastUnsubscriptions }) => {
      const address = readAddress(record, header)
      const state = readState(record, header)
      const row = { address: address.address, number, subscribed: state.subscribed }
      const entry = {
        ...{ address, ...state, changes: {} },
        isWithheld: isWithheld(lastUnsubscriptions, row),
      }
      try {
        const { areStrings } = options
        return { ...entry, changes: readChanges(record, header, { typeOf, areStrings }) }
      } catch (error) {
        if (!isInvalid(error)) throw error
        const reduced = withoutData(entry, error)
        if (reduced === undefined) throw error
        return reduced
      }
    },
    apply: (tx, entries) =>
      upsertValidContacts(tx, { ...rule, reason: 'import', at: now() }, entries),
    preview: (reader, entries) => preview(reader, { entries, at: now() }),
  }
}

type Reading = { typeOf: (field: string) => ColumnType; areStrings: boolean }

/** @throws AppError VALIDATION_ERROR for data that breaks a limit */
function readChanges(
  record: CsvRecord,
  header: Header,
  { typeOf, areStrings }: Reading,
): ContactEntry['changes'] {
  const entries: [string, unknown][] = []
  const ofObjects: [string, unknown][] = []
  const { isOwn, jsonFields } = header
  for (const [field, indexes] of header.columns) {
    const key = keyOf(field)
    const cell = key === undefined ? undefined : pickCell(record, indexes, header)
    if (key === undefined || cell === undefined) continue
    const object = jsonFields.has(field) && !areStrings ? readJsonData(cell) : undefined
    if (object !== undefined) ofObjects.push(...object)
    else {
      const type = key === 'locale' ? 'text' : typeOf(field)
      entries.push([key, readCell(cell, { isOwn, type })])
    }
  }
  // A column of its own counts more than a key within an object.
  return parseData(Object.fromEntries([...ofObjects, ...entries])).changes
}
