/** The numbers of `/metrics` that are read when they are asked for. */
import type { Core } from '../../features/core.ts'
import { findOldestDue } from '../../features/messages/queue/oldest-due.ts'
import { countQueue } from '../../features/messages/queue/queue-list.ts'
import type { Gauge } from './metrics.ts'

export type GaugeDeps = Pick<Core, 'store' | 'outbound' | 'hits' | 'certificates' | 'disk' | 'now'>

export function listGauges(core: GaugeDeps): Gauge[] {
  return [...queueGauges(core), ...deliveryGauges(core), ...serverGauges(core)]
}

function queueGauges(core: GaugeDeps): Gauge[] {
  return [
    {
      name: 'pillarbox_queue_emails',
      help: 'Emails on their way, by queue state',
      labelNames: ['state'],
      read: async () =>
        (await countQueue(core)).map(({ state, count }) => ({ value: count, labels: { state } })),
    },
    {
      name: 'pillarbox_queue_oldest_due_seconds',
      help: 'For how long the email that has waited longest could have been tried; 0 when none is due. Mail of destinations in back-off is left out',
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
      help: 'Messages with the delivery workers',
      read: () => [{ value: outbound.inFlight() }],
    },
    {
      name: 'pillarbox_sites_in_backoff',
      help: 'Destinations that take nothing now (blocked), or less than they could (slowed)',
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
      help: 'Opens and clicks that wait to be written, and those that were lost',
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
      help: 'Size of the write-ahead log',
      read: () => [{ value: store.walBytes() }],
    },
    {
      name: 'pillarbox_disk_free_bytes',
      help: 'Free bytes of the disk that the database is on',
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
