/**
 * Finds out whether an execution of a workflow is why a contact entered or left a segment: the
 * event of such a change carries the depth of the chain (`workflows/chains`). A segment is computed
 * minutes after the change, so the cause is a row:
 *
 *   the execution changed the contact   a row of `caused_changes`
 *   it recorded an event                the event, if the condition asks for events of that name
 *   another segment changed by it       a row again, if a condition refers to that segment
 *
 * A cause counts until a complete computation of each segment has seen it. Then its row is deleted
 * (`deleteSeenChanges`). A segment whose last computation is a day (`STUCK_MS`) older than another
 * one's is left out: its computation fails. If somebody else changed the contact too between two
 * computations, its event carries the depth all the same.
 */
import { DAY_MS } from '../../../base/clock.ts'
import {
  contains,
  eachOf,
  jsonItem,
  listOf,
  orderedJoin,
  selectLastNumber,
  unindexed,
  unseen,
} from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import type { Segment } from '../../../store/schema/segments.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { sweepRows } from '../../../work/sweep.ts'
import type { Base } from '../../ground/base.ts'
import { listReferences } from '../../ground/conditions/condition.ts'
import { loadReferencedSegments } from '../../ground/conditions/referenced-segments.ts'
import { isOfMail } from '../../ground/events/depth.ts'
import { readSegmentCondition } from './contact-scope.ts'

/** The last change and the last event that a computation has seen. */
export type SeenChanges = Pick<Segment, 'seenChange' | 'seenEvent'>

/** The clock may go back by this much between two computations. */
const CLOCK_STEP_MS = 2 * DAY_MS

/**
 * A segment whose last computation is older than another one's by more than this is left out: its
 * computation fails.
 */
const STUCK_MS = DAY_MS

const lastChange = sql`coalesce((${selectLastNumber('caused_changes')}), 0)`
const lastEvent = sql`coalesce((select max(seq) from events), 0)`

/**
 * The columns of a segment that begins to record events: earlier changes count as seen, and so
 * cause none of its events.
 */
export const SEEN_ALL = { seenChange: lastChange, seenEvent: lastEvent }

const findSeen = statement<SeenChanges>(
  () => sql`select ${lastChange} as "seenChange", ${lastEvent} as "seenEvent"`,
)

/** SQL after `from`: the segments of the project that are computed. */
const tracked = sql`segments where project_id = ${unseen(parameter('projectId'))} and type = 'DYNAMIC'
  and track_membership = 1`

const computedAt = sql`coalesce(counted_at, created_at)`

const ofContacts = sql`caused_changes where contact_id in ${listOf(parameter('contactIds'))}`

const listKnown = statement<{ contactId: string; number: number; depth: number }>(
  () => sql`select contact_id as "contactId", number, depth from ${ofContacts}`,
)

/**
 * Finds the number up to which every computed segment of the project has seen the changes; null if
 * no segment is computed.
 */
const findOldestSeen = statement<{ seenChange: number | null }>(
  () => sql`select min(seen_change) as "seenChange" from ${tracked}
    and ${computedAt} > (select max(${computedAt}) from ${tracked}) - ${STUCK_MS}`,
)

const deleteChanges = statement(() => sql`delete from ${ofContacts}`)

/** `changes`: pairs of a contact's id and the depth of the event that follows. */
const insertChanges = statement(
  () => sql`insert into caused_changes (contact_id, depth)
    select ${jsonItem(sql`row.value`, 0)}, ${jsonItem(sql`row.value`, 1)}
    from ${eachOf(parameter('changes'))} as row`,
)

const isReferred = statement<{ id: string }>(
  () => sql`select id from ${tracked} and id <> ${parameter('id')}
    and ${contains(sql`lower(condition)`, sql`lower(${parameter('id')})`)} limit 1`,
)

const listChanged = statement<{ contactId: string; depth: number }>(
  () => sql`select contact_id as "contactId", depth from caused_changes
    where contact_id in ${listOf(parameter('contactIds'))} and number > ${parameter('seen')}`,
)

/** `names`: the names of events. `mailNames`: the names of events that follow from an email. */
const listByEvents = statement<{ contactId: string; depth: number }>(
  () => sql`select events.contact_id as "contactId",
      max(coalesce(events.depth, execution.depth + 1)) as depth
    from ${eachOf(parameter('contactIds'))} as contact
    ${orderedJoin()} ${eachOf(parameter('names'))} as wanted
    ${orderedJoin()} events on events.contact_id = contact.value and events.name = wanted.value
      and events.created_at >= ${parameter('since')} and ${unindexed(sql`events.seq`)} > ${parameter('seen')}
    left join emails on emails.id = events.email_id
      and events.name in ${listOf(parameter('mailNames'))}
    left join workflow_executions as execution on execution.id = emails.workflow_execution_id
    where events.depth is not null or execution.depth is not null
    group by events.contact_id`,
)

/**
 * A segment whose last computation is older than another one's by more than this no longer keeps
 * causes from deletion: its computation fails.
 */
const KEPT_MS = 7 * DAY_MS
const BATCH = 1000

const findBatchEnd = statement<{ until: number | null }>(
  () => sql`select max(number) as "until" from (
    select number from caused_changes where number > ${parameter('after')} order by number limit ${BATCH})`,
)

const lastComputedAt = sql`coalesce(counted_at, created_at)`
const computed = sql`segments
  where project_id = (select project_id from contacts where id = caused_changes.contact_id)
    and type = 'DYNAMIC' and track_membership = 1`

const deleteSeen = statement(
  () => sql`delete from caused_changes where number > ${parameter('after')} and number <= ${parameter('until')}
    and number <= coalesce((select min(seen_change) from ${computed}
      and ${lastComputedAt} > (select max(${lastComputedAt}) from ${computed}) - ${KEPT_MS}), number)`,
)

/** Reads the last change and the last event, which a computation that begins now will see. */
export async function readSeen(queries: Pick<Tx, 'find'>): Promise<SeenChanges> {
  return (await queries.find(findSeen, {})) ?? { seenChange: 0, seenEvent: 0 }
}

/**
 * Records that executions changed contacts of the project. `depths`: the depth of the events that
 * follow, by contact.
 */
export async function recordCausedChanges(
  tx: Tx,
  projectId: string,
  depths: ReadonlyMap<string, number>,
): Promise<void> {
  if (depths.size === 0) return
  const contactIds = JSON.stringify([...depths.keys()])
  const known = await tx.list(listKnown, { contactIds })
  if (known.length > 0) await tx.execute(deleteChanges, { contactIds })
  const seen = (await tx.find(findOldestSeen, { projectId }))?.seenChange ?? null
  if (seen === null) return
  const deepest = new Map(depths)
  for (const { contactId, number, depth } of known) {
    if (number > seen) deepest.set(contactId, Math.max(depth, deepest.get(contactId) ?? 0))
  }
  await tx.execute(insertChanges, { changes: JSON.stringify([...deepest]) })
}

/**
 * Records that executions changed members of the segment. `depths`: the depth of each change, by
 * contact.
 */
export async function recordCausedMemberships(
  tx: Tx,
  { id, projectId }: Pick<Segment, 'id' | 'projectId'>,
  depths: ReadonlyMap<string, number>,
): Promise<void> {
  if (depths.size === 0) return
  if ((await tx.find(isReferred, { projectId, id })) === undefined) return
  await recordCausedChanges(tx, projectId, depths)
}

/**
 * Lists the names of the events that the condition of a segment asks for, or the condition of a
 * segment to which it refers.
 */
export async function listAskedEvents(
  { store }: Pick<Base, 'store'>,
  segment: Segment,
): Promise<string[]> {
  const { projectId, id: ofSegmentId } = segment
  const condition = readSegmentCondition(segment)
  const referenced = await loadReferencedSegments({ store }, { projectId, condition, ofSegmentId })
  const all = [condition, ...[...referenced.values()].map((other) => other.condition)]
  const names = all.flatMap((each) => (each === undefined ? [] : listReferences(each).events))
  return [...new Set(names)]
}

/**
 * Returns, by contact, the depth of its event, if an execution is why the contact enters or leaves.
 */
export async function findCauses(
  tx: Pick<Tx, 'list'>,
  { seenChange, seenEvent, countedAt }: Segment,
  { contactIds, eventNames }: { contactIds: readonly string[]; eventNames: readonly string[] },
): Promise<Map<string, number>> {
  const ids = JSON.stringify(contactIds)
  const rows = await tx.list(listChanged, { contactIds: ids, seen: seenChange })
  if (eventNames.length > 0) {
    const mailNames = JSON.stringify(eventNames.filter(isOfMail))
    const names = JSON.stringify(eventNames)
    const since = (countedAt ?? 0) - CLOCK_STEP_MS
    rows.push(
      ...(await tx.list(listByEvents, {
        contactIds: ids,
        names,
        mailNames,
        since,
        seen: seenEvent,
      })),
    )
  }
  const depths = new Map<string, number>()
  for (const { contactId, depth } of rows) {
    depths.set(contactId, Math.max(depth, depths.get(contactId) ?? 0))
  }
  return depths
}

/**
 * Deletes the causes that every computed segment of the project has seen, and all causes in
 * projects without a computed segment. Returns the number of deleted rows. @throws the signal's
 * reason when it aborts
 */
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
