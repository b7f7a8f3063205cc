/**
 * Imports rows as suppressions: `email` and an optional `reason`. Other services export reasons in
 * their own words. An unknown word suppresses the address as MANUAL and is stored in `source`.
 */

import type { ParsedAddress } from '../../../formats/address/address.ts'
import type { SuppressionImportResult } from '../../../records/import.ts'
import type { SuppressionReason } from '../../../store/schema/words.ts'
import type { RunningJob } from '../../../work/jobs/run.ts'
import type { Base } from '../../ground/base.ts'
import type { ShownJob } from '../../ground/manifest/shown-job.ts'
import { findKnownAddresses } from '../../people/contacts/read/known-addresses.ts'
import { readCellText } from '../../people/import-export/csv/cell.ts'
import { type Header, pickCell } from '../../people/import-export/csv/header.ts'
import type { CsvRecord } from '../../people/import-export/csv/parser.ts'
import { readRowAddress } from '../../people/import-export/csv/row-address.ts'
import { toImportResult } from '../../people/import-export/import-contacts.ts'
import { discardImportFile } from '../../people/import-export/import-file.ts'
import { type RowHandler, runImport, tallyOf } from '../../people/import-export/run.ts'
import type { Tally } from '../../people/import-export/tally.ts'
import { suppressAddresses } from './suppressions.ts'

type Deps = Pick<Base, 'store' | 'now'>
type SuppressionRow = { address: ParsedAddress; reason: SuppressionReason; source: string }

const MAX_SOURCE_LENGTH = 200

const REASON_WORDS: Record<SuppressionReason, readonly string[]> = {
  HARD_BOUNCE: [
    ...['hard bounce', 'bounce', 'bounced', 'bounces', 'hard', 'hardbounce', 'permanent'],
    ...['permanent bounce', 'permanent failure', 'invalid', 'invalid email', 'invalid emails'],
    ...['undeliverable', 'cleaned'],
  ],
  COMPLAINT: [
    ...['complaint', 'complained', 'complaints', 'spam', 'spam complaint', 'spam complaints'],
    ...['spam report', 'spam reports', 'spamreport', 'spamcomplaint', 'abuse', 'abuse report'],
    ...['abuse complaint', 'feedback loop', 'fbl'],
  ],
  STRIKES: ['strikes', 'soft bounce', 'soft bounces', 'softbounce', 'soft', 'transient', 'blocked'],
  MANUAL: [
    ...['manual', 'manual suppression', 'manualsuppression', 'unsubscribe', 'unsubscribed'],
    ...['unsubscribes', 'opt out', 'optout', 'opted out', 'suppressed'],
  ],
}

const REASON_BY_WORD = new Map(
  Object.entries(REASON_WORDS).flatMap(([reason, list]) =>
    list.map((word) => [word, reason as SuppressionReason]),
  ),
)

/** Runs the job. @throws FinalFailure for a file that cannot be read */
export async function importSuppressions(
  deps: Deps,
  job: RunningJob,
): Promise<SuppressionImportResult> {
  return toSuppressionResult(await runImport(deps, job, suppressionHandler(deps, job)))
}

export const SHOWN_SUPPRESSION_IMPORT: ShownJob = {
  hasFacts: true,
  labelOf: ({ filename }) => `Import suppressions from ${filename}`,
  pathOf: (id) => `/suppressions/import/${id}`,
  partialResult: (state) => toSuppressionResult(tallyOf(state)),
  discard: discardImportFile,
}

function toSuppressionResult(tally: Tally): SuppressionImportResult {
  return { ...toImportResult(tally), addedCount: tally.newCount, existingCount: tally.knownCount }
}

function suppressionHandler(
  { now }: Pick<Deps, 'now'>,
  job: RunningJob,
): RowHandler<SuppressionRow> {
  const projectId = job.projectId ?? ''
  /** The addresses that earlier rows of a dry run would add. */
  const added = new Set<string>()
  return {
    areContacts: false,
    isCut: (record, header) => {
      const text = readReasonText(record, header)
      return text !== undefined && reasonOf(text) === undefined && text.length > MAX_SOURCE_LENGTH
    },
    read: ({ record }, { header }) => ({
      address: readRowAddress(record, header),
      ...readReason(record, header),
    }),
    apply: async (tx, rows) => {
      const results: { isNew: boolean }[] = []
      for (const { address, ...why } of rows) {
        const suppression = { projectId, addresses: [address.address], ...why, at: now() }
        results.push({ isNew: (await suppressAddresses(tx, suppression)) === 1 })
      }
      return results
    },
    preview: async (reader, rows) => {
      const addresses = rows.map(({ address }) => address.address)
      const { suppressed } = await findKnownAddresses(reader, projectId, addresses)
      return addresses.map((address) => {
        const isNew = !suppressed.has(address) && !added.has(address)
        if (isNew) added.add(address)
        return { isNew }
      })
    },
  }
}

function readReason(record: CsvRecord, header: Header): Pick<SuppressionRow, 'reason' | 'source'> {
  const text = readReasonText(record, header)
  if (text === undefined) return { reason: 'MANUAL', source: 'import' }
  const reason = reasonOf(text)
  if (reason !== undefined) return { reason, source: 'import' }
  const source = text.slice(0, MAX_SOURCE_LENGTH).toWellFormed()
  return { reason: 'MANUAL', source: `import: ${source}` }
}

function readReasonText(record: CsvRecord, header: Header): string | undefined {
  const cell = pickCell(record, header.columns.get('data.reason'), header)
  return cell && readCellText(cell, header)
}

function reasonOf(text: string): SuppressionReason | undefined {
  return REASON_BY_WORD.get(text.toLowerCase().replaceAll(/[\s_-]+/g, ' '))
}
