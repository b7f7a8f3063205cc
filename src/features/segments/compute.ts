/**
 * Computes a segment that has membership events: contacts enter and leave until the members are the
 * contacts that match the condition. Each change appends an event, `segment.<slug>.entry` or
 * `.exit`.
 *
 * Scan threads find the differences; small transactions apply them. A transaction writes member
 * rows and their events together, and skips rows that no longer differ. After a crash, or beside
 * another computation, no change is therefore applied twice, and the next computation applies the
 * rest. Contacts that were deleted meanwhile are skipped.
 *
 * One computation of a segment runs at a time. It starts again when the condition changes
 * meanwhile.
 */
import { setImmediate } from 'node:timers/promises'
import { AppError } from '../../errors.ts'
import { indexedBy } from '../../store/dialect.ts'
import { sql } from '../../store/drizzle.ts'
import type { Segment } from '../../store/schema/segments.ts'
import type { Tx } from '../../store/write/transaction.ts'
import type { Base } from '../base.ts'
import { appendForContacts } from '../events/append.ts'
import { compileSegment } from './contact-scope.ts'
import { countSegment, saveCount } from './count.ts'
import { hasConditionOf, loadSegment } from './get.ts'
import { endMemberships, startMemberships } from './member-rows.ts'
import { type Change, findChanges } from './membership-changes.ts'
import { segmentEvent } from './slug.ts'
import type { SegmentKey } from './view.ts'

type ComputeDeps = Pick<Base, 'store' | 'sharedRuns' | 'now'>
type ComputeResult = { added: number; removed: number; total: number }
type Applied = Omit<ComputeResult, 'total'>

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
  const done: Applied = { added: 0, removed: 0 }
  for (;;) {
    const segment = await loadSegment(deps.store.read, key)
    const isDone = await computeOnce(deps, segment, { done, signal })
    const total = isDone ? await saveTotal(deps, segment) : undefined
    if (total !== undefined) return { ...done, total }
  }
}

/** Adds to `done`. Returns false when the condition has changed, so that the work starts again. */
async function computeOnce(
  deps: ComputeDeps,
  segment: Segment,
  { done, signal }: { done: Applied; signal: AbortSignal | undefined },
): Promise<boolean> {
  const { projectId, id: segmentId } = segment
  const condition = await compileSegment(deps, segment)
  let size = FIRST_BATCH
  for await (const changes of findChanges(deps, { projectId, segmentId, condition })) {
    for (let index = 0; index < changes.length; ) {
      signal?.throwIfAborted()
      const batch = changes.slice(index, index + size)
      const applied = await applyChanges(deps, segment, batch)
      if (applied === undefined) return false
      done.added += applied.added
      done.removed += applied.removed
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
  changes: readonly Change[],
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
    await appendMembershipEvents(tx, current, { entered, left, at })
    const tookMs = performance.now() - begunAt
    return { added: entered.length, removed: left.length, tookMs }
  }
  return store.write(write, { heavyFor: segment.projectId })
}

async function appendMembershipEvents(
  tx: Tx,
  segment: Segment,
  { entered, left, at }: { entered: string[]; left: string[]; at: number },
): Promise<void> {
  const { projectId } = segment
  const data = { segmentId: segment.id, segmentName: segment.name }
  const named = (change: 'entry' | 'exit') => ({ projectId, name: segmentEvent(segment, change) })
  await appendForContacts(tx, { ...named('entry'), data, at }, entered)
  await appendForContacts(tx, { ...named('exit'), data, at }, left)
}

/** Returns undefined when the condition has changed or the segment was deleted. */
async function saveTotal(deps: ComputeDeps, segment: Segment): Promise<number | undefined> {
  const [row] = await deps.store.scan.values<[number]>(
    sql`select count(*) from segment_members ${indexedBy('segment_members_newest')}
      where segment_id = ${segment.id} and exited_at is null`,
  )
  const memberCount = row?.[0] ?? 0
  const isSaved = await saveCount(deps, segment, { memberCount, countedAt: deps.now() })
  return isSaved ? memberCount : undefined
}

function requireMembershipEvents({ hasMembershipEvents }: Segment): void {
  if (hasMembershipEvents) return
  const text = 'The segment does not track its membership, so there is nothing to compute.'
  throw new AppError('BAD_REQUEST', text, {
    suggestion: 'Set trackMembership, or refresh the count instead.',
  })
}
