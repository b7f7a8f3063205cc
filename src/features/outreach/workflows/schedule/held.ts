/**
 * Schedules that a fence stopped: enabled, without a next firing. When the fence is gone, the first firing
 * after it was set is due, or the last one that has passed since; earlier ones do not happen.
 */
import { describeError } from '../../../../base/errors.ts'
import { listOf } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { type FiringTimes, nextFiring } from './next-firing.ts'

type HeldSchedule = { id: string; version: number; config: string; fencedAt: number }

/** What is needed to let one fire again. */
export type FoundFiring = { id: string; version: number; firesAt: number }

const listHeld = statement<HeldSchedule>(
  () => sql`select workflows.id, version, trigger_config as config, fences.set_at as "fencedAt"
    from workflows join fences on fences.project_id = workflows.project_id
    where fences.project_id in ${listOf(parameter('projectIds'))}
      and enabled = 1 and trigger_type = 'SCHEDULE' and next_fire_at is null`,
)

const setNextFiring = statement(
  () => sql`update workflows set next_fire_at = ${parameter('firesAt')}
    where id = ${parameter('id')} and version = ${parameter('version')}
      and enabled = 1 and next_fire_at is null`,
)

/** Takes some ms for each schedule: too long for a transaction. */
export async function findHeldFirings(
  { store, log }: Pick<Base, 'store' | 'log'>,
  projectIds: readonly string[],
): Promise<FoundFiring[]> {
  const held = await store.scan.list(listHeld, { projectIds: JSON.stringify(projectIds) })
  return held.flatMap(({ id, version, config, fencedAt }) => {
    try {
      const firesAt = nextFiring(JSON.parse(config) as FiringTimes, fencedAt)
      return firesAt === null ? [] : [{ id, version, firesAt }]
    } catch (error) {
      log.warn({ workflow: id, error: describeError(error) }, 'a schedule cannot be read')
      return []
    }
  })
}

/** Returns how many schedules fire again. One that was changed since has a firing of its own. */
export async function releaseSchedules(tx: Tx, firings: readonly FoundFiring[]): Promise<number> {
  const changed = await tx.executeEach(setNextFiring, firings)
  return changed.reduce((sum, count) => sum + count, 0)
}
