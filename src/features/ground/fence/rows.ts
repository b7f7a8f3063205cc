/**
 * A fence keeps back all work of a project that would go on by itself after the database was brought back from a
 * copy, until an operator releases the fence. A row of `fences` has the numbers and times up to which work is
 * old and is fenced:
 *
 *   emails               accepted up to `mailUntil`: put aside (`messages/fenced`), state `paused`
 *   campaigns            those that were being sent or scheduled are paused, with the reason `restored`
 *   executions, their    up to `executionNumber`: the engine and the requester pass them over
 *   requests
 *   webhook deliveries   up to `deliveryNumber`: the sender passes them over
 *   events               up to `eventSeq`: executions and deliveries that followers make of them are fenced
 *                        too, by raising the two numbers above (`raiseExecutions`, `raiseDeliveries`)
 *   schedules            enabled, without a next firing
 *   metering batches     `is_held`
 *   jobs                 due at `FENCED_UNTIL`, if their effects leave the server (`fence` of the job in its `area.ts`)
 *   received mail        not read yet: state `held`
 *
 * The server itself has a row too, with the id '', for jobs without a project and for received mail.
 */
import { listOf, selectLastNumber } from '../../../store/dialect.ts'
import { desc, eq, type SQL, sql } from '../../../store/drizzle.ts'
import { type Fence, fences, generations } from '../../../store/schema/fences.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'

/** The id of the row of the server itself. */
export const SERVER = ''

/** The due time of a fenced job: the last instant that dates have. */
export const FENCED_UNTIL = 8_640_000_000_000_000

type Queries = Pick<Tx, 'find' | 'list'>

const findOne = statement((db) =>
  db
    .select()
    .from(fences)
    .where(eq(fences.projectId, parameter('projectId'))),
)

const listAll = statement((db) => db.select().from(fences).orderBy(fences.projectId))

const findNewest = statement((db) =>
  db.select().from(generations).orderBy(desc(generations.number)).limit(1),
)

const findLostLog = statement<{ setAt: number; isStanding: number; newestEventAt: number | null }>(
  () => sql`select set_at as "setAt",
      exists (select 1 from fences where fences.generation >= generations.number) as "isStanding",
      (select created_at from events where seq <= event_seq order by seq desc limit 1)
        as "newestEventAt"
    from generations where cause = 'lost-log' order by number desc limit 1`,
)

/**
 * Finds the last fence that was set because a log was lost. `newestEventAt`: the time of the newest
 * event that the database had then; null without events.
 */
export function findLostLogFence(queries: Pick<Tx, 'find'>) {
  return queries.find(findLostLog)
}

/** Finds the fence of a project; undefined if the project has none. */
export function findFence(queries: Queries, projectId: string): Promise<Fence | undefined> {
  return queries.find(findOne, { projectId })
}

/** Lists all fences, that of the server first. */
export function listFences(queries: Queries): Promise<Fence[]> {
  return queries.list(listAll)
}

/** Finds the newest generation; undefined before the first fence. */
export function findGeneration(queries: Pick<Tx, 'find'>) {
  return queries.find(findNewest)
}

/** SQL: whether the project of a row has a fence. `projectId`: the column of the row. */
export function isFenced(projectId: SQL): SQL {
  return sql`exists (select 1 from fences where fences.project_id = ${projectId})`
}

const listOfProjects = statement<{ projectId: string; eventSeq: number }>(
  () => sql`select project_id as "projectId", event_seq as "eventSeq" from fences
    where project_id in ${listOf(parameter('ids'))}`,
)

const raiseBoth = (column: SQL, table: string) =>
  statement(
    () => sql`update fences set ${column} = coalesce((${selectLastNumber(table)}), 0)
      where project_id in ${listOf(parameter('ids'))} and event_seq >= ${parameter('seq')}`,
  )

const raiseExecution = raiseBoth(sql`execution_number`, 'workflow_executions')
const raiseDelivery = raiseBoth(sql`delivery_number`, 'webhook_deliveries')

type FollowedEvent = { seq: number; projectId: string }

/**
 * Returns the first events that are on the same side of the newest fence, so that a transaction of
 * a follower handles only old events or only new ones. `isOld`: the events are from before the
 * fence.
 */
export async function splitAtFence<Event extends FollowedEvent>(
  tx: Tx,
  events: readonly Event[],
): Promise<{ events: readonly Event[]; isOld: boolean }> {
  const seq = (await tx.find(findNewest))?.eventSeq ?? 0
  const first = events[0]
  if (first === undefined || first.seq > seq) return { events, isOld: false }
  return { events: events.filter((event) => event.seq <= seq), isOld: true }
}

/** Fences the executions that old events have started in this transaction. */
export function raiseExecutions(tx: Tx, events: readonly FollowedEvent[]): Promise<void> {
  return raise(tx, raiseExecution, events)
}

/** Fences the deliveries that were made of old events in this transaction. */
export function raiseDeliveries(tx: Tx, events: readonly FollowedEvent[]): Promise<void> {
  return raise(tx, raiseDelivery, events)
}

async function raise(
  tx: Tx,
  change: typeof raiseExecution,
  events: readonly FollowedEvent[],
): Promise<void> {
  const seq = events.at(-1)?.seq
  if (seq === undefined) return
  await tx.execute(change, { ids: idsOf(events), seq })
}

/**
 * Returns, by project, the number of the last event from before its fence. Empty if all events are
 * newer than the fences.
 */
export async function findFenceSeqs(
  tx: Tx,
  events: readonly FollowedEvent[],
): Promise<ReadonlyMap<string, number>> {
  const { isOld } = await splitAtFence(tx, events)
  if (!isOld) return new Map()
  const rows = await tx.list(listOfProjects, { ids: idsOf(events) })
  return new Map(rows.map(({ projectId, eventSeq }) => [projectId, eventSeq]))
}

function idsOf(events: readonly FollowedEvent[]): string {
  return JSON.stringify([...new Set(events.map(({ projectId }) => projectId))])
}
