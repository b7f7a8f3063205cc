/**
 * Deletes the causes that nobody needs any more (`caused-changes.ts`): each segment of the project that is computed
 * has seen them, or there is none.
 */
import { DAY_MS } from '../../../base/clock.ts'
import { sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import { sweepRows } from '../../../work/sweep.ts'
import type { Base } from '../../ground/base.ts'

/** A segment whose last computation is so much older than another one's keeps none: its computation fails. */
const KEPT_MS = 7 * DAY_MS
const BATCH = 1000

export const findBatchEnd = statement<{ until: number | null }>(
  () => sql`select max(number) as "until" from (
    select number from caused_changes where number > ${parameter('after')} order by number limit ${BATCH})`,
)

const computedAt = sql`coalesce(counted_at, created_at)`
const computed = sql`segments
  where project_id = (select project_id from contacts where id = caused_changes.contact_id)
    and type = 'DYNAMIC' and track_membership = 1`

export const deleteSeen = statement(
  () => sql`delete from caused_changes where number > ${parameter('after')} and number <= ${parameter('until')}
    and number <= coalesce((select min(seen_change) from ${computed}
      and ${computedAt} > (select max(${computedAt}) from ${computed}) - ${KEPT_MS}), number)`,
)

/** Returns the number of deleted rows. @throws the signal's reason when it aborts */
export async function deleteSeenChanges(
  deps: Pick<Base, 'store'>,
  signal: AbortSignal,
): Promise<number> {
  const { deleted } = await sweepRows<number, { after: number; deleted: number }>(
    deps,
    { pace: { rows: BATCH, rest: 'event loop' }, heavyFor: undefined, job: { signal } },
    {
      from: { after: 0, deleted: 0 },
      find: async (_, { after }) => {
        const until = (await deps.store.read.find(findBatchEnd, { after }))?.until ?? null
        return until === null ? [] : [until]
      },
      change: async (tx, [until = 0], { after, deleted }) => ({
        after: until,
        deleted: deleted + (await tx.execute(deleteSeen, { after, until })),
      }),
    },
  )
  return deleted
}
