/**
 * Imports rows as contacts: a row with a known address changes its contact, others create one. A
 * dry run previews the rows instead: each row sees the changes that the rows before it would have
 * made.
 */
import { isInvalid } from '../../../base/errors.ts'
import type { ContactImportResult, ImportResult } from '../../../records/import.ts'
import type { Contact } from '../../../store/schema/contacts.ts'
import type { Reader } from '../../../store/store.ts'
import type { RunningJob } from '../../../work/jobs/run.ts'
import type { Base } from '../../ground/base.ts'
import type { ShownJob } from '../../ground/manifest/shown-job.ts'
import { findKnownAddresses, type KnownAddresses } from '../contacts/read/known-addresses.ts'
import { parseData } from '../contacts/write/data.ts'
import {
  type ContactEntry,
  previewContacts,
  type SubscriptionRule,
  withoutData,
} from '../contacts/write/next-contact.ts'
import { upsertValidContacts } from '../contacts/write/upsert.ts'
import { type ColumnType, readCell } from './csv/cell.ts'
import { keyOf } from './csv/column-names.ts'
import { type Header, pickCell } from './csv/header.ts'
import { readJsonData } from './csv/json-data.ts'
import type { CsvRecord } from './csv/parser.ts'
import { readRowAddress } from './csv/row-address.ts'
import { readState } from './csv/row-state.ts'
import { discardImportFile, type ImportPayload } from './import-file.ts'
import { isWithheld } from './last-unsubscriptions.ts'
import { type RowHandler, type RowResult, runImport, tallyOf } from './run.ts'
import type { Tally } from './tally.ts'

type Deps = Pick<Base, 'store' | 'now'>

const MAX_UNKNOWN_FIELDS = 20

type ColumnReading = { typeOf: (field: string) => ColumnType; areStrings: boolean }

type Rows = { entries: readonly ContactEntry[]; at: number }

/**
 * The state of an address after the rows so far of a dry run. `hasLeft`: one of the rows would have
 * recorded a wish.
 */
type SeenAddress = { subscribed: boolean; hasLeft: boolean }

type Seen = { addresses: readonly string[]; seen: ReadonlyMap<string, SeenAddress> }

/** Runs the job that imports contacts. @throws FinalFailure for a file that cannot be read */
export async function importContacts(deps: Deps, job: RunningJob): Promise<ContactImportResult> {
  const tally = await runImport(deps, job, contactHandler(deps, job))
  return toContactResult(tally, job.payload as ImportPayload)
}

export const SHOWN_CONTACT_IMPORT: ShownJob = {
  hasFacts: true,
  labelOf: ({ filename }) => `Import contacts from ${filename}`,
  pathOf: (id) => `/contacts/import/${id}`,
  partialResult: (state, payload) => toContactResult(tallyOf(state), payload as ImportPayload),
  discard: discardImportFile,
}

function toContactResult(tally: Tally, { resubscribe }: ImportPayload): ContactImportResult {
  const result = toImportResult(tally)
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

/** Returns the counts under the names of the API. */
export function toImportResult({ rows, newCount, knownCount, ...tally }: Tally): ImportResult {
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

/** `rows`: the number of rows whose people the sender of the file may want unsubscribed. */
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

/** `rows`: the number of rows whose people the sender of the file may want subscribed. */
function describeUnsubscribed(rows: number): string[] {
  if (rows === 0) return []
  const who = rows === 1 ? '1 row is of a contact who is' : `${rows} rows are of contacts who are`
  return [
    `${who} unsubscribed here and will stay so: no column says "subscribed" of them, and the form field ` +
      '"resubscribe" alone subscribes new contacts only. To subscribe them, add the form field ' +
      'subscribed=true, or a column "subscribed" with the word yes.',
  ]
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
      const address = readRowAddress(record, header)
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

/** @throws AppError VALIDATION_ERROR for data that breaks a limit */
function readChanges(
  record: CsvRecord,
  header: Header,
  { typeOf, areStrings }: ColumnReading,
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
  // The value of a key in a column of its own replaces the value of the same key in a JSON object.
  return parseData(Object.fromEntries([...ofObjects, ...entries])).changes
}

/**
 * Returns a function that previews rows. The memory that the function keeps grows with the file,
 * which has at most 5 MB.
 */
function createContactPreview(rule: Omit<SubscriptionRule, 'at'>) {
  /** The state that earlier rows would have given to each address. */
  const seen = new Map<string, SeenAddress>()
  return async (reader: Reader, { entries, at }: Rows): Promise<RowResult[]> => {
    const { projectId } = rule
    const addresses = entries.map(({ address }) => address.address)
    const known = await findKnownAddresses(reader, projectId, addresses)
    const results = previewContacts({ ...rule, at }, addSeen(known, { addresses, seen }), entries)
    for (const [index, result] of results.entries()) {
      if (!('isNew' in result)) continue
      const { address, subscribed } = result.contact
      const hasLeft = entries[index]?.hasLeft === true
      if (!hasLeft && !result.isNew && result.becomes === undefined) continue
      const wasLeft = !subscribed && seen.get(address)?.hasLeft === true
      seen.set(address, { subscribed, hasLeft: hasLeft || wasLeft })
    }
    return results
  }
}

function addSeen(known: KnownAddresses, { addresses, seen }: Seen): KnownAddresses {
  const contacts = new Map(known.contacts)
  const left = new Set(known.left)
  for (const address of addresses) {
    const before = seen.get(address)
    if (before === undefined) continue
    const { subscribed, hasLeft } = before
    contacts.set(address, { ...(contacts.get(address) ?? unknownContact(address)), subscribed })
    if (hasLeft) left.add(address)
    else if (subscribed) left.delete(address)
  }
  return { ...known, contacts, left }
}

function unknownContact(address: string): Contact {
  const at = { createdAt: 0, updatedAt: 0 }
  return { id: '', projectId: '', address, subscribed: false, data: null, ...at }
}
