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
 */
import { setImmediate } from 'node:timers/promises'
import { AppError } from '../../../base/errors.ts'
import { indexedBy } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { type Segment, segments } from '../../../store/schema/segments.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import { appendForContacts } from '../../ground/events/append.ts'
import {
  findCauses,
  listAskedEvents,
  readSeen,
  recordCausedMemberships,
  type Seen,
} from './caused-changes.ts'
import { compileSegment } from './contact-scope.ts'
import { countSegment, saveCount } from './count.ts'
import { hasConditionOf, isSegment, loadSegment } from './get.ts'
import { endMemberships, startMemberships } from './member-rows.ts'
import { type Change, findChanges } from './membership-changes.ts'
import { afterRuleChange, findRuleChange, type RuleChange } from './rule-change.ts'
import { segmentEvent } from './slug.ts'
import type { SegmentKey } from './view.ts'

type ComputeDeps = Pick<Base, 'store' | 'sharedRuns' | 'now'>
type ComputeResult = { added: number; removed: number; total: number }
/** `silent`: how many of both had no event. */
type Applied = Omit<ComputeResult, 'total'> & { silent: number }

/** The time that one transaction of changes may take, and the number of changes in it. */
const TRANSACTION_MS = 10
const FIRST_BATCH = 500
const MIN_BATCH = 100
const MAX_BATCH = 1500

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

async function compute(
  deps: ComputeDeps,
  key: SegmentKey,
  signal: AbortSignal | undefined,
): Promise<ComputeResult> {
  const done: Applied = { added: 0, removed: 0, silent: 0 }
  for (;;) {
    const segment = await loadSegment(deps.store.read, key)
    const ruleChange = await findRuleChange(deps, segment)
    const seen = await readSeen(deps.store.read)
    const isDone = await computeOnce(deps, segment, { done, ruleChange, signal })
    const isTouched = done.silent > 0 || segment.filterChange !== null
    const total = isDone
      ? await saveTotal(deps, segment, { ruleChange, isTouched, seen })
      : undefined
    if (total !== undefined) return { added: done.added, removed: done.removed, total }
  }
}

type Computation = {
  done: Applied
  ruleChange: RuleChange | undefined
  signal: AbortSignal | undefined
}

/** Adds to `done`. Returns false when the condition has changed, so that the work starts again. */
async function computeOnce(
  deps: ComputeDeps,
  segment: Segment,
  { done, ruleChange, signal }: Computation,
): Promise<boolean> {
  const { projectId, id: segmentId } = segment
  const condition = await compileSegment(deps, segment)
  const eventNames = await listAskedEvents(deps, segment)
  const isSilent = ruleChange?.changed?.isTouched
  let size = FIRST_BATCH
  for await (const changes of findChanges(deps, { projectId, segmentId, condition, isSilent })) {
    for (let index = 0; index < changes.length; ) {
      signal?.throwIfAborted()
      const batch = changes.slice(index, index + size)
      const applied = await applyChanges(deps, segment, { changes: batch, eventNames })
      if (applied === undefined) return false
      done.added += applied.added
      done.removed += applied.removed
      done.silent += applied.silent
      index += batch.length
      size = nextSize(batch.length, applied.tookMs)
      // Lets waiting requests run before the next batch.
      await setImmediate()
    }
    signal?.throwIfAborted()
  }
  return true
}

/** Returns the number of changes that fit into TRANSACTION_MS, judged by the last transaction. */
function nextSize(size: number, tookMs: number): number {
  const fitting = Math.round((size * TRANSACTION_MS) / Math.max(tookMs, 1))
  return Math.min(Math.max(fitting, MIN_BATCH), MAX_BATCH)
}

/** Returns undefined when the condition has changed since the changes were found. */
async function applyChanges(
  { store, now }: ComputeDeps,
  segment: Segment,
  { changes, eventNames }: { changes: readonly Change[]; eventNames: readonly string[] },
): Promise<(Applied & { tookMs: number }) | undefined> {
  const write = async (tx: Tx) => {
    const begunAt = performance.now()
    const { id: segmentId } = segment
    const current = await loadSegment(tx, segment)
    requireMembershipEvents(current)
    if (!hasConditionOf(current, segment)) return undefined
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
    const tookMs = performance.now() - begunAt
    const count = entered.length + left.length
    const silentCount = count - spoken.entered.length - spoken.left.length
    if (silentCount > 0) await beginNote(tx, current, at)
    return { added: entered.length, removed: left.length, silent: silentCount, tookMs }
  }
  return store.write(write, { heavyFor: segment.projectId })
}

/** A computation that a crash interrupted leaves the number of members before it. */
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
  }: { ruleChange: RuleChange | undefined; isTouched: boolean; seen: Seen },
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
