/** The manifest of the area `ground`: its jobs, retentions and tables. */
import { indexedBy } from '../../store/dialect.ts'
import { sql } from '../../store/drizzle.ts'
import { deletedEvents } from '../../store/schema/analytics.ts'
import { ownerMonths, usageMonths, usageNotices } from '../../store/schema/billing.ts'
import { type EventRow, eventFollowers, events } from '../../store/schema/events.ts'
import { fences, generations } from '../../store/schema/fences.ts'
import { jobProgress, jobs as jobTable } from '../../store/schema/jobs.ts'
import { chunks } from '../../store/schema/messages.ts'
import { apiRequests, idempotencyKeys } from '../../store/schema/service.ts'
import { parameter } from '../../store/statement.ts'
import type { Base } from './base.ts'
import { deleteExpiredChunks } from './chunks.ts'
import { runEventDeletion, SHOWN_EVENT_DELETION } from './events/delete.ts'
import { billedUntil } from './events/unbilled.ts'
import { toEventRecord } from './events/view.ts'
import type { Area } from './manifest/area.ts'
import { isOwn } from './manifest/part.ts'
import { erasedByDeletion, erasedByReset, exported } from './manifest/table.ts'
import { IDEMPOTENCY_KEYS } from './requests/idempotency.ts'
import { REQUESTS } from './requests/log.ts'

export const ground: Area<Base> = {
  name: 'ground',
  loops: [],
  jobs: [
    { name: 'delete-expired-chunks', schedule: '27 * * * *', run: deleteExpiredChunks },
    {
      name: 'delete-events',
      atOnce: 2,
      fence: 'runs',
      run: runEventDeletion,
      shown: SHOWN_EVENT_DELETION,
    },
  ],
  retentions: [REQUESTS, IDEMPOTENCY_KEYS],
  tables: [
    { table: generations },
    {
      table: fences,
      erasure: erasedByDeletion(fences, { key: () => sql`project_id` }),
      export: 'what is held after a restore of this server',
    },
    {
      table: usageNotices,
      erasure: erasedByDeletion(usageNotices, {
        key: () => sql`project_id, starts_at, category, percent, limit_emails`,
      }),
      export: 'which notices were mailed',
    },
    { table: ownerMonths },
    {
      table: usageMonths,
      erasure: erasedByDeletion(usageMonths, { key: () => sql`project_id, starts_at` }),
      export: exported(usageMonths),
    },
    { table: chunks },
    { table: jobProgress },
    {
      table: jobTable,
      erasure: erasedByReset(jobTable, {
        from: () => sql`jobs where ${isOwn} and id <> ${parameter('jobId')}`,
      }),
      export: 'work of the server',
    },
    {
      table: apiRequests,
      erasure: erasedByReset(apiRequests, {
        from: () => sql`api_requests where ${isOwn} and created_at < ${parameter('before')}`,
      }),
      export: exported(apiRequests),
    },
    {
      table: idempotencyKeys,
      erasure: erasedByReset(idempotencyKeys, { key: () => sql`project_id, key` }),
      export: 'answers of the last day to requests',
    },
    { table: eventFollowers },
    {
      table: deletedEvents,
      erasure: erasedByReset(deletedEvents, {
        from: () => sql`deleted_events where ${isOwn} and seq <= ${billedUntil}`,
      }),
      export: 'waits for counting only',
    },
    {
      table: events,
      erasure: erasedByReset(events, {
        from: () => sql`events ${indexedBy('events_named')} where ${isOwn}`,
      }),
      export: exported(events, { view: (row: EventRow) => toEventRecord(row) }),
    },
  ],
  references: [],
}
