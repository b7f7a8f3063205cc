/**
 * The gauges of `/metrics`: figures that are read at each scrape. Counters are in `counters.ts`.
 */
import { backupGauges } from './backup/gauges.ts'
import type { Core } from './core.ts'
import { checkGauges } from './doctor/gauges.ts'
import { findOldestDue } from './messages/queue/oldest-due.ts'
import { countQueue } from './messages/queue/queue-list.ts'

/** A gauge with one value, or with one for each set of labels. */
export type Gauge = {
  /** `pillarbox_queue_emails` */
  name: string
  help: string
  labelNames?: readonly string[]
  read(): GaugeValue[] | Promise<GaugeValue[]>
}

type GaugeValue = { value: number; labels?: Record<string, string> }

export type GaugeDeps = Pick<
  Core,
  'store' | 'outbound' | 'hits' | 'certificates' | 'disk' | 'doctor' | 'now'
>

export function listGauges(core: GaugeDeps): Gauge[] {
  return [
    ...queueGauges(core),
    ...deliveryGauges(core),
    ...serverGauges(core),
    ...backupGauges(core),
    ...checkGauges(core),
  ]
}

function queueGauges(core: GaugeDeps): Gauge[] {
  return [
    {
      name: 'pillarbox_queue_emails',
      help: 'Emails in the queue, by state',
      labelNames: ['state'],
      read: async () =>
        (await countQueue(core)).map(({ state, count }) => ({ value: count, labels: { state } })),
    },
    {
      name: 'pillarbox_queue_oldest_due_seconds',
      help: 'Seconds that the oldest due email has waited to be tried; 0 when none is due. Emails to destinations in back-off do not count',
      read: async () => {
        const dueAt = await findOldestDue(core)
        const waitedMs = dueAt === undefined ? 0 : core.now() - dueAt
        return [{ value: Math.max(0, waitedMs) / 1000 }]
      },
    },
  ]
}

function deliveryGauges({ outbound, hits }: GaugeDeps): Gauge[] {
  return [
    {
      name: 'pillarbox_deliveries_in_flight',
      help: 'Emails that the delivery threads are sending',
      read: () => [{ value: outbound.inFlight() }],
    },
    {
      name: 'pillarbox_sites_in_backoff',
      help: 'Destinations in back-off: nothing is sent (blocked), or less than usual (slowed)',
      labelNames: ['state'],
      read: () => {
        const sites = outbound.sites()
        const blocked = sites.filter(({ blockedUntil }) => blockedUntil !== null).length
        const restricted = sites.filter(({ restrictedSince }) => restrictedSince !== null).length
        return [
          { value: blocked, labels: { state: 'blocked' } },
          { value: Math.max(0, restricted - blocked), labels: { state: 'slowed' } },
        ]
      },
    },
    {
      name: 'pillarbox_tracking_hits',
      help: 'Opens and clicks that wait to be written, and that were lost',
      labelNames: ['state'],
      read: () => {
        const { waiting, lost } = hits.counts()
        return [
          { value: waiting, labels: { state: 'waiting' } },
          { value: lost, labels: { state: 'lost' } },
        ]
      },
    },
  ]
}

function serverGauges({ store, certificates, disk }: GaugeDeps): Gauge[] {
  return [
    {
      name: 'pillarbox_database_wal_bytes',
      help: 'Size of the write-ahead log of the database',
      read: () => [{ value: store.walBytes() }],
    },
    {
      name: 'pillarbox_disk_free_bytes',
      help: 'Free bytes of the disk that holds the database',
      read: () => {
        const free = disk.freeBytes()
        return free === null ? [] : [{ value: free }]
      },
    },
    {
      name: 'pillarbox_certificate_days_left',
      help: 'Days until the certificate of a listener expires; negative afterwards',
      labelNames: ['listener'],
      read: () =>
        certificates.list().map(({ listener, daysLeft }) => ({
          value: daysLeft,
          labels: { listener },
        })),
    },
  ]
}
