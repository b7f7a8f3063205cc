/**
 * What a process of the server uses after a quarter of the run, against what it used before.
 *
 *   memory        resident, in the calm: the last quarter of the run, which one process serves under one
 *                 load without disruptions. The median of the end (last 15%) is at most 1.15 times the
 *                 median of the first part after the warm-up (25% to 40%). A calm of less than four
 *                 minutes is mostly warm-up, so there only a growth of half is an error.
 *   event loop    the median of the p99s in the second half of the calm is at most 50 ms. A short run shares
 *                 its processors with other work, and its samples include the start of the process: only a
 *                 delay of two seconds is an error there.
 *   late stops    none; in short runs they are counted only.
 *   threads       at rest, at most three more than those of the first process at rest: the warm-up may not
 *                 have started all that start on demand.
 *   descriptors   at rest, without those of threads, at most those of the first process, and one for each thread
 *                 more: threads that scan have the database open, and come and go.
 */
import { median } from '../../bench/table.ts'
import type { Finding, LedgerRow } from '../ledger/finding.ts'
import type { Sample, Usage } from './resources.ts'

export type Resources = {
  /** Of the calm, in their order. */
  samples: readonly Sample[]
  first: Usage
  last: Usage
  calmMs: number
  /** Graceful stops that were not done in time. */
  lateStops: number
}

/** An event loop has two of epoll and io_uring, one of eventfd, and a pipe. */
const DESCRIPTORS_PER_THREAD = 5
const MORE_THREADS = 3
const LONG_CALM_MS = 240_000
const MAX_GROWTH = { long: 1.15, short: 1.5 }
const MAX_LOOP_DELAY_MS = { long: 50, short: 2_000 }

export function judgeResources(resources: Resources): LedgerRow[] {
  const length = resources.calmMs >= LONG_CALM_MS ? 'long' : 'short'
  return [
    judgeMemory(resources, MAX_GROWTH[length]),
    judgeLoopDelay(resources, MAX_LOOP_DELAY_MS[length]),
    judgeRest('descriptors at rest', resources, {
      measure: ({ descriptors, threads }) => descriptors.lasting - DESCRIPTORS_PER_THREAD * threads,
      tolerance: Math.max(0, resources.last.threads - resources.first.threads),
    }),
    judgeRest('threads at rest', resources, {
      measure: ({ threads }) => threads,
      tolerance: MORE_THREADS,
    }),
    judgeStops(resources, length === 'long'),
  ]
}

function judgeMemory({ samples }: Resources, maxGrowth: number): LedgerRow {
  const memory = samples.map(({ residentMegabytes }) => residentMegabytes)
  const share = (from: number, to: number) =>
    median(memory.slice(Math.floor(from * memory.length), Math.ceil(to * memory.length)))
  const before = share(0.25, 0.4)
  const after = share(0.85, 1)
  const growth = after / before
  const text = `${before.toFixed(0)} MB, then ${after.toFixed(0)} MB: ${growth.toFixed(2)} times`
  return {
    name: 'memory of the calm, MB',
    count: Math.round(after),
    note: `${text}, at most ${maxGrowth}`,
    findings: growth <= maxGrowth ? [] : [{ id: 'memory', text }],
  }
}

function judgeLoopDelay({ samples }: Resources, maxMs: number): LedgerRow {
  const late = samples.slice(Math.floor(samples.length / 2))
  const delays = late.flatMap(({ loopDelayP99Ms }) => loopDelayP99Ms ?? [])
  const p99 = median(delays)
  const most = Math.max(...delays)
  const text = `median ${p99.toFixed(1)} ms, most ${most.toFixed(1)} ms`
  return {
    name: 'event loop delay p99, ms',
    count: Math.round(p99),
    note: `${text}; median at most ${maxMs}`,
    // Without samples there is nothing to judge, which must not pass for a good figure.
    findings: p99 <= maxMs ? [] : [{ id: 'event loop', text }],
  }
}

function judgeStops({ lateStops }: Resources, isStrict: boolean): LedgerRow {
  const text = `${lateStops} times the server killed itself, because it could not stop in time`
  const findings = isStrict && lateStops > 0 ? [{ id: 'SIGTERM', text }] : []
  return { name: 'late stops', count: lateStops, findings }
}

function judgeRest(
  name: string,
  { first, last }: Resources,
  { measure, tolerance = 0 }: { measure: (rest: Usage) => number; tolerance?: number },
): LedgerRow {
  const before = measure(first)
  const after = measure(last)
  const show = ({ descriptors }: Usage) =>
    `${JSON.stringify(descriptors.byKind)}, ${descriptors.connections} connections`
  const text = `${before} at first (${show(first)}), ${after} at the end (${show(last)})`
  const findings: Finding[] = after <= before + tolerance ? [] : [{ id: name, text }]
  return { name, count: after, note: `${before} at first`, findings }
}
