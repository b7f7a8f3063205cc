/**
 * The give-up clock. Its rule: nothing is given up without an attempt that began after its give-up
 * time and failed, whatever the clock did before: a server that was off, a machine that slept, a
 * jump of the clock.
 *
 * - What can be tried is tried, for overdue mail is due; that last attempt gives it up (`record-attempts.ts`).
 *   An attempt that began before the give-up time is followed by one more.
 * - What cannot be tried, because its site takes nothing or little, is given up here. The attempt
 *   that failed for it was the site's: its restriction must come from an attempt after the email's
 *   give-up time. A dead site is probed every half hour, so this is not long in coming.
 *
 * So that a clock that is wrong for minutes costs nothing, an email must also have been overdue, by
 * every look at the clock, for ten minutes of this process's own running time.
 */

import type { RowOf } from '../../../store/database.ts'
import { rowNumber, unseen } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { emails } from '../../../store/schema/messages.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../base.ts'
import { type Ending, endEmails, giveUpError } from '../outcome/final-state.ts'
import { ANY_CLASS } from './any-class.ts'

const PATIENCE_MS = 600_000
const CHUNK = 500

type Deps = Pick<Base, 'store' | 'outbound' | 'counters' | 'now' | 'log'>

/** To be called every minute with the time for which the process runs, on the monotonic clock. */
export type GiveUp = (runningForMs: number) => Promise<number>

/** Covered by `emails_ready`: it costs no look at a row. */
export const findOverdue = statement((db) =>
  db
    .selectDistinct({ domain: emails.recipientDomain })
    .from(emails)
    .where(sql`due_at is not null and give_up_at <= ${parameter('before')}`),
)

/** The index `emails_ready` finds the rows. */
export const listOverdue = statement((db) =>
  db
    .select({
      id: emails.id,
      projectId: emails.projectId,
      contactId: emails.contactId,
      recipient: emails.recipient,
      state: emails.state,
      attemptCount: emails.attemptCount,
      error: emails.error,
    })
    .from(emails)
    .where(
      sql`${rowNumber()} in (select ${rowNumber()} from emails where due_at is not null
        and ${ANY_CLASS} and recipient_domain = ${unseen(parameter('domain'))}
        and give_up_at <= ${unseen(parameter('before'))} limit ${unseen(parameter('limit'))})
        and ${emails.state} in ('queued', 'deferred')`,
    ),
)

/** What the returned function gives: how many were given up. */
export function createGiveUp(deps: Deps): GiveUp {
  let readings: { runningForMs: number; clock: number }[] = []
  return async (runningForMs) => {
    readings.push({ runningForMs, clock: deps.now() })
    const first = readings.findLastIndex(
      (reading) => reading.runningForMs <= runningForMs - PATIENCE_MS,
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

/** In closures of some hundreds; others get their turn between two. */
async function giveUpDomain(
  deps: Deps,
  overdue: { domain: string; reason: string; before: number },
): Promise<number> {
  for (let total = 0; ; ) {
    const row = { ...overdue, at: deps.now(), limit: CHUNK }
    const count = await deps.store.write(async (tx) => {
      const overdue = await tx.list(listOverdue, row)
      const endings = overdue.map((email) => toEnding(email, row.reason))
      return endEmails(deps, tx, { endings, at: row.at })
    })
    total += count
    if (count < CHUNK) return total
    await new Promise((resolve) => setImmediate(resolve))
  }
}

function toEnding({ error: answer, ...email }: RowOf<typeof listOverdue>, reason: string): Ending {
  const error =
    email.attemptCount === 0 || answer === null
      ? `given up, its destination could not be tried in time: ${reason}`
      : giveUpError(answer)
  return { email, end: { state: 'failed', error, reason: 'given_up' } }
}
