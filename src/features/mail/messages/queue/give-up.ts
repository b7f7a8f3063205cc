/**
 * The give-up clock. An email is given up only after an attempt that began past its give-up time
 * has failed. This holds after a server was off, a machine slept, or the clock jumped.
 *
 * - Overdue emails that can be tried are due, so each is tried: if this attempt fails, the email is
 *   given up (`record-attempts.ts`). An attempt that began before the give-up time is followed by
 *   one more.
 * - Overdue emails that cannot be tried, because their site takes nothing or little, are given up
 *   here. In this case the failed attempt is that of any email to the same site: the site's
 *   restriction must come from an attempt past the email's give-up time. An unreachable site is
 *   probed every half hour.
 *
 * A clock that is wrong for some minutes must not give mail up: here an email must have been overdue at
 * every reading of the clock for ten minutes of the running time of this process, and a failed attempt
 * counts by the steady time (`delivery/record-results.ts`).
 */
import {
  CAMPAIGN_CLASS,
  type QueueClass,
  TRANSACTIONAL_CLASS,
  WORKFLOW_CLASS,
} from '../../../../base/queue-class.ts'
import type { Config } from '../../../../config/config.ts'
import type { RowOf } from '../../../../store/database.ts'
import { rowNumber, unseen } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { emails } from '../../../../store/schema/messages.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import { type SweepPace, sweep } from '../../../../work/sweep.ts'
import type { Base } from '../../../ground/base.ts'
import { type Ending, endEmails, endingColumns } from '../outcome/end-emails.ts'
import { giveUpError, untriedError } from '../outcome/given-up.ts'
import { ANY_CLASS } from './any-class.ts'

const MIN_OVERDUE_MS = 600_000
const PACE: SweepPace = { rows: 500, rest: 'event loop' }

type Deps = Pick<Base, 'store' | 'outbound' | 'counters' | 'now' | 'log'>

/**
 * Call it every minute while mail waits, with the running time of the process, by the monotonic clock. Resolves
 * with the number of emails that were given up.
 */
export type GiveUp = (runningForMs: number) => Promise<number>

/** The index `emails_ready` covers the query: no row is read. */
export const findOverdue = statement((db) =>
  db
    .selectDistinct({ domain: emails.recipientDomain })
    .from(emails)
    .where(sql`due_at is not null and give_up_at <= ${parameter('before')}`),
)

/** The index `emails_ready` finds the rows. */
export const listOverdue = statement((db) =>
  db
    .select({ ...endingColumns, error: emails.error })
    .from(emails)
    .where(
      sql`${rowNumber()} in (select ${rowNumber()} from emails where due_at is not null
        and ${ANY_CLASS} and recipient_domain = ${unseen(parameter('domain'))}
        and give_up_at <= ${unseen(parameter('before'))} limit ${unseen(parameter('limit'))})
        and ${emails.state} in ('queued', 'deferred')`,
    ),
)

/**
 * `delivery.give_up_after`: how long delivery of an email is tried, by its class. Returns milliseconds, which count from the acceptance of the email or from an operator's retry.
 */
export function giveUpAfterMs({ delivery }: Config, queueClass: QueueClass): number {
  const { transactional, workflow, campaign } = delivery.giveUpAfter
  const byClass = {
    [TRANSACTIONAL_CLASS]: transactional,
    [WORKFLOW_CLASS]: workflow,
    [CAMPAIGN_CLASS]: campaign,
  }
  return byClass[queueClass]
}

export function createGiveUp(deps: Deps): GiveUp {
  let readings: { runningForMs: number; clock: number }[] = []
  return async (runningForMs) => {
    readings.push({ runningForMs, clock: deps.now() })
    const first = readings.findLastIndex(
      (reading) => reading.runningForMs <= runningForMs - MIN_OVERDUE_MS,
    )
    if (first === -1) return 0
    readings = readings.slice(first)
    return giveUpBefore(deps, Math.min(...readings.map(({ clock }) => clock)))
  }
}

async function giveUpBefore(deps: Deps, before: number): Promise<number> {
  const { store, outbound } = deps
  let total = 0
  for (const { domain } of await store.scan.list(findOverdue, { before })) {
    const restriction = outbound.restrictionOf(outbound.siteOf(domain))
    if (restriction === null) continue
    const { triedAt, reason } = restriction
    total += await giveUpDomain(deps, { domain, reason, before: Math.min(before, triedAt) })
  }
  return total
}

/** Gives up emails in transactions of some hundreds; the event loop runs other work between two. */
async function giveUpDomain(
  deps: Deps,
  overdue: { domain: string; reason: string; before: number },
): Promise<number> {
  const rules = { pace: PACE, heavyFor: 'give-up', until: 'short' as const }
  return sweep(deps, rules, async (tx, limit) => {
    const row = { ...overdue, at: deps.now(), limit }
    const endings = (await tx.list(listOverdue, row)).map((email) => toEnding(email, row.reason))
    return endEmails(deps, tx, { endings, at: row.at })
  })
}

function toEnding({ error: cause, ...email }: RowOf<typeof listOverdue>, reason: string): Ending {
  const error =
    email.attemptCount === 0 || cause === null ? untriedError(reason) : giveUpError(cause)
  return { email, end: { state: 'failed', error, reason: 'given_up' } }
}
