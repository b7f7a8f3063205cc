/**
 * Drops batches that cannot be charged. Each dropped batch has a line in the log with the ids of all its
 * emails. The line is written before the commit, so that no kill can lose it (a row that records the line
 * would take a second write). A batch may have more than one line:
 *
 *   the process dies, or the      the batch is still open. It is tried or judged again, and if it is then
 *   commit fails, after the line  dropped, it has a second line
 *   the closure runs twice        because another closure of its group failed (`store/write/group.ts`)
 *
 * The counters of this process count a batch once, after the commit.
 */
import { MINUTE_MS } from '../../../../base/clock.ts'
import type { MeteringBatch } from '../../../../store/schema/billing.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { setDropped } from './batches.ts'

type Deps = Pick<Base, 'counters' | 'now' | 'log'>
/** `error`: the reason for the log. */
type Drop = { id: string; error: string }

export async function dropBatch(deps: Deps & Pick<Base, 'store'>, dropped: Drop): Promise<void> {
  await deps.store.write((tx) => drop(deps, tx, dropped))
}

/** Drops a batch; does nothing if the batch has ended already. */
export async function drop(deps: Deps, tx: Tx, { id, error }: Drop): Promise<void> {
  const batch = await tx.find(setDropped, { id, error, at: deps.now() })
  if (batch === undefined) return
  logDropped(deps, batch)
  tx.afterCommit(() => {
    deps.counters.add('pillarbox_metering_batches_total', { outcome: 'dropped' })
    deps.counters.add('pillarbox_emails_not_charged_total', {}, batch.emailIds.length)
  })
}

function logDropped(
  { log }: Deps,
  { id: batch, projectId: project, customer, credits, emailIds, occurredAt, error }: MeteringBatch,
): void {
  const minute = new Date(occurredAt - (occurredAt % MINUTE_MS)).toISOString()
  const facts = {
    batch,
    projectId: project,
    customer,
    credits,
    minute,
    reason: error,
    emails: emailIds,
  }
  log.error(facts, 'emails were not charged')
}
