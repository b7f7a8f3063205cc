/** On the main thread: what there is to do for a site, and how it stands with its connections. */
import type { QueueClass } from '../../queue-class.ts'
import { type ClassQueue, createClassQueue } from '../class-queue.ts'
import type { DeliveryThread } from '../dispatch/threads.ts'
import type { PoolSettings } from '../protocol.ts'
import { findProvider } from '../routing/providers.ts'

export type SiteWork<Job> = {
  waiting: ClassQueue<Job>
  jobCount: number
  load: Map<DeliveryThread, number>
  /** How many of its jobs are of which project. */
  projects: Map<string, number>
  /** Where they may go, as far as that is told apart. */
  addresses: readonly string[]
  targets: PoolSettings['targets'] | null
  /** It has greeted us, and has not been silent since. */
  isHeard: boolean
  /** Since when it has had a connection. */
  servedSince: number | null
  /** When it was last told to give one up. */
  loweredAt: number
  /** Since when there is nothing to do. */
  idleSince: number
}

type Work = { projectId: string; queueClass: QueueClass; pool: PoolSettings }

const MAX_ADDRESSES = 16

export function createSiteWork<Job extends { work: Work }>(now: number): SiteWork<Job> {
  return {
    waiting: createClassQueue<Job>((job) => job.work),
    jobCount: 0,
    load: new Map(),
    projects: new Map(),
    addresses: [],
    targets: null,
    isHeard: false,
    servedSince: null,
    loweredAt: 0,
    idleSince: now,
  }
}

export function addJob<Job extends { work: Work }>(site: SiteWork<Job>, job: Job): void {
  const { projectId, pool } = job.work
  site.waiting.push(job)
  site.jobCount++
  site.projects.set(projectId, (site.projects.get(projectId) ?? 0) + 1)
  noteTargets(site, pool)
}

/** The job is over. */
export function takeJob<Job extends { work: Work }>(site: SiteWork<Job>, job: Job): void {
  const { projectId } = job.work
  site.jobCount--
  const left = (site.projects.get(projectId) ?? 0) - 1
  if (left > 0) site.projects.set(projectId, left)
  else site.projects.delete(projectId)
}

/** A site of many domains has many routes; its first addresses stand for it. */
function noteTargets<Job>(site: SiteWork<Job>, { site: name, targets }: PoolSettings): void {
  if (site.targets === targets) return
  site.targets = targets
  // Well-known providers have limits of their own.
  if (findProvider(name) !== undefined || site.addresses.length >= MAX_ADDRESSES) return
  const more = targets.filter(({ address }) => !site.addresses.includes(address))
  if (more.length === 0) return
  const all = [...site.addresses, ...new Set(more.map(({ address }) => address))]
  site.addresses = all.slice(0, MAX_ADDRESSES)
}
