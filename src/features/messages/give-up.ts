/**
 * The give-up clock, for mail whose site could not even be tried: what waits past its time fails.
 * (What is tried fails at its last attempt, see `outcome.ts`.)
 *
 * Being past its time is not enough: after a server was off, or its clock jumped, much is overdue
 * that nobody had a chance to try. An email is given up once it has been overdue, by every look at
 * the clock, for ten minutes of this process's own running time. Overdue mail is due, so within
 * these minutes the queue tries whatever can be tried.
 */
import { sql } from '../../store/drizzle.ts'
import { emails } from '../../store/schema.ts'
import { parameter, statement } from '../../store/store.ts'
import type { Core } from '../core.ts'
import { noteOutcome } from './note-outcome.ts'

const PATIENCE_MS = 600_000
const MAX_FOUND = 20_000
const CHUNK = 500

type Deps = Pick<Core, 'store' | 'counters' | 'now' | 'log'>

/** To be called every minute with the time for which the process runs, on the monotonic clock. */
export type GiveUp = (runningForMs: number) => Promise<number>

/** Covered by `emails_ready`: it costs no look at a row that is not overdue. */
export const findOverdue = statement((db) =>
  db
    .select({ id: emails.id })
    .from(emails)
    .where(
      sql`rowid in (select rowid from emails where due_at is not null
        and give_up_at <= ${parameter('before')} limit ${parameter('limit')})`,
    ),
)

const failOverdue = statement((db) =>
  db
    .update(emails)
    .set({
      state: 'failed',
      status: 'FAILED',
      error: sql`case when ${emails.error} is null
        then 'given up: its destination could not be tried in time'
        else 'given up; the last answer was: ' || ${emails.error} end`,
      dueAt: null,
      updatedAt: parameter('at'),
    })
    .where(
      sql`${emails.id} in (select value from json_each(${parameter('ids')}))
        and ${emails.state} in ('queued', 'deferred') and ${emails.giveUpAt} <= ${parameter('before')}`,
    )
    .returning({
      id: emails.id,
      projectId: emails.projectId,
      recipient: emails.recipient,
      attemptCount: emails.attemptCount,
      error: emails.error,
    }),
)

/** What the returned function gives: how many were given up; of very many, some a minute. */
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
  const { store, now } = deps
  const found = await store.scan.list(findOverdue, { before, limit: MAX_FOUND })
  let total = 0
  for (let start = 0; start < found.length; start += CHUNK) {
    const ids = JSON.stringify(found.slice(start, start + CHUNK).map(({ id }) => id))
    total += await store.write(async (tx) => {
      const ended = await tx.list(failOverdue, { ids, before, at: now() })
      tx.afterCommit(() => {
        for (const { attemptCount: attempts, error: reason, ...email } of ended) {
          noteOutcome(deps, { email, outcome: 'failed', attempts, reason })
        }
      })
      return ended.length
    })
    await new Promise((resolve) => setImmediate(resolve))
  }
  return total
}
