/**
 * Hits on their way to the disk; whoever fetched a pixel or followed a link does not wait for them.
 *
 * All hits of one email within a second of the first are a *visit* and are written together, for
 * only together do they show a scanner that follows every link. A visit that is over is *due*; what
 * is due is written in closures that share a commit. While the database cannot write, visits wait;
 * what waits is bounded, and the oldest gives way. A crash loses the last second.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { describeError } from '../../errors.ts'
import { isTransientDatabaseError } from '../../store/database-error.ts'
import type { Base } from '../base.ts'
import { HIT_GROUP_MS } from './machine-detection.ts'
import { type Hit, recordHits } from './record-hits.ts'

export type HitWriter = {
  add(hit: Hit): void
  /** Hits that wait, and hits that were lost since the start. */
  counts(): { waiting: number; lost: number }
  /** Writes what is waiting; what cannot be written then is lost. */
  stop(): Promise<void>
}

export type HitWriterOptions = {
  groupMs?: number
  retryMs?: number
  maxWaiting?: number
}

type Visit = { emailId: string; endsAt: number; hits: Hit[] }

const FLUSH_MS = 50
const RETRY_MS = 1_000
/** Some 20 MB of them. */
const MAX_WAITING = 100_000
/** A millisecond of work and a commit; then whoever follows a link has a turn. */
const CLOSURE_VISITS = 50
/** The share of what is due that one commit takes, when much is due. */
const SHARE_OF_DUE = 1 / 8

type Deps = Pick<Base, 'store' | 'config' | 'now' | 'log'>

/** `options` are for tests. */
export function startHitWriter(deps: Deps, options: HitWriterOptions = {}): HitWriter {
  const { groupMs = HIT_GROUP_MS, retryMs = RETRY_MS, maxWaiting = MAX_WAITING } = options
  /** By email, in the order of their beginnings, which is also that of their ends. */
  const open = new Map<string, Visit>()
  let due: Visit[] = []
  let waiting = 0
  let lost = 0
  let timer: NodeJS.Timeout | undefined
  let round: Promise<void> | undefined
  let isStopping = false

  function add(hit: Hit): void {
    while (waiting >= maxWaiting) {
      const oldest = takeOldest()
      lose(oldest?.hits ?? [hit], 'the database is too slow')
      if (oldest === undefined) return
      waiting -= oldest.hits.length
    }
    const visit = open.get(hit.emailId) ?? begin(hit.emailId)
    visit.hits.push(hit)
    waiting += 1
    timer ??= setTimeout(flush, Math.min(FLUSH_MS, groupMs)).unref()
  }

  function begin(emailId: string): Visit {
    const visit: Visit = { emailId, endsAt: performance.now() + groupMs, hits: [] }
    open.set(emailId, visit)
    return visit
  }

  /** None when all that waits is being written. */
  function takeOldest(): Visit | undefined {
    const overdue = due.shift()
    if (overdue !== undefined) return overdue
    const [visit] = open.values()
    if (visit !== undefined) open.delete(visit.emailId)
    return visit
  }

  function lose(hits: readonly Hit[], reason: string): void {
    if (lost === 0) deps.log.error({ reason }, 'opens and clicks are lost')
    lost += hits.length
  }

  function flush(): void {
    timer = undefined
    endVisits(performance.now())
    round ??= writeAll().finally(() => {
      round = undefined
    })
    if (open.size > 0) timer = setTimeout(flush, FLUSH_MS).unref()
  }

  function endVisits(until: number): void {
    for (const visit of open.values()) {
      if (visit.endsAt > until) return
      open.delete(visit.emailId)
      due.push(visit)
    }
  }

  async function writeAll(): Promise<void> {
    while (due.length > 0) {
      const size = Math.max(CLOSURE_VISITS, Math.ceil(due.length * SHARE_OF_DUE))
      const visits = due.slice(0, size)
      due = due.slice(size)
      const chunks = chunk(visits, CLOSURE_VISITS)
      const failed = (await Promise.all(chunks.map(writeSome))).flat()
      due = [...failed, ...due]
      if (failed.length > 0) await pause(retryMs)
    }
  }

  /** Gives back what is to be tried again. One visit's fault is not another's. */
  async function writeSome(visits: readonly Visit[]): Promise<readonly Visit[]> {
    const hits = visits.flatMap((visit) => visit.hits)
    try {
      await deps.store.write((tx) => recordHits(deps, tx, hits))
    } catch (error) {
      if (isTransientDatabaseError(error) && !isStopping) return visits
      if (!isTransientDatabaseError(error) && visits.length > 1) {
        return (await Promise.all(visits.map((visit) => writeSome([visit])))).flat()
      }
      lose(hits, describeError(error))
    }
    waiting -= hits.length
    return []
  }

  async function stop(): Promise<void> {
    isStopping = true
    clearTimeout(timer)
    await round
    endVisits(Number.POSITIVE_INFINITY)
    await writeAll()
    if (lost > 0) deps.log.warn({ hits: lost }, 'opens and clicks were lost')
  }

  return { add, counts: () => ({ waiting, lost }), stop }
}

function chunk<T>(all: readonly T[], size: number): T[][] {
  const count = Math.ceil(all.length / size)
  return Array.from({ length: count }, (_, index) => all.slice(index * size, (index + 1) * size))
}
