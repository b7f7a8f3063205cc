/**
 * Sends the events of a span of time to an endpoint again, as far as the endpoint wants them, in
 * their order and under the same ids. A job makes the deliveries in batches.
 */
import { DAY_MS } from '../../../../base/clock.ts'
import { invalidField } from '../../../../base/errors.ts'
import { UNLISTED_EVENTS } from '../../../../records/words.ts'
import { indexedBy } from '../../../../store/dialect.ts'
import { type SQL, sql } from '../../../../store/drizzle.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import { loadProgress } from '../../../../work/jobs/progress.ts'
import { FinalFailure, type RunningJob } from '../../../../work/jobs/run.ts'
import { findJobStatus, type JobStatus } from '../../../../work/jobs/status.ts'
import { type SweepPace, sweepRows } from '../../../../work/sweep.ts'
import type { Base } from '../../../ground/base.ts'
import { enqueueForProject } from '../../../ground/enqueue-for-project.ts'
import { isListed } from '../../../ground/events/unlisted.ts'
import type { ShownJob } from '../../../ground/manifest/shown-job.ts'
import { type EndpointKey, loadEndpoint } from '../endpoints/endpoint.ts'
import { createEventMatcher } from '../event-patterns.ts'
import { insertDeliveries } from './deliveries.ts'
import { endpointIsDisabled } from './replay.ts'

export const REPLAY_KIND = 'replay-webhooks'
const MAX_BACK_MS = 30 * DAY_MS
/** How far the clock of a client may be behind. */
const TOLERANCE_MS = 60_000
const PACE: SweepPace = { rows: 500, rest: 'none' }

/** Epoch ms; events at both instants are included. */
type ReplaySpan = { since: number; until: number }
type ReplayPayload = ReplaySpan & { endpointId: string; last: number }
type ReplayProgress = { at: number; seq: number; created: number }
type ReplayedEvent = { seq: number; id: string; name: string; at: number }

type Deps = Pick<Base, 'store' | 'now'>

const isInSpan = sql`created_at >= ${parameter('at')} and created_at <= ${parameter('until')}
  and (created_at, seq) > (${parameter('at')}, ${parameter('seq')}) and seq <= ${parameter('last')}`

/**
 * Lists events in the order of their times, by the index of listed events and the index of names.
 */
export const listReplayed = statement<ReplayedEvent>(() => {
  const select = (from: SQL) => sql`select * from (select seq, id, name, created_at as at
    from events ${from} and ${isInSpan} order by created_at, seq limit ${parameter('limit')})`
  const listed = select(
    sql`${indexedBy('events_listed')} where project_id = ${parameter('projectId')} and ${isListed}`,
  )
  const unlisted = UNLISTED_EVENTS.map((name) =>
    select(
      sql`${indexedBy('events_named')} where project_id = ${parameter('projectId')}
        and name = ${name}`,
    ),
  )
  return sql`${sql.join([listed, ...unlisted], sql` union all `)}
    order by at, seq limit ${parameter('limit')}`
})

/**
 * Enqueues the job and returns its id.
 * @throws AppError RESOURCE_NOT_FOUND; VALIDATION_ERROR for a span that is empty or begins over 30 days
 *   ago; BAD_REQUEST for a disabled endpoint; CONFLICT when too many jobs wait
 */
export async function startReplay(
  { store, now, jobNotifier }: Deps & Pick<Base, 'jobNotifier'>,
  key: EndpointKey,
  {
    since,
    until = now(),
    userId,
  }: { since: number; until?: number | undefined; userId?: string | null },
): Promise<string> {
  const at = now()
  return store.write(async (tx) => {
    const endpoint = await loadEndpoint(tx, key)
    if (since < at - MAX_BACK_MS - TOLERANCE_MS)
      throw invalidField('since', 'too_small', 'Must be at most 30 days ago')
    if (until < since) throw invalidField('until', 'invalid_range', 'Must not be before since')
    if (!endpoint.isEnabled) throw endpointIsDisabled()
    const last = (await tx.find(newestSeq))?.seq ?? 0
    const { projectId, id: endpointId } = key
    const payload: ReplayPayload = { endpointId, since, until, last }
    tx.afterCommit(jobNotifier.notify)
    return enqueueForProject(tx, {
      ...{ prefix: REPLAY_KIND, kind: REPLAY_KIND, payload, projectId, userId, now: at },
    })
  })
}

const newestSeq = statement<{ seq: number | null }>(() => sql`select max(seq) as seq from events`)

/** Returns the progress of the job. @throws AppError RESOURCE_NOT_FOUND */
export async function findReplayStatus(
  deps: Deps,
  key: EndpointKey,
  jobId: string,
): Promise<JobStatus> {
  await loadEndpoint(deps.store.read, key)
  const { projectId } = key
  const status = await findJobStatus(deps, { projectId, id: jobId, kinds: [REPLAY_KIND] })
  const { endpointId, since, until } = status.data as ReplayPayload
  const shown = { endpointId, since: toText(since), until: toText(until) }
  return { ...status, data: shown }
}

export const SHOWN_REPLAY: ShownJob = {
  hasFacts: true,
  labelOf: () => 'Send the events of a span of time to a webhook again',
  pathOf: (id, { endpointId }) => `/webhooks/endpoints/${endpointId}/replay/${id}`,
  partialResult: (state) => ({ created: (state as ReplayProgress | undefined)?.created ?? 0 }),
}

/** Runs the job. Returns the number of deliveries made. */
export async function replayEvents(
  deps: Deps & Pick<Base, 'webhookNotifier'>,
  job: RunningJob,
): Promise<{ created: number }> {
  const { store, now, webhookNotifier } = deps
  const { endpointId, since, until, last } = job.payload as ReplayPayload
  const { projectId } = job
  if (projectId === null) throw new TypeError('The job belongs to no project.')
  const from = (await loadProgress<ReplayProgress>(store.read, job.id)) ?? {
    ...{ at: since, seq: 0, created: 0 },
  }
  const percentOf = ({ at }: ReplayProgress) => (99 * (at - since)) / Math.max(1, until - since)
  const countOf = ({ created: done }: ReplayProgress) => ({ done, total: null })
  const { created } = await sweepRows<ReplayedEvent, ReplayProgress>(
    deps,
    { pace: PACE, heavyFor: projectId },
    {
      from,
      progress: { job, now, percentOf, countOf },
      find: (limit, { at, seq }) =>
        store.scan.list(listReplayed, { projectId, until, last, at, seq, limit }),
      change: async (tx, events, before) => {
        const endpoint = await loadEndpoint(tx, { projectId, id: endpointId })
        if (!endpoint.isEnabled) throw new FinalFailure('The endpoint was disabled.')
        const matches = createEventMatcher(endpoint.events)
        const wanted = events.filter(({ name }) => matches(name))
        const made = wanted.map((event) => ({ endpointId, event }))
        await insertDeliveries(tx, made, now())
        tx.afterCommit(() => webhookNotifier.notify({ kind: 'due', endpointId, projectId }))
        const { at, seq } = events.at(-1) ?? before
        return { at, seq, created: before.created + wanted.length }
      },
    },
  )
  return { created }
}

function toText(at: number): string {
  return new Date(at).toISOString()
}
