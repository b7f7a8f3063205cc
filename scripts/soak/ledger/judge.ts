/** The ledger of a run: what clients and receivers know against what the database has. */
import type { History } from '../history/history.ts'
import type { LedgerRow } from './finding.ts'
import { judgeAcceptance } from './judge-acceptance.ts'
import { judgeCampaigns } from './judge-campaigns.ts'
import { judgeContacts } from './judge-contacts.ts'
import { judgeCounts } from './judge-counts.ts'
import { judgeDelivery } from './judge-delivery.ts'
import { judgeEvents } from './judge-events.ts'
import { judgeExecutions } from './judge-executions.ts'
import { judgeReports } from './judge-reports.ts'
import { judgeWebhooks } from './judge-webhooks.ts'
import type { Rows } from './rows.ts'

/** `giveUpMs`: the least age at which mail of workflows is given up. */
export function judge(
  history: History,
  rows: Rows,
  { giveUpMs }: { giveUpMs: number },
): LedgerRow[] {
  return [
    ...judgeAcceptance(history, rows.emails),
    ...judgeDelivery(history, rows.emails, giveUpMs),
    ...judgeContacts(history, rows),
    ...judgeEvents(history, rows),
    ...judgeWebhooks(history, rows),
    ...judgeExecutions(history, rows),
    ...judgeCampaigns(history, rows),
    ...judgeReports(history, rows),
    ...judgeCounts(history, rows),
  ]
}
