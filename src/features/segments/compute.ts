/**
 * Computing a tracked segment: contacts enter and leave so that its members are whom its condition
 * matches, and each change has its event, `segment.<slug>.entry` or `.exit`.
 *
 * The differences are found by the scan threads and applied in small transactions. Each changes
 * memberships and appends their events together, and changes only rows that are still as they were
 * found to differ: after a crash, or beside another compute, what was done is not done again, and
 * what is left is left for the next one. A contact that was deleted meanwhile is passed over.
 *
 * A segment's computes take turns. When its condition changes during one, that one starts anew.
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
import type { SegmentTarget } from './view.ts'

export type ComputeDeps = Pick<Base, 'store' | 'sharedRuns' | 'now'>
export type ComputeResult = { added: number; removed: number; total: number }
type Applied = Omit<ComputeResult, 'total'>

/** What a transaction of changes may take, and how many are tried first. */
const TRANSACTION_MS = 10
const FIRST_CHUNK = 500
const MIN_CHUNK = 100
const MAX_CHUNK = 1500

/**
 * Of a STATIC one only the count is checked.
 * @throws AppError RESOURCE_NOT_FOUND; BAD_REQUEST when its membership is not tracked, or its
 *   condition refers to a segment that is gone; the signal's reason when it aborts
 */
export async function computeSegment(
  deps: ComputeDeps,
  { signal, ...target }: SegmentTarget & { signal?: AbortSignal },
): Promise<ComputeResult> {
  const segment = await loadSegment(deps.store.read, target)
  if (segment.type === 'STATIC') {
    return { added: 0, removed: 0, total: await countSegment(deps, segment) }
  }
  requireMembershipEvents(segment)
  return deps.sharedRuns.take(`compute ${segment.id}`, () => compute(deps, target, signal))
}

async function compute(
  deps: ComputeDeps,
  target: SegmentTarget,
  signal: AbortSignal | undefined,
): Promise<ComputeResult> {
  const done: Applied = { added: 0, removed: 0 }
  for (;;) {
    const segment = await loadSegment(deps.store.read, target)
    const isDone = await computeOnce(deps, segment, { done, signal })
    const total = isDone ? await saveTotal(deps, segment) : undefined
    if (total !== undefined) return { ...done, total }
  }
}

/** Adds to `done`. False when the condition changed, so that there is more to do. */
async function computeOnce(
  deps: ComputeDeps,
  segment: Segment,
  { done, signal }: { done: Applied; signal: AbortSignal | undefined },
): Promise<boolean> {
  const { projectId, id: segmentId } = segment
  const condition = await compileSegment(deps, segment)
  let size = FIRST_CHUNK
  for await (const changes of findChanges(deps, { projectId, segmentId, condition })) {
    for (let index = 0; index < changes.length; ) {
      signal?.throwIfAborted()
      const chunk = changes.slice(index, index + size)
      const applied = await applyChanges(deps, segment, chunk)
      if (applied === undefined) return false
      done.added += applied.added
      done.removed += applied.removed
      index += chunk.length
      size = nextSize(chunk.length, applied.tookMs)
      // Requests that came meanwhile go first.
      await setImmediate()
    }
    signal?.throwIfAborted()
  }
  return true
}

/** So that the next transaction keeps others waiting for about as long as it may. */
function nextSize(size: number, tookMs: number): number {
  const fitting = Math.round((size * TRANSACTION_MS) / Math.max(tookMs, 1))
  return Math.min(Math.max(fitting, MIN_CHUNK), MAX_CHUNK)
}

/** Undefined when the condition is not the one that they were found by. */
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

/** Undefined when the condition has changed, or the segment is gone. */
async function saveTotal(deps: ComputeDeps, segment: Segment): Promise<number | undefined> {
  const [row] = await deps.store.scan.values<[number]>(
    sql`select count(*) from segment_members ${indexedBy('segment_members_newest')}
      where segment_id = ${segment.id} and exited_at is null`,
  )
  const memberCount = row?.[0] ?? 0
  const isKept = await saveCount(deps, segment, { memberCount, countedAt: deps.now() })
  return isKept ? memberCount : undefined
}

function requireMembershipEvents({ hasMembershipEvents }: Segment): void {
  if (hasMembershipEvents) return
  const text = 'The segment does not track its membership, so there is nothing to compute.'
  throw new AppError('BAD_REQUEST', text, {
    suggestion: 'Set trackMembership, or refresh the count instead.',
  })
}
