/**
 * The jobs that erase a project. They delete its rows, look again for rows that came in meanwhile, and
 * finish in the transaction that finds none. All that they know is in the database: a job that was
 * interrupted begins again, and finds only what is left.
 *
 * A job first waits until followers have counted the events that it erases: the figures of reputation, so
 * that a reset cannot hide bounces and complaints, and billing, so that no email goes without being charged.
 */
import { setTimeout as sleep } from 'node:timers/promises'

import { SECOND_MS } from '../../../base/clock.ts'
import { selectLastNumber } from '../../../store/dialect.ts'
import { and, eq, isNull, sql } from '../../../store/drizzle.ts'
import { projects } from '../../../store/schema/accounts.ts'
import { jobs } from '../../../store/schema/jobs.ts'
import { statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { RunningJob } from '../../../work/jobs/run.ts'
import type { Base } from '../../ground/base.ts'
import type { PartValues, TablePart } from '../../ground/manifest/part.ts'
import {
  CONTENTS,
  createEraser,
  type Eraser,
  type EraserDeps,
  eraseContents,
  eraseInboundMessages,
  findUnbilled,
  listParts,
  QUEUE,
  UNBILLED,
} from './erase-rows.ts'
import type { ErasurePayload } from './kinds.ts'

type Deps = EraserDeps & Pick<Base, 'directory' | 'duties'>
type Project = typeof projects.$inferSelect

/** Finds the number of the last event, even if that event is gone. */
const findLastEvent = statement<{ seq: number }>(() => selectLastNumber('events'))

/** Runs the job of a reset. */
export async function runReset(deps: Deps, job: RunningJob): Promise<void> {
  const project = await findProject(deps, job)
  if (project === undefined || project.resetSince === null) return
  const { id, resetSince } = project
  await untilCounted(deps, job)
  // The request log keeps its lines since the reset began, because they are about the reset.
  const values = { projectId: id, jobId: job.id, before: resetSince, at: deps.now() }
  const eraser = await createEraser(deps, job, values)
  await erase(deps, eraser, {
    parts: listParts(deps.duties.tables, 'reset'),
    forget: false,
    mustBeBilled: false,
    finish: (tx) => finishReset(deps, tx, { id, resetSince }),
  })
}

/** Runs the job of a deletion. */
export async function runDeletion(deps: Deps, job: RunningJob): Promise<void> {
  const project = await findProject(deps, job)
  if (project === undefined || project.deletedAt === null) return
  const { id, customer } = project
  const before = Number.MAX_SAFE_INTEGER
  const values = { projectId: id, jobId: job.id, before, at: deps.now() }
  const eraser = await createEraser(deps, job, values)
  await erase(deps, eraser, {
    parts: listParts(deps.duties.tables, 'deletion'),
    forget: true,
    // A project that is gone has no customer, so its use must be charged before.
    mustBeBilled: customer !== null,
    finish: async (tx) => {
      await tx.delete(projects).where(eq(projects.id, id))
      // The row of the job is deleted too, because its payload names the project.
      await tx.delete(jobs).where(eq(jobs.id, job.id))
    },
  })
}

async function findProject({ store }: Deps, { payload }: RunningJob): Promise<Project | undefined> {
  const { projectId } = payload as ErasurePayload
  return store.read.select().from(projects).where(eq(projects.id, projectId)).get()
}

/** `mustBeBilled`: the project must stay until billing has counted its events. */
type ErasureWork = {
  parts: readonly TablePart[]
  /** `forget`: whether the project will not come back, so that nothing of it is kept. */
  forget: boolean
  mustBeBilled: boolean
  finish(tx: Tx): Promise<unknown>
}

/**
 * Erases the rows until none is left.
 * @throws Error when the project's events must be billed and billing stands still
 */
async function erase(
  deps: Deps,
  eraser: Eraser,
  { parts, forget, mustBeBilled, finish }: ErasureWork,
): Promise<void> {
  const all = [QUEUE, CONTENTS, ...parts]
  await eraser.count(all)
  for (let isDone = false; !isDone; ) {
    await eraseQueue(deps, eraser, forget)
    await eraseContents(deps, eraser)
    const { signal, values } = eraser
    const isBilled = await untilBilled(deps, { signal, projectId: values.projectId })
    if (mustBeBilled && !isBilled) throw new Error('Billing stands still.')
    for (const part of parts) await eraseRows(deps, eraser, { part, forget })
    await eraseInboundMessages(deps, eraser, { forget })
    isDone = await eraser.write(async (tx) => {
      if (await hasRows(tx, eraser, all)) return false
      await finish(tx)
      return true
    })
  }
}

async function eraseQueue(
  { store }: Pick<Deps, 'store'>,
  { repeat, values }: Eraser,
  forget: boolean,
): Promise<void> {
  if ((await store.read.find(QUEUE.find, values)) === undefined) return
  await repeat(async (tx, limit) => {
    const unbilled = await tx.execute(UNBILLED.erase, { ...values, limit })
    return unbilled > 0 ? unbilled : eraseSome(tx, { part: QUEUE, forget, values, limit })
  })
}

async function eraseRows(
  { store }: Pick<Deps, 'store'>,
  { repeat, values }: Eraser,
  { part, forget }: { part: TablePart; forget: boolean },
): Promise<void> {
  if ((await store.read.find(part.find, values)) === undefined) return
  await repeat((tx, limit) => eraseSome(tx, { part, forget, values, limit }))
}

/**
 * Erases a batch of rows. A reset first keeps what links in sent mail need, because these links
 * outlive it.
 */
async function eraseSome(
  tx: Tx,
  {
    part: { keep, erase: statement },
    forget,
    values,
    limit,
  }: { part: TablePart; forget: boolean; values: PartValues; limit: number },
): Promise<number> {
  if (keep !== undefined && !forget) await tx.execute(keep, { ...values, limit })
  return tx.execute(statement, { ...values, limit })
}

async function hasRows(tx: Tx, { values }: Eraser, parts: readonly TablePart[]): Promise<boolean> {
  for (const { find } of parts) {
    if ((await tx.find(find, values)) !== undefined) return true
  }
  return false
}

/** Ends the reset. The project stays disabled if an operator disabled it meanwhile. */
async function finishReset(
  { now, directory }: Deps,
  tx: Tx,
  { id, resetSince }: { id: string; resetSince: number },
): Promise<void> {
  const at = now()
  await tx
    .update(projects)
    .set({
      ...{ resetSince: null, lastResetSince: resetSince, lastResetAt: at, updatedAt: at },
      isDisabled: sql`${projects.disabledReason} is not null`,
      countedAfter: (await tx.find(findLastEvent))?.seq ?? 0,
    })
    .where(and(eq(projects.id, id), isNull(projects.deletedAt)))
  tx.afterCommit(directory.drop)
}

/**
 * A follower that makes no progress for this long counts as failing; its failures are in the log. A
 * failing follower must not keep a project closed.
 */
const STANDSTILL_MS = 5 * SECOND_MS
const POLL_MS = 50

type WaitDeps = Pick<Base, 'store' | 'log'>
type Wait = { signal: AbortSignal; standstillMs?: number }
type ErasurePlace = { seq: number }

/** Finds how far the handler 'reputation' has read events; no row if there is no such handler. */
const findPlace = statement<ErasurePlace & { newest: number | null }>(
  () => sql`select seq, (select max(seq) from events) as newest
    from event_followers where name = 'reputation'`,
)

const findBilling = statement<ErasurePlace>(
  () => sql`select seq from event_followers where name = 'billing'`,
)

export async function untilCounted({ store, log }: WaitDeps, wait: Wait): Promise<void> {
  const aim = (await store.read.find(findPlace))?.newest ?? 0
  const isDone = await poll(wait, async () => {
    const place = await store.read.find(findPlace)
    return place === undefined || place.seq >= aim ? undefined : place
  })
  if (!isDone) {
    log.warn({ aim }, 'a reset did not wait until the reputation had counted all events')
  }
}

/**
 * Waits until billing has counted the project's deleted events.
 * @returns false when billing stands still
 */
export async function untilBilled(
  { store, log }: WaitDeps,
  { projectId, ...wait }: Wait & { projectId: string },
): Promise<boolean> {
  const isDone = await poll(wait, async () => {
    const left = await store.read.find(findUnbilled, { projectId })
    return left && store.read.find(findBilling)
  })
  if (!isDone) {
    log.warn({ projectId }, 'billing has not counted all events of an erased project')
  }
  return isDone
}

/**
 * Waits until `findPlace` returns undefined, because the follower is far enough. Else `findPlace`
 * returns where the follower is. Returns false when the follower stands still.
 */
async function poll(
  { signal, standstillMs = STANDSTILL_MS }: Wait,
  findPlace: () => Promise<ErasurePlace | undefined>,
): Promise<boolean> {
  let last = -1
  let movedAt = performance.now()
  for (;;) {
    const place = await findPlace()
    if (place === undefined) return true
    if (place.seq > last) movedAt = performance.now()
    else if (performance.now() - movedAt > standstillMs) return false
    last = place.seq
    await sleep(POLL_MS, undefined, { signal })
  }
}
