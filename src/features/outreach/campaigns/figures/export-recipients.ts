/**
 * Exports the recipients of a campaign as CSV (RFC 4180, UTF-8), without keeping them in memory.
 * Text that a spreadsheet program would take for a formula is escaped, as in the export of
 * contacts. The file has the contacts' data as it is at the time of the export.
 */
import { inArray } from '../../../../store/drizzle.ts'
import { contacts } from '../../../../store/schema/contacts.ts'
import type { Base } from '../../../ground/base.ts'
import { writeText } from '../../../people/import-export/csv/cell.ts'
import {
  writePieces,
  writeRecord,
  writeSparseRecord,
} from '../../../people/import-export/csv/writer.ts'
import {
  type DataColumns,
  findDataColumns,
  namesOf,
  placeData,
} from '../../../people/import-export/export-contacts.ts'
import { type ExportSlots, whileExporting } from '../../../people/import-export/export-slots.ts'
import { type CampaignKey, requireCampaign } from '../campaign.ts'
import {
  type ExportedRecipient,
  type RecipientOutcome,
  walkOutcomeRecipients,
} from './recipients.ts'

type Deps = Pick<Base, 'store'> & { slots: ExportSlots }

type ExportQuery = CampaignKey & {
  outcome?: RecipientOutcome | undefined
  /** Whether the data of the contacts follows in further columns. */
  hasData?: boolean | undefined
}

/**
 * The columns of the file. New columns are added at the end, because some programs read a column by
 * its place.
 */
const RECIPIENT_COLUMNS = [
  'emailId',
  'contactId',
  'email',
  'occurredAt',
  'status',
  'reason',
  'openedAt',
  'clickedAt',
  'clicks',
] as const satisfies readonly (keyof ExportedRecipient)[]

/** At most this many contacts have their data in memory at once: each may have 64 KB. */
const DATA_AT_ONCE = 20

/**
 * Returns the file piece by piece.
 * @throws AppError RATE_LIMIT_EXCEEDED while too many exports run, CAMPAIGN_NOT_FOUND
 */
export function exportRecipients(
  deps: Deps,
  query: ExportQuery,
): Promise<AsyncIterable<Uint8Array>> {
  return whileExporting(deps.slots, query.projectId, async () => {
    await requireCampaign(deps.store.read, query)
    const { projectId, hasData = false } = query
    const columns: DataColumns = hasData
      ? await findDataColumns(deps, projectId, RECIPIENT_COLUMNS.length)
      : new Map()
    return write(deps, query, columns)
  })
}

async function* write(
  deps: Deps,
  query: ExportQuery,
  columns: DataColumns,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(writeRecord([...RECIPIENT_COLUMNS, ...namesOf(columns)]))
  for await (const recipients of walkOutcomeRecipients(deps, query)) {
    const size = columns.size === 0 ? recipients.length : DATA_AT_ONCE
    for (let at = 0; at < recipients.length; at += size) {
      yield* writeSome(deps, recipients.slice(at, at + size), columns)
    }
  }
}

async function* writeSome(
  { store, slots }: Deps,
  recipients: readonly ExportedRecipient[],
  columns: DataColumns,
): AsyncGenerator<Uint8Array> {
  if (columns.size === 0) {
    yield* writePieces(slots, recipients, (recipient) => writeRecord(cellsOf(recipient)))
    return
  }
  const ids = recipients.map(({ contactId }) => contactId)
  const { id, data } = contacts
  await slots.nextTurn()
  const rows = await store.scan.select({ id, data }).from(contacts).where(inArray(id, ids))
  const byId = new Map(rows.map((row) => [row.id, row.data]))
  const width = RECIPIENT_COLUMNS.length + columns.size
  yield* writePieces(slots, recipients, (recipient) => {
    const own = cellsOf(recipient).map((cell, at) => ({ at, cell }))
    const cells = [...own, ...placeData(byId.get(recipient.contactId) ?? null, columns)]
    return writeSparseRecord(cells, width)
  })
}

function cellsOf(recipient: ExportedRecipient): string[] {
  return RECIPIENT_COLUMNS.map((column) => writeText(String(recipient[column] ?? '')))
}
