/**
 * Computes a segment that has membership events: contacts enter and leave until the members are the
 * contacts that match the condition. Each change appends an event, `segment.<slug>.entry` or
 * `.exit`, unless new rules of filters made it (`rule-change.ts`).
 *
 * Scan threads find the differences; small transactions apply them. A transaction writes member
 * rows and their events together, and skips rows that no longer differ. After a crash, or beside
 * another computation, no change is therefore applied twice, and the next computation applies the
 * rest. Contacts that were deleted meanwhile are skipped.
 *
 * The event of a change that an execution of a workflow caused says so (`caused-changes.ts`).
 *
 * One computation of a segment runs at a time. It starts again when the condition changes
 * meanwhile.
 *
 * For a segment without membership events, a refresh only counts the contacts.
 */
import { MINUTE_MS } from '../../../base/clock.ts'
import { AppError } from '../../../base/errors.ts'
import { indexedBy } from '../../../store/dialect.ts'
import { and, asc, eq, isNull, sql } from '../../../store/drizzle.ts'
import { projects } from '../../../store/schema/accounts.ts'
import { type Segment, segments } from '../../../store/schema/segments.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { alternate } from '../../../turns/alternate.ts'
import { type SweepPace, sweepPages } from '../../../work/sweep.ts'
import type { Base } from '../../ground/base.ts'
import { appendForContacts } from '../../ground/events/append.ts'
import { isFenced } from '../../ground/fence/rows.ts'
import {
  findCauses,
  listAskedEvents,
  readSeen,
  recordCausedMemberships,
  type SeenChanges,
} from './caused-changes.ts'
import { compileSegment } from './contact-scope.ts'
import {
  endMemberships,
  findChanges,
  type MembershipDifference,
  startMemberships,
} from './member-rows.ts'
import { segmentEvent } from './membership-events.ts'
import { afterRuleChange, findRuleChange, type RuleChange } from './rule-change.ts'
import { countSegment, saveCount } from './segment-contacts.ts'
import { findSegment, hasConditionOf, isSegment, loadSegment, type SegmentKey } from './segments.ts'

type ComputeDeps = Pick<Base, 'store' | 'sharedRuns' | 'now'>
type ComputeResult = { added: number; removed: number; total: number }
/** `silent`: the number of added and removed contacts for which no event was appended. */
type Applied = Omit<ComputeResult, 'total'> & { silent: number }

/** Waiting requests run between two batches. */
const PACE: SweepPace = { first: 500, min: 100, max: 1500, batchMs: 10, rest: 'event loop' }

type RefreshDeps = ComputeDeps & Pick<Base, 'log'>

const ROUND_MS = 5 * MINUTE_MS

/**
 * Computes a segment; for a STATIC segment, only corrects its count.
 * @throws AppError RESOURCE_NOT_FOUND; BAD_REQUEST for a segment without membership events, or a
 *   condition that refers to a deleted segment; the signal's reason when it aborts
 */
export async function computeSegment(
  deps: ComputeDeps,
  { signal, ...key }: SegmentKey & { signal?: AbortSignal },
): Promise<ComputeResult> {
  const segment = await loadSegment(deps.store.read, key)
  if (segment.type === 'STATIC') {
    return { added: 0, removed: 0, total: await countSegment(deps, segment) }
  }
  requireMembershipEvents(segment)
  return deps.sharedRuns.take(`compute ${segment.id}`, () => compute(deps, key, signal))
}

/**
 * Refreshes one segment after another, oldest count first, so that a round resumes where the last
 * one was interrupted. Projects alternate, and a round ends after five minutes, so that the next
 * one includes the segments of all projects again. Static segments need no refresh. Segments with
 * events wait while a fence stands: after a database was brought back from a copy, their events
 * would start workflows for people who came and went in between. A failure is logged, and the round
 * continues.
 * @throws the signal's reason when it aborts
 */
export async function refreshSegments(deps: RefreshDeps, signal: AbortSignal): Promise<void> {
  const { scan } = deps.store
  const endAt = deps.now() + ROUND_MS
  const keys: SegmentKey[] = await scan
    .select({ projectId: segments.projectId, id: segments.id })
    .from(segments)
    .innerJoin(projects, eq(projects.id, segments.projectId))
    .where(
      and(
        eq(segments.type, 'DYNAMIC'),
        isNull(projects.resetSince),
        isNull(projects.deletedAt),
        sql`not (${segments.hasMembershipEvents} and ${isFenced(sql`${segments.projectId}`)})`,
      ),
    )
    .orderBy(asc(segments.countedAt), asc(segments.id))
  for (const key of alternate(keys, ({ projectId }) => projectId)) {
    signal.throwIfAborted()
    if (deps.now() >= endAt) return
    try {
      await refreshOne(deps, key, signal)
    } catch (error) {
      signal.throwIfAborted()
      deps.log.warn({ error, segmentId: key.id }, 'a segment could not be refreshed')
    }
  }
}

async function compute(
  deps: ComputeDeps,
  key: SegmentKey,
  signal: AbortSignal | undefined,
): Promise<ComputeResult> {
  let done: Applied = { added: 0, removed: 0, silent: 0 }
  for (;;) {
    const segment = await loadSegment(deps.store.read, key)
    const ruleChange = await findRuleChange(deps, segment)
    const seen = await readSeen(deps.store.read)
    const { isOutdated, ...applied } = await computeOnce(deps, segment, {
      done,
      ruleChange,
      signal,
    })
    done = applied
    const isTouched = done.silent > 0 || segment.filterChange !== null
    const total = isOutdated
      ? undefined
      : await saveTotal(deps, segment, { ruleChange, isTouched, seen })
    if (total !== undefined) return { added: done.added, removed: done.removed, total }
  }
}

/** `isOutdated`: the condition has changed since the changes were found, so the work starts again. */
type Progress = Applied & { isOutdated: boolean }
type Computation = {
  done: Applied
  ruleChange: RuleChange | undefined
  signal: AbortSignal | undefined
}

/** Applies the differences that are there now, and returns `done` with their counts added. */
async function computeOnce(
  deps: ComputeDeps,
  segment: Segment,
  { done, ruleChange, signal }: Computation,
): Promise<Progress> {
  const { projectId, id: segmentId } = segment
  const condition = await compileSegment(deps, segment)
  const eventNames = await listAskedEvents(deps, segment)
  const isSilent = ruleChange?.changed?.isTouched
  const pages = findChanges(deps, { projectId, segmentId, condition, isSilent })
  return sweepPages<MembershipDifference, Progress>(
    deps,
    { pace: PACE, heavyFor: projectId, job: signal && { signal } },
    {
      from: { ...done, isOutdated: false },
      pages,
      change: (tx, changes, before) =>
        applyChanges(deps, tx, segment, { changes, eventNames, before }),
      isOver: ({ isOutdated }) => isOutdated,
    },
  )
}

type ChangeBatch = {
  changes: readonly MembershipDifference[]
  eventNames: readonly string[]
  before: Progress
}

async function applyChanges(
  { now }: ComputeDeps,
  tx: Tx,
  segment: Segment,
  { changes, eventNames, before }: ChangeBatch,
): Promise<Progress> {
  const { id: segmentId } = segment
  const current = await loadSegment(tx, segment)
  requireMembershipEvents(current)
  if (!hasConditionOf(current, segment)) return { ...before, isOutdated: true }
  const at = now()
  const idsOf = (isEntry: boolean) =>
    changes.filter((change) => change.isEntry === isEntry).map(({ contactId }) => contactId)
  const entered = await startMemberships(tx, { segmentId, contactIds: idsOf(true), at })
  const left = await endMemberships(tx, { segmentId, contactIds: idsOf(false), at })
  const silent = changes.filter(({ isSilent }) => isSilent).map(({ contactId }) => contactId)
  const spoken = withoutIds({ entered, left }, new Set(silent))
  const contactIds = [...spoken.entered, ...spoken.left]
  const depths = await findCauses(tx, segment, { contactIds, eventNames })
  await appendMembershipEvents(tx, current, { ...spoken, depths, at })
  await recordCausedMemberships(tx, segment, depths)
  const count = entered.length + left.length
  const silentCount = count - spoken.entered.length - spoken.left.length
  if (silentCount > 0) await beginNote(tx, current, at)
  return {
    added: before.added + entered.length,
    removed: before.removed + left.length,
    silent: before.silent + silentCount,
    isOutdated: false,
  }
}

/**
 * Stores the number of members before the first silent change, so that the number is kept even if a
 * crash interrupts the computation.
 */
async function beginNote(tx: Tx, segment: Segment, at: number): Promise<void> {
  if (segment.filterChange !== null) return
  const { memberCount } = segment
  const filterChange = { at, membersBefore: memberCount, membersAfter: memberCount, filters: [] }
  await tx.update(segments).set({ filterChange }).where(isSegment(segment))
}

type Moved = { entered: string[]; left: string[] }

function withoutIds({ entered, left }: Moved, ids: ReadonlySet<string>): Moved {
  const isSpoken = (id: string) => !ids.has(id)
  return { entered: entered.filter(isSpoken), left: left.filter(isSpoken) }
}

async function appendMembershipEvents(
  tx: Tx,
  segment: Segment,
  { entered, left, depths, at }: Moved & { depths: ReadonlyMap<string, number>; at: number },
): Promise<void> {
  const { projectId } = segment
  const data = { segmentId: segment.id, segmentName: segment.name }
  const named = (change: 'entry' | 'exit') => ({ projectId, name: segmentEvent(segment, change) })
  await appendForContacts(tx, { ...named('entry'), data, at }, entered, depths)
  await appendForContacts(tx, { ...named('exit'), data, at }, left, depths)
}

/** Returns undefined when the condition has changed or the segment was deleted. */
async function saveTotal(
  deps: ComputeDeps,
  segment: Segment,
  {
    ruleChange,
    isTouched,
    seen,
  }: { ruleChange: RuleChange | undefined; isTouched: boolean; seen: SeenChanges },
): Promise<number | undefined> {
  const [row] = await deps.store.scan.values<[number]>(
    sql`select count(*) from segment_members ${indexedBy('segment_members_newest')}
      where segment_id = ${segment.id} and exited_at is null`,
  )
  const memberCount = row?.[0] ?? 0
  const at = deps.now()
  const rules = ruleChange && afterRuleChange(segment, ruleChange, { memberCount, at, isTouched })
  const isSaved = await saveCount(deps, segment, { memberCount, countedAt: at, ...rules, ...seen })
  return isSaved ? memberCount : undefined
}

function requireMembershipEvents({ hasMembershipEvents }: Segment): void {
  if (hasMembershipEvents) return
  const text = 'The segment does not track its membership, so there is nothing to compute.'
  throw new AppError('BAD_REQUEST', text, {
    suggestion: 'Set trackMembership, or refresh the count instead.',
  })
}

async function refreshOne(deps: RefreshDeps, key: SegmentKey, signal: AbortSignal): Promise<void> {
  const segment = await findSegment(deps.store.read, key)
  if (segment === undefined) return
  if (segment.hasMembershipEvents) await computeSegment(deps, { ...key, signal })
  else await countSegment(deps, segment)
}
