/** Joins what the eight areas hand in. Here the areas have their order: each may import the areas before it. */
import { ground } from '../features/ground/area.ts'
import { startLazyReader, startUrgentReader } from '../features/ground/events/readers.ts'
import type { Area, AreaJob, Duties } from '../features/ground/manifest/area.ts'
import { incoming } from '../features/incoming/area.ts'
import { insight } from '../features/insight/area.ts'
import { mail } from '../features/mail/area.ts'
import { operation } from '../features/operation/area.ts'
import { outreach } from '../features/outreach/area.ts'
import { people } from '../features/people/area.ts'
import { tenancy } from '../features/tenancy/area.ts'
import type { Follower } from '../work/follower.ts'
import type { CronEntry } from '../work/jobs/cron.ts'
import type { CancelledEnd, JobHandler, RunningJob } from '../work/jobs/run.ts'
import { deleteExpired, type Retention } from '../work/retention.ts'
import type { Core } from './core.ts'

type Schedule = {
  handlers: Record<string, JobHandler>
  cancelledEnds: Record<string, CancelledEnd>
  cron: CronEntry[]
  limits: Record<string, number>
}

export const AREAS: readonly Area<Core>[] = [
  ground,
  people,
  mail,
  incoming,
  tenancy,
  outreach,
  insight,
  operation,
]

const JOBS = AREAS.flatMap(({ jobs, retentions }) => [...jobs, ...retentions.map(toJob)])

export const DUTIES: Duties = {
  tables: AREAS.flatMap(({ tables }) => tables),
  references: AREAS.flatMap(({ references }) => references),
  fencedKinds: JOBS.flatMap((job) => ('fence' in job && job.fence === 'waits' ? [job.name] : [])),
  shownJobs: new Map(
    JOBS.flatMap((job) =>
      'shown' in job && job.shown !== undefined ? [[job.name, job.shown]] : [],
    ),
  ),
}

function toJob(retention: Retention): AreaJob<Core> {
  const { name, schedule } = retention
  return { name, schedule, run: (core, { signal }) => deleteExpired(core, retention, signal) }
}

/** The table of jobs: those that run at fixed times (UTC), and those that requests enqueue. */
export function createSchedule(core: Core): Schedule {
  const scheduled = JOBS.flatMap((job) => ('schedule' in job ? [job] : []))
  return {
    handlers: Object.fromEntries(
      JOBS.map(({ name, run }) => [name, (job: RunningJob) => run(core, job)]),
    ),
    cancelledEnds: Object.fromEntries(DUTIES.shownJobs),
    cron: scheduled.map(({ name, schedule }) => ({ name, schedule, kind: name })),
    limits: Object.fromEntries(
      JOBS.flatMap(({ name, atOnce }) => (atOnce === undefined ? [] : [[name, atOnce]])),
    ),
  }
}

/** Starts the readers of events, with the handlers that the areas hand in. */
export function startReaders(core: Core): Pick<Follower, 'stop'> {
  const urgent = AREAS.flatMap(({ urgentHandlers = [] }) => urgentHandlers)
  const lazy = AREAS.flatMap(({ lazyHandlers = [] }) => lazyHandlers)
  const readers = [
    startUrgentReader(
      core,
      urgent.map((create) => create(core)),
    ),
    startLazyReader(
      core,
      lazy.map((create) => create(core)),
    ),
  ]
  return {
    async stop() {
      await Promise.all(readers.map(({ stop }) => stop()))
    },
  }
}
