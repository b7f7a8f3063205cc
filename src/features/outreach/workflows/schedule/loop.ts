/**
 * Fires schedules when they are due. The loop keeps its state in the database, and sleeps until the next firing, but
 * at most a minute, because the clock of the machine may step.
 *
 * One transaction enqueues the job that starts the members of the segment and moves the workflow to
 * its next firing, so each firing happens once, also after a crash. After a downtime only the last
 * missed firing happens. The same is true for firings that are missed while the job of an earlier
 * firing is unfinished: the workflow stays due until that job has ended. A firing is identified by
 * its nominal time, so no firing happens again when the clock steps back.
 *
 * A schedule that a fence has stopped stays enabled, but has no next firing. When the fence is
 * gone, the schedule goes on with the first firing after the fence was set; if several have passed
 * since, only the last of them happens.
 */
import { MINUTE_MS, SECOND_MS } from '../../../../base/clock.ts'
import { describeError } from '../../../../base/errors.ts'
import { listOf } from '../../../../store/dialect.ts'
import { eq, sql } from '../../../../store/drizzle.ts'
import { type Workflow, workflows } from '../../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { enqueueJob } from '../../../../work/jobs/enqueue.ts'
import { type Loop, startLoop } from '../../../../work/loop.ts'
import type { Base } from '../../../ground/base.ts'
import { findSegment } from '../../../people/segments/segments.ts'
import { BULK_START_KIND, type BulkStartPayload } from '../executions/bulk.ts'
import { isProjectEnabled } from '../executions/find.ts'
import type { WorkflowNotifier } from '../notifier.ts'
import { type FiringTimes, nextFiring } from './next-firing.ts'

type ScheduleDeps = Pick<Base, 'store' | 'now' | 'log' | 'disk' | 'jobNotifier'>

/** The beginning of the unique key of a job. The key ends with the id of the workflow. */
const KEY_PREFIX = 'schedule '

/** The most workflows whose schedules fire in one transaction. */
const FIRED_AT_ONCE = 50

/** How often the loop looks whether the job of the previous firing has ended. */
const RECHECK_MS = 1_000

/**
 * Lists the workflows whose firing is due. `isBusy`: the job of the previous firing is unfinished.
 */
export const listDueSchedules = statement<{ id: string; isBusy: number }>(
  () => sql`select id, exists (select 1 from jobs
      where unique_key = ${KEY_PREFIX} || workflows.id and state in ('waiting', 'active')) as "isBusy"
    from workflows where next_fire_at is not null and next_fire_at <= ${parameter('at')}
    order by next_fire_at`,
)

export const findNextFiring = statement<{ at: number | null }>(
  () => sql`select min(next_fire_at) as at from workflows
    where next_fire_at is not null and next_fire_at > ${parameter('at')}`,
)

type FencedSchedule = { id: string; version: number; config: string; fencedAt: number }

/**
 * The firing with which a fenced schedule goes on. `version`: the version of the workflow for which
 * it was found.
 */
type FoundFiring = { id: string; version: number; firesAt: number }

const listFenced = statement<FencedSchedule>(
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

/**
 * Starts the loop. It wakes at firings, when a schedule changes, and when another process has
 * written.
 */
export function startSchedules(deps: ScheduleDeps & { workflowNotifier: WorkflowNotifier }): Loop {
  const { store, log, workflowNotifier } = deps
  return startLoop({
    run: () => fireDue(deps),
    onError: (error) =>
      log.error({ error: describeError(error) }, 'schedules could not fire; they will'),
    wakes: [
      (wake) =>
        workflowNotifier.listen(({ kind }) => {
          if (kind === 'schedule') wake()
        }),
      store.onExternalChange,
    ],
    maxWaitMs: MINUTE_MS,
    retryMs: SECOND_MS,
  })
}

/** Returns after how many ms to look again; undefined if there is no further firing. */
export async function fireDue(deps: ScheduleDeps): Promise<number | undefined> {
  const { store, now, log, disk } = deps
  // On a full disk nothing fires: running work needs the space that is left.
  if (disk.isLow()) return RECHECK_MS
  const at = now()
  const due = await store.read.list(listDueSchedules, { at })
  let isWaiting = due.some(({ isBusy }) => isBusy === 1)
  const free = due.filter(({ isBusy }) => isBusy === 0)
  for (let done = 0; done < free.length; done += FIRED_AT_ONCE) {
    const firing = free.slice(done, done + FIRED_AT_ONCE).map(({ id }) =>
      fire(deps, id).catch((error: unknown) => {
        isWaiting = true
        log.error({ workflowId: id, error: describeError(error) }, 'a schedule could not fire')
      }),
    )
    await Promise.all(firing)
  }
  if (isWaiting) return RECHECK_MS
  const next = (await store.read.find(findNextFiring, { at }))?.at ?? undefined
  return next === undefined ? undefined : Math.max(1, next - now())
}

async function fire(deps: ScheduleDeps, id: string): Promise<void> {
  await deps.store.write(async (tx) => {
    const workflow = await tx.select().from(workflows).where(eq(workflows.id, id)).get()
    const at = deps.now()
    const firedAt = workflow?.nextFireAt ?? null
    if (workflow === undefined || firedAt === null || firedAt > at) return
    const nextFireAt = workflow.isEnabled ? findNext(deps, workflow, at) : null
    await tx.update(workflows).set({ nextFireAt }).where(eq(workflows.id, id))
    if (workflow.isEnabled) await startMembers(deps, tx, { workflow, firedAt })
  })
}

/** Starts the members, unless the segment is gone or the project is disabled. */
async function startMembers(
  { now, log, jobNotifier }: ScheduleDeps,
  tx: Tx,
  { workflow, firedAt }: { workflow: Workflow; firedAt: number },
): Promise<void> {
  const { id: workflowId, projectId, segmentId } = workflow
  if (!(await isProjectEnabled(tx, projectId))) return
  const segment =
    segmentId === null ? undefined : await findSegment(tx, { projectId, id: segmentId })
  if (segment === undefined) {
    log.info({ workflowId }, 'a schedule did not fire, because its segment is missing')
    return
  }
  const payload: BulkStartPayload = {
    ...{ projectId, workflowId, segmentId: segment.id },
    ...{ context: null, firedAt },
  }
  await enqueueJob(tx, {
    ...{ kind: BULK_START_KIND, payload, projectId, now: now() },
    uniqueKey: `${KEY_PREFIX}${workflowId}`,
  })
  tx.afterCommit(() => jobNotifier.notify())
}

/** Returns the next firing after `at`; null if there is none, or if the schedule cannot be read. */
function findNext(
  { log }: Pick<ScheduleDeps, 'log'>,
  { id, triggerConfig }: Workflow,
  at: number,
): number | null {
  try {
    return nextFiring(triggerConfig as FiringTimes, at)
  } catch (error) {
    log.warn({ workflowId: id, error: describeError(error) }, 'a schedule cannot be read')
    return null
  }
}

/** Finds the next firings of fenced schedules. This takes some ms each, too long for a transaction. */
export async function findFencedFirings(
  { store, log }: Pick<Base, 'store' | 'log'>,
  projectIds: readonly string[],
): Promise<FoundFiring[]> {
  const fenced = await store.scan.list(listFenced, { projectIds: JSON.stringify(projectIds) })
  return fenced.flatMap(({ id, version, config, fencedAt }) => {
    try {
      const firesAt = nextFiring(JSON.parse(config) as FiringTimes, fencedAt)
      return firesAt === null ? [] : [{ id, version, firesAt }]
    } catch (error) {
      log.warn({ workflow: id, error: describeError(error) }, 'a schedule cannot be read')
      return []
    }
  })
}

/**
 * Returns how many schedules fire again. A schedule that was changed since the firing was found is
 * left out: it has a next firing of its own.
 */
export async function releaseSchedules(tx: Tx, firings: readonly FoundFiring[]): Promise<number> {
  const changed = await tx.executeEach(setNextFiring, firings)
  return changed.reduce((sum, count) => sum + count, 0)
}
