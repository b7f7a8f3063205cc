/**
 * Erases the rows of a project in short transactions between which requests run.
 *
 * The parts are the rows, table by table, in the order in which they are erased: the queue first, then
 * what refers to other rows before the rows themselves, which is the reverse of the order of the areas and
 * their tables. Rows that others own go with their owners: attempts with emails, steps of executions with
 * executions.
 *
 * Bodies, attachments and received mail go by functions of their own: rows with chunks go after their
 * chunks, so that the rest after a crash is found again.
 */
import {
  contains,
  eachOf,
  indexedBy,
  jsonValue,
  listOf,
  notIndexed,
} from '../../../store/dialect.ts'
import { getTableName, sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { loadProgress, saveProgress } from '../../../work/jobs/progress.ts'
import type { RunningJob } from '../../../work/jobs/run.ts'
import { type SweepPace, sweep } from '../../../work/sweep.ts'
import type { Base } from '../../ground/base.ts'
import { deleteChunks } from '../../ground/chunks.ts'
import { billedUntil } from '../../ground/events/unbilled.ts'
import { isOwn, type PartValues, partOf, type TablePart } from '../../ground/manifest/part.ts'
import type { Erasure, TableDuties } from '../../ground/manifest/table.ts'
import { insertErasedEmails } from '../../people/wishes/erased-recipients.ts'

/** The part of the emails, which are the queue. Their attempts are erased with them. */
export const QUEUE = partOf('emails', {
  from: () => sql`emails ${indexedBy('emails_newest')} where ${isOwn}`,
  keep: insertErasedEmails,
})

/** The part of the bodies and attachments, which `eraseContents` deletes. */
export const CONTENTS = partOf('contents')

/**
 * The part of the events that billing has not counted yet. On their deletion the database copies
 * them with what billing needs of their emails, so they are erased before the emails.
 */
export const UNBILLED = partOf('events', {
  from: () => sql`events ${notIndexed()} where seq > ${billedUntil} and ${isOwn}`,
})

/** Finds a deleted event that billing has not counted yet. */
export const findUnbilled = statement<{ found: number }>(
  () => sql`select 1 as found from deleted_events where ${isOwn} and seq > ${billedUntil} limit 1`,
)

/** The rows that a reset or a deletion erases after the queue and its contents, in this order. */
export function listParts(tables: readonly TableDuties[], by: 'reset' | 'deletion'): TablePart[] {
  const ordered = new Map<string, TablePart>()
  const erasures = tables.flatMap(({ erasure }) => (hasPart(erasure) ? [erasure] : [])).reverse()
  const byTable = new Map(erasures.map((erasure) => [erasure.part.table, erasure]))
  for (const { part } of erasures) add(part.table)
  return [...ordered.values()]

  function add(table: string): void {
    const erasure = byTable.get(table)
    if (erasure === undefined || ordered.has(table)) return
    for (const earlier of erasure.after) add(earlier)
    if (by === 'deletion' || erasure.when === 'reset') ordered.set(table, erasure.part)
  }
}

/** Lists the tables whose rows are erased at `when`, which may be `never`. */
export function listErasedTables(tables: readonly TableDuties[], when: Erasure['when']): string[] {
  return tables.flatMap(({ table, erasure }) =>
    erasure?.when === when ? [getTableName(table)] : [],
  )
}

function hasPart(erasure: Erasure | undefined): erasure is Extract<Erasure, { part: TablePart }> {
  return erasure !== undefined && 'part' in erasure
}

export type EraserDeps = Pick<Base, 'store' | 'now' | 'log'>

/** Erases up to `limit` rows and returns their number; 0 when none is left. */
type Batch = (tx: Tx, limit: number) => Promise<number>

export type Eraser = {
  values: PartValues
  /** The signal of the job. */
  signal: AbortSignal
  /**
   * Counts the rows to erase, for the percentage. Does nothing if an earlier run of the job has
   * counted them.
   */
  count(parts: readonly TablePart[]): Promise<void>
  /** Runs batches until no row is left. */
  repeat(batch: Batch): Promise<void>
  /** Runs a transaction of the job, which is rolled back if the job has lost its lease. */
  write<T>(act: (tx: Tx) => Promise<T>): Promise<T>
}

/** `total`: the number of rows at the start. */
type Progress = { erased: number; total: number }

/** The first batch is small, because a single row may be large. */
const PACE: SweepPace = { first: 20, max: 2_000, batchMs: 8, rest: { times: 2 } }

export async function createEraser(
  { store, now }: EraserDeps,
  job: RunningJob,
  values: PartValues,
): Promise<Eraser> {
  let progress = await loadProgress<Progress>(store.read, job.id)
  const heavyFor = values.projectId

  /**
   * Saves the progress in the transaction. `rows`: the number of rows erased since the last save.
   */
  async function save(tx: Tx, rows: number): Promise<void> {
    const { erased, total } = progress ?? { erased: 0, total: 0 }
    const state = { erased: erased + rows, total }
    const percent = total === 0 ? 0 : Math.min(99, (100 * state.erased) / total)
    await saveProgress(tx, job, { state, percent, at: now() })
  }

  async function count(parts: readonly TablePart[]): Promise<void> {
    if (progress !== undefined) return
    let total = 0
    for (const part of parts) total += (await store.scan.find(part.count, values))?.rows ?? 0
    progress = { erased: 0, total }
  }

  async function repeat(batch: Batch): Promise<void> {
    const rules = { pace: PACE, heavyFor, job, until: 'none' as const }
    const erased = await sweep({ store }, rules, async (tx, limit, done) => {
      const count = await batch(tx, limit)
      await save(tx, done + count)
      return count
    })
    progress = { erased: (progress?.erased ?? 0) + erased, total: progress?.total ?? 0 }
  }

  async function write<T>(act: (tx: Tx) => Promise<T>): Promise<T> {
    job.signal.throwIfAborted()
    return store.write(
      async (tx) => {
        await save(tx, 0)
        return act(tx)
      },
      { heavyFor },
    )
  }

  return { values, signal: job.signal, count, repeat, write }
}

const MESSAGE_PAGE = 1_000

/** The number of contents on a page; a body may have 2 MB. */
const CONTENT_PAGE = 500

const listContents = statement<{ id: string; chunkBytes: number }>(
  () => sql`select id, chunk_bytes as "chunkBytes" from contents
    where project_id = ${parameter('projectId')} limit ${CONTENT_PAGE}`,
)

const clearAttachments = statement(
  () => sql`update contents set attachments = null where id in ${listOf(parameter('ids'))}`,
)

const deleteContents = statement(
  () => sql`delete from contents where id in (
    select id from contents where id in ${listOf(parameter('ids'))} limit ${parameter('limit')})`,
)

/** Erases the bodies and attachments of a project. */
export async function eraseContents({ store }: EraserDeps, eraser: Eraser): Promise<void> {
  const { projectId } = eraser.values
  for (;;) {
    eraser.signal.throwIfAborted()
    const page = await store.scan.list(listContents, { projectId })
    if (page.length === 0) return
    const chunked = page.filter(({ chunkBytes }) => chunkBytes > 0).map(({ id }) => id)
    if (chunked.length > 0) {
      await eraser.write((tx) => tx.execute(clearAttachments, { ids: JSON.stringify(chunked) }))
    }
    for (const id of chunked) await deleteChunks(store, id)
    const ids = JSON.stringify(page.map(({ id }) => id))
    await eraser.repeat((tx, limit) => tx.execute(deleteContents, { ids, limit }))
  }
}

type Found = { id: string; isNamed: number; isAlone: number; rawChunks: number }

const listPage = statement<Found>(
  () => sql`select id, ${contains(sql`recipients`, parameter('projectId'))} as "isNamed",
      not exists (select 1 from ${eachOf(sql`recipients`)}
        where coalesce(${jsonValue(sql`value`, 'projectId')}, '') <> ${parameter('projectId')})
        as "isAlone", raw_chunks as "rawChunks"
    from inbound_messages where id > ${parameter('after')} order by id limit ${MESSAGE_PAGE}`,
)

/** Clears a message, which then no longer counts as stored mail and no longer owns its chunks. */
const clearRaw = statement(
  () => sql`update inbound_messages set raw = null where id in ${listOf(parameter('ids'))}`,
)

const deleteMessages = statement(
  () => sql`delete from inbound_messages where id in (
    select id from inbound_messages where id in ${listOf(parameter('ids'))}
    limit ${parameter('limit')})`,
)

const findRecipients = statement<{ recipients: string }>(
  () => sql`select recipients from inbound_messages where id = ${parameter('id')}`,
)

const setRecipients = statement(
  () => sql`update inbound_messages set recipients = ${parameter('recipients')}
    where id = ${parameter('id')}`,
)

const deleteUsage = statement(
  () => sql`delete from inbound_usage where owner = ${parameter('projectId')}`,
)

/**
 * Erases received mail that is for mailboxes of this project only. Mail that is for others too
 * stays with them; `forget` takes the project's mailboxes out of this mail, for a project that
 * will not come back. No index finds the messages of a project, so a scan thread reads all
 * messages, a page at a time.
 */
export async function eraseInboundMessages(
  { store }: EraserDeps,
  eraser: Eraser,
  { forget }: { forget: boolean },
): Promise<void> {
  const { projectId } = eraser.values
  for (let after = ''; ; ) {
    eraser.signal.throwIfAborted()
    const page = await store.scan.list(listPage, { projectId, after })
    const named = page.filter(({ isNamed }) => isNamed === 1)
    await erase({ store }, eraser, named)
    const shared = named.filter(({ isAlone }) => isAlone === 0)
    if (forget) for (const { id } of shared) await eraser.write((tx) => leave(tx, id, projectId))
    const last = page.at(-1)
    if (last === undefined || page.length < MESSAGE_PAGE) break
    after = last.id
  }
  if (forget) await eraser.write((tx) => tx.execute(deleteUsage, { projectId }))
}

async function erase(
  { store }: Pick<EraserDeps, 'store'>,
  eraser: Eraser,
  named: readonly Found[],
): Promise<void> {
  const own = named.filter(({ isAlone }) => isAlone === 1)
  if (own.length === 0) return
  const chunked = own.filter(({ rawChunks }) => rawChunks > 0).map(({ id }) => id)
  if (chunked.length > 0) {
    await eraser.write((tx) => tx.execute(clearRaw, { ids: JSON.stringify(chunked) }))
  }
  for (const id of chunked) await deleteChunks(store, id)
  const ids = JSON.stringify(own.map(({ id }) => id))
  await eraser.repeat((tx, limit) => tx.execute(deleteMessages, { ids, limit }))
}

async function leave(tx: Tx, id: string, projectId: string): Promise<void> {
  const found = await tx.find(findRecipients, { id })
  if (found === undefined) return
  const recipients = JSON.parse(found.recipients) as { projectId?: string }[]
  const others = recipients.filter((recipient) => recipient.projectId !== projectId)
  await tx.execute(setRecipients, { id, recipients: JSON.stringify(others) })
}
