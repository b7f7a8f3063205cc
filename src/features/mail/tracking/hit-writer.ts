/**
 * Writes hits (opens and clicks) in the background: the client that fetches a pixel or follows a
 * link does not wait for the disk.
 *
 * All hits of one email within a second of the first form a *group* and are written together,
 * because only the whole group reveals a scanner that follows every link. A group is *due* after
 * that second; due groups are written in closures that share a commit. While the database cannot
 * write, groups wait. The number of waiting hits is limited: beyond it the oldest group is dropped.
 * A crash loses the last second.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { describeError } from '../../../base/errors.ts'
import { isTransientDatabaseError } from '../../../store/database-error.ts'
import { retryWhileUnwritable } from '../../../store/write/writability.ts'
import { startLoop } from '../../../work/loop.ts'
import type { Base } from '../../ground/base.ts'
import { HIT_GROUP_MS } from './machine-detection.ts'
import { type Hit, recordHits } from './record-hits.ts'

export type HitWriter = {
  add(hit: Hit): void
  /** Returns the number of waiting hits, and of hits lost since the start. */
  counts(): { waiting: number; lost: number }
  /** Writes the waiting hits; those that cannot be written are lost. */
  stop(): Promise<void>
}

type HitWriterOptions = {
  groupMs?: number
  retryMs?: number
  maxWaiting?: number
}

type HitGroup = { emailId: string; endsAt: number; hits: Hit[] }
/** `error`: why the database cannot be written. */
type Unwritten = { groups: readonly HitGroup[]; error: unknown }

const FLUSH_MS = 50
const RETRY_MS = 1_000
/** The maximum number of waiting hits; this many take about 20 MB. */
const MAX_WAITING = 100_000
/**
 * The number of groups in one closure: about a millisecond of work, so that other requests do not
 * wait.
 */
const CLOSURE_GROUPS = 50
/** The share of due groups that one commit takes when many are due. */
const SHARE_OF_DUE = 1 / 8

type Deps = Pick<Base, 'store' | 'config' | 'now' | 'log'>

/** `options` are for tests. */
export function startHitWriter(deps: Deps, options: HitWriterOptions = {}): HitWriter {
  const { groupMs = HIT_GROUP_MS, retryMs = RETRY_MS, maxWaiting = MAX_WAITING } = options
  /**
   * The open groups by email, in the order of their starts, which is also the order of their ends.
   */
  const open = new Map<string, HitGroup>()
  let due: HitGroup[] = []
  let waiting = 0
  let lost = 0
  let round: Promise<void> | undefined
  let isStopping = false

  function add(hit: Hit): void {
    while (waiting >= maxWaiting) {
      const oldest = takeOldest()
      lose(oldest?.hits ?? [hit], 'the database is too slow')
      if (oldest === undefined) return
      waiting -= oldest.hits.length
    }
    const group = open.get(hit.emailId) ?? openGroup(hit.emailId)
    group.hits.push(hit)
    waiting += 1
    loop.wakeWithin(Math.min(FLUSH_MS, groupMs))
  }

  function openGroup(emailId: string): HitGroup {
    const group: HitGroup = { emailId, endsAt: performance.now() + groupMs, hits: [] }
    open.set(emailId, group)
    return group
  }

  /**
   * Takes the oldest waiting group. Returns undefined when all waiting groups are being written.
   */
  function takeOldest(): HitGroup | undefined {
    const overdue = due.shift()
    if (overdue !== undefined) return overdue
    const [group] = open.values()
    if (group !== undefined) open.delete(group.emailId)
    return group
  }

  function lose(hits: readonly Hit[], reason: string): void {
    if (lost === 0) deps.log.error({ reason }, 'opens and clicks are lost')
    lost += hits.length
  }

  /** Writes the due groups. Further groups may become due meanwhile. */
  function flush(): number | undefined {
    closeGroups(performance.now())
    round ??= writeAll().finally(() => {
      round = undefined
    })
    return open.size > 0 ? FLUSH_MS : undefined
  }

  function closeGroups(until: number): void {
    for (const group of open.values()) {
      if (group.endsAt > until) return
      open.delete(group.emailId)
      due.push(group)
    }
  }

  function writeAll(): Promise<void> {
    return retryWhileUnwritable(writeDue, async () => {
      await pause(retryMs)
      return true
    })
  }

  /** @throws the error of a database that cannot be written; the unwritten groups are due again */
  async function writeDue(): Promise<void> {
    while (due.length > 0) {
      const size = Math.max(CLOSURE_GROUPS, Math.ceil(due.length * SHARE_OF_DUE))
      const groups = due.slice(0, size)
      due = due.slice(size)
      const batches = toBatches(groups, CLOSURE_GROUPS)
      const unwritten = (await Promise.all(batches.map(writeSome))).flat()
      due = [...unwritten.flatMap((each) => each.groups), ...due]
      const [first] = unwritten
      if (first !== undefined) throw first.error
    }
  }

  /** Returns the groups to try again. After another error, each group is tried alone. */
  async function writeSome(groups: readonly HitGroup[]): Promise<readonly Unwritten[]> {
    const hits = groups.flatMap((group) => group.hits)
    try {
      await deps.store.write((tx) => recordHits(deps, tx, hits))
    } catch (error) {
      const isTransient = isTransientDatabaseError(error)
      if (isTransient && !isStopping) return [{ groups, error }]
      if (!isTransient && groups.length > 1) {
        return (await Promise.all(groups.map((group) => writeSome([group])))).flat()
      }
      lose(hits, describeError(error))
    }
    waiting -= hits.length
    return []
  }

  async function stop(): Promise<void> {
    isStopping = true
    await loop.stop()
    await round
    closeGroups(Number.POSITIVE_INFINITY)
    await writeAll()
    if (lost > 0) deps.log.warn({ hits: lost }, 'opens and clicks were lost')
  }

  const loop = startLoop({ run: flush, firstWaitMs: Number.POSITIVE_INFINITY, keepsAlive: false })
  return { add, counts: () => ({ waiting, lost }), stop }
}

function toBatches<T>(all: readonly T[], size: number): T[][] {
  const count = Math.ceil(all.length / size)
  return Array.from({ length: count }, (_, index) => all.slice(index * size, (index + 1) * size))
}
