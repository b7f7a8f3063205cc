/**
 * The gauges of `/metrics`, which are read at each scrape, and those of the server itself:
 * database, disk, certificates, threads, event loop, version. Counters and histograms
 * are in `base/counters.ts`.
 */
import { stat } from 'node:fs/promises'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { DAY_MS } from '../../../base/clock.ts'
import { productVersion } from '../../../config/version.ts'
import type { Base } from '../../ground/base.ts'
import { backupGauges } from '../backup/record.ts'
import { checkGauges, type Doctor } from '../doctor/doctor.ts'
import { byState, type Gauge, type RecentOptions } from './gauge.ts'
import { type QueueGaugeDeps, queueGauges } from './queue-gauges.ts'
import { workGauges } from './work-gauges.ts'

export type GaugeDeps = QueueGaugeDeps & ServerGaugeDeps & { doctor: Doctor }

/** `options`: set by tests, which shorten the waits for scans. */
export function listGauges(core: GaugeDeps, options?: RecentOptions): Gauge[] {
  return [
    ...queueGauges(core, options),
    ...workGauges(core, options),
    ...serverGauges(core),
    ...backupGauges(core),
    ...checkGauges(core),
  ]
}

/** How late timers run, in seconds. */
type LoopDelay = { p50: number; p99: number; max: number }
const RESOLUTION_MS = 10
/** How many times to wait for the first figures, which take two times the resolution. */
const MAX_WAITS = 100
const WINDOW_MS = 10_000
const NS_PER_MS = 1_000_000

type ServerGaugeDeps = Pick<Base, 'config' | 'store' | 'outbound' | 'certificates' | 'disk' | 'now'>

function serverGauges(deps: ServerGaugeDeps): Gauge[] {
  return [
    ...databaseGauges(deps),
    ...diskGauges(deps),
    ...threadGauges(deps),
    ...loopGauges(),
    {
      name: 'pillarbox_certificate_expiry_timestamp_seconds',
      help: 'When the certificate of a listener expires, as Unix time',
      labelNames: ['listener'],
      read: () =>
        deps.certificates.list().map(({ listener, daysLeft }) => ({
          value: Math.round((deps.now() + daysLeft * DAY_MS) / 1_000),
          labels: { listener },
        })),
    },
    {
      name: 'pillarbox_build_info',
      help: 'Always 1; the labels are the versions of the program and of its runtime',
      labelNames: ['version', 'node'],
      read: () => [{ value: 1, labels: { version: productVersion(), node: process.version } }],
    },
  ]
}

function databaseGauges({ config, store }: Pick<Base, 'config' | 'store'>): Gauge[] {
  return [
    {
      name: 'pillarbox_database_bytes',
      help: 'Size of the database file, without its write-ahead log',
      read: async () => [{ value: (await stat(config.database.file)).size }],
    },
    {
      name: 'pillarbox_database_wal_bytes',
      help: 'Size of the write-ahead log of the database',
      read: () => [{ value: store.walBytes() }],
    },
    {
      name: 'pillarbox_database_writable',
      help: '1 while the database can be written, else 0',
      read: () => [{ value: store.isWritable() ? 1 : 0 }],
    },
  ]
}

function diskGauges({ disk }: Pick<Base, 'disk'>): Gauge[] {
  return (
    [
      ['free_bytes', 'Free bytes of the disk that holds the database', 'free'],
      ['total_bytes', 'Size of the disk that holds the database', 'total'],
      ['free_inodes', 'Free inodes of the disk that holds the database', 'freeInodes'],
      ['total_inodes', 'Inodes of the disk that holds the database', 'totalInodes'],
    ] as const
  ).map(([suffix, help, figure]) => ({
    name: `pillarbox_disk_${suffix}`,
    help,
    read: () => {
      const space = disk.space()
      return space === null ? [] : [{ value: space[figure] }]
    },
  }))
}

function threadGauges({ store, outbound }: Pick<Base, 'store' | 'outbound'>): Gauge[] {
  const loads = () => Object.entries({ delivery: outbound.threads(), scan: store.scanLoad() })
  return [
    {
      name: 'pillarbox_threads',
      help: 'Worker threads, by kind and by whether they have work',
      labelNames: ['kind', 'state'],
      read: () =>
        loads().flatMap(([kind, { running, busy }]) =>
          byState({ busy, idle: running - busy }).map(({ value, labels }) => ({
            value,
            labels: { kind, ...labels },
          })),
        ),
    },
    {
      name: 'pillarbox_thread_queue_tasks',
      help: 'Tasks that no worker thread has yet: emails that wait for a connection, and scans',
      labelNames: ['kind'],
      read: () => loads().map(([kind, { waiting }]) => ({ value: waiting, labels: { kind } })),
    },
  ]
}

function loopGauges(): Gauge[] {
  const read = createLoopDelay()
  const gauge = (figure: keyof LoopDelay, what: string): Gauge => ({
    name: `pillarbox_event_loop_delay_${figure}_seconds`,
    help: `${what} of how late the main thread ran its timers in the last ten to twenty seconds`,
    read: async () => {
      const delay = await read()
      return delay === undefined ? [] : [{ value: delay[figure] }]
    },
  })
  return [gauge('p50', 'Median'), gauge('p99', '99th percentile'), gauge('max', 'Maximum')]
}

type LoopHistogram = ReturnType<typeof monitorEventLoopDelay>

/**
 * Measures how late the event loop of the main thread runs its timers. The figures cover the last
 * ten to twenty seconds, or the time since the previous two scrapes if these are rarer, so that
 * scrapers do not take each other's figures. The measurement begins with the first call, which
 * waits for the first figures.
 */
function createLoopDelay(clock = () => performance.now()): () => Promise<LoopDelay | undefined> {
  let measuring: Promise<LoopHistogram> | undefined
  let before: LoopDelay | undefined
  let beganAt = 0

  return async () => {
    if (measuring === undefined) {
      measuring = measure()
      beganAt = clock()
    }
    const histogram = await measuring
    const current = histogram.count === 0 ? undefined : toDelay(histogram)
    const shown = larger(current, before)
    if (clock() - beganAt >= WINDOW_MS) {
      before = current
      histogram.reset()
      beganAt = clock()
    }
    return shown
  }
}

async function measure(): Promise<LoopHistogram> {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  histogram.enable()
  for (let waits = 0; histogram.count === 0 && waits < MAX_WAITS; waits += 1) {
    await setTimeout(RESOLUTION_MS)
  }
  return histogram
}

/**
 * Subtracts `RESOLUTION_MS` from each sample: a sample is the time between two timers, which is
 * `RESOLUTION_MS` without any delay.
 */
function toDelay(histogram: LoopHistogram): LoopDelay {
  const seconds = (ns: number) => Math.max(0, ns / NS_PER_MS - RESOLUTION_MS) / 1_000
  return {
    p50: seconds(histogram.percentile(50)),
    p99: seconds(histogram.percentile(99)),
    max: seconds(histogram.max),
  }
}

function larger(one: LoopDelay | undefined, other: LoopDelay | undefined): LoopDelay | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return {
    p50: Math.max(one.p50, other.p50),
    p99: Math.max(one.p99, other.p99),
    max: Math.max(one.max, other.max),
  }
}
