/**
 * What an area hands in (`area.ts` of each folder of `features/`): its loops, handlers of events, jobs and tables, and where it
 * refers to others. `core/areas.ts` joins the areas; nothing else lists what they have.
 */
import type { RunningJob } from '../../../work/jobs/run.ts'
import type { Retention } from '../../../work/retention.ts'
import type { LazyHandler, UrgentHandler } from '../event-handlers.ts'
import type { ReferenceSource } from './reference.ts'
import type { ShownJob } from './shown-job.ts'
import type { TableDuties } from './table.ts'

/** `Parts`: the parts of the program that the loops and jobs of the area use. */
export type Area<Parts> = {
  name: string
  /** What runs in the server until it stops, in the order of the starts. They stop in reverse. */
  loops: readonly LoopStart<Parts>[]
  /**
   * The handlers to which readers pass events (`events/readers.ts`); handlers of earlier areas get them
   * first.
   */
  urgentHandlers?: readonly ((parts: Parts) => UrgentHandler)[]
  lazyHandlers?: readonly ((parts: Parts) => LazyHandler)[]
  jobs: readonly AreaJob<Parts>[]
  /** Retentions of rows that are deleted once they are old, each by a job of its own name. */
  retentions: readonly Retention[]
  /** A table stands before those that refer to it. */
  tables: readonly TableDuties[]
  references: readonly ReferenceSource[]
}

/** Null if the configuration needs no such loop. */
type LoopStart<Parts> = (parts: Parts) => AreaLoop | null | Promise<AreaLoop | null>

export type AreaLoop = { stop: (graceMs: number) => Promise<unknown> }

type JobRun<Parts> = (parts: Parts, job: RunningJob) => Promise<unknown>

/** The database stores the names of jobs, so a name stays when its function is renamed. */
export type AreaJob<Parts> = ScheduledJob<Parts> | RequestedJob<Parts>

/**
 * A job that runs at fixed times (UTC). Each of these times makes a new job, so a fence never stops
 * one.
 */
type ScheduledJob<Parts> = {
  name: string
  schedule: string
  /**
   * The number of slots of this kind, for long, interruptible work. Without it, jobs of the kind
   * share slots with others.
   */
  atOnce?: number
  /** The database keeps the result for days, so the result is at most a number. */
  run: (parts: Parts, job: RunningJob) => Promise<number> | Promise<void>
}

/** A job that requests enqueue. It saves its progress. */
type RequestedJob<Parts> = {
  name: string
  /**
   * The number of slots of this kind. Each project runs one job of a kind at a time, so with two
   * slots no project holds up all others.
   */
  atOnce: number
  /**
   * What a fence does with the jobs that exist: those whose effects leave the server wait, also the
   * indirect ones (contacts that change make events, which start workflows and webhooks). The others run:
   * they delete, count, or look.
   */
  fence: 'waits' | 'runs'
  run: JobRun<Parts>
  /** Jobs that calls of the API enqueue: how they are listed and cancelled. */
  shown?: ShownJob
}

/** What the areas hand in together, without loops, handlers, jobs and retentions. */
export type Duties = {
  tables: readonly TableDuties[]
  references: readonly ReferenceSource[]
  /** The kinds whose jobs a fence makes wait. */
  fencedKinds: readonly string[]
  /** How jobs are listed and cancelled, by their kind. */
  shownJobs: ReadonlyMap<string, ShownJob>
}
