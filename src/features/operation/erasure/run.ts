/**
 * The jobs that erase a project. They delete its rows, look again for rows that came in meanwhile, and
 * finish in the transaction that finds none. All that they know is in the database: a job that was
 * interrupted begins again, and finds only what is left.
 */
import { selectLastNumber } from '../../../store/dialect.ts'
import { and, eq, isNull, sql } from '../../../store/drizzle.ts'
import { projects } from '../../../store/schema/accounts.ts'
import { jobs } from '../../../store/schema/jobs.ts'
import { statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { RunningJob } from '../../../work/jobs/run.ts'
import type { Base } from '../../ground/base.ts'
import type { PartValues, TablePart } from '../../ground/manifest/part.ts'
import { eraseContents, eraseInboundMessages } from './erase-mail.ts'
import { createEraser, type Eraser, type EraserDeps } from './eraser.ts'
import type { ErasurePayload } from './kinds.ts'
import { CONTENTS, listParts, QUEUE, UNBILLED } from './parts.ts'
import { untilBilled, untilCounted } from './until-counted.ts'

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
  // Rows of the request log since the reset began are about the reset itself, so they stay.
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
    // Once the project is gone, its use can be charged to no customer.
    mustBeBilled: customer !== null,
    finish: async (tx) => {
      await tx.delete(projects).where(eq(projects.id, id))
      // The job's row goes, too: its payload names the project.
      await tx.delete(jobs).where(eq(jobs.id, job.id))
    },
  })
}

async function findProject({ store }: Deps, { payload }: RunningJob): Promise<Project | undefined> {
  const { projectId } = payload as ErasurePayload
  return store.read.select().from(projects).where(eq(projects.id, projectId)).get()
}

/** `mustBeBilled`: the project cannot go before billing has counted its events. */
type ErasureWork = {
  parts: readonly TablePart[]
  /** `forget`: the project will not come back, so nothing of it is kept. */
  forget: boolean
  mustBeBilled: boolean
  finish(tx: Tx): Promise<unknown>
}

/** @throws Error when the project's events must be billed and billing stands still */
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

/** A project that an operator disabled meanwhile stays disabled. */
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
