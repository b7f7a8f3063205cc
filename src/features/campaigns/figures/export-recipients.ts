/**
 * Exports the recipients of a campaign as CSV (RFC 4180, UTF-8), without keeping them in memory. Text
 * that a spreadsheet program would take for a formula is escaped, as in the export of contacts.
 */
import type { Base } from '../../base.ts'
import { writeText } from '../../import-export/csv/cell.ts'
import { writeRecord } from '../../import-export/csv/writer.ts'
import { type ExportSlots, whileExporting } from '../../import-export/export-slots.ts'
import { assertCampaign, type CampaignKey } from '../find.ts'
import { type Outcome, type Recipient, walkRecipients } from './recipients.ts'

type Deps = Pick<Base, 'store'> & { slots: ExportSlots }

export const RECIPIENT_COLUMNS = [
  'emailId',
  'contactId',
  'email',
  'occurredAt',
  'status',
  'reason',
] as const satisfies readonly (keyof Recipient)[]

/**
 * Returns the file piece by piece.
 * @throws AppError RATE_LIMIT_EXCEEDED without a free slot, CAMPAIGN_NOT_FOUND
 */
export function exportRecipients(
  deps: Deps,
  query: CampaignKey & { outcome?: Outcome | undefined },
): Promise<AsyncIterable<Uint8Array>> {
  return whileExporting(deps.slots, query.projectId, async () => {
    await assertCampaign(deps.store.read, query)
    return write(deps, query)
  })
}

async function* write(
  deps: Deps,
  query: CampaignKey & { outcome?: Outcome | undefined },
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(writeRecord(RECIPIENT_COLUMNS))
  for await (const recipients of walkRecipients(deps, query)) {
    await deps.slots.nextTurn()
    if (recipients.length > 0) yield Buffer.from(recipients.map(toRecord).join(''))
  }
}

function toRecord(recipient: Recipient): string {
  return writeRecord(RECIPIENT_COLUMNS.map((column) => writeText(recipient[column] ?? '')))
}
