/**
 * The feed's figures over a range (contract 15.1), remembered for five minutes. They are counted on
 * the reader threads through the index that the feed uses, some 50,000 events a query, so that a
 * project with millions of them keeps neither other readers waiting nor a snapshot open.
 */

import { LRUCache } from 'lru-cache'
import { MINUTE_MS } from '../../clock.ts'
import { jsonValue } from '../../store/dialect.ts'
import { and, asc, eq, gt, lte, sql } from '../../store/drizzle.ts'
import { events } from '../../store/schema/events.ts'
import { parameter, statement } from '../../store/statement.ts'
import type { Base } from '../base.ts'
import { isListed } from '../events/unlisted.ts'
import { DEFAULT_SPAN_MS } from './list.ts'

export type ActivityStats = {
  totalEvents: number
  totalEmailsSent: number
  /** Emails whose first open falls into the range, prefetchers and scanners left out. */
  totalEmailsOpened: number
  totalEmailsClicked: number
  totalWorkflowsStarted: number
  /** Percent of those sent in the range, two decimals; 0 when none was. */
  openRate: number
  clickRate: number
}

/** Instants in epoch ms, both included; left out: now, and 30 days before the end. */
export type StatsRange = { startAt?: number | undefined; endAt?: number | undefined }

type StatsDeps = Pick<Base, 'store' | 'now'>
type Counts = { events: number; sent: number; opened: number; clicked: number }
type Span = { after: number; until: number }

const REMEMBERED_MS = 5 * MINUTE_MS
const MAX_REMEMBERED = 1_000
const CHUNK_EVENTS = 50_000

const inSpan = and(
  eq(events.projectId, parameter('projectId')),
  gt(events.createdAt, parameter('after')),
  lte(events.createdAt, parameter('until')),
  isListed,
)

/** Where a chunk ends: all events of one instant are in the same. */
export const findChunkEnd = statement((db) =>
  db
    .select({ at: events.createdAt })
    .from(events)
    .where(inSpan)
    .orderBy(asc(events.createdAt))
    .limit(1)
    .offset(parameter('skipped')),
)

const isNamed = (name: string) => sql`${events.name} = ${name}`
const isFirst = (key: string) => sql`${jsonValue(events.data, key)} = 1`

export const countChunk = statement((db) =>
  db
    .select({
      events: sql<number>`count(*)`,
      sent: sql<number>`count(*) filter (where ${isNamed('email.sent')})`,
      opened: sql<number>`count(*) filter (where ${isNamed('email.open')} and ${isFirst('isFirstOpen')})`,
      clicked: sql<number>`count(*) filter (where ${isNamed('email.click')} and ${isFirst('isFirstClick')})`,
    })
    .from(events)
    .where(inSpan),
)

/** Counts in a moment, whatever was asked before. */
export async function countActivity(
  { store, now }: StatsDeps,
  projectId: string,
  { range, chunkEvents = CHUNK_EVENTS }: { range: StatsRange; chunkEvents?: number },
): Promise<ActivityStats> {
  const until = range.endAt ?? now()
  const span = { after: (range.startAt ?? Math.min(now(), until) - DEFAULT_SPAN_MS) - 1, until }
  const total: Counts = { events: 0, sent: 0, opened: 0, clicked: 0 }
  for await (const chunk of chunksOf(store, { projectId, span, chunkEvents })) add(total, chunk)
  return toStats(total)
}

/** `countActivity` with a memory: the same question within five minutes has the same answer. */
export function createActivityStats(deps: StatsDeps) {
  const known = new LRUCache<string, { at: number; stats: Promise<ActivityStats> }>({
    max: MAX_REMEMBERED,
  })
  return (projectId: string, range: StatsRange): Promise<ActivityStats> => {
    const key = `${projectId} ${range.startAt ?? ''} ${range.endAt ?? ''}`
    const at = deps.now()
    const answer = known.get(key)
    if (answer !== undefined && at >= answer.at && at - answer.at < REMEMBERED_MS) {
      return answer.stats
    }
    const stats = countActivity(deps, projectId, { range })
    known.set(key, { at, stats })
    stats.catch(() => known.delete(key))
    return stats
  }
}

async function* chunksOf(
  store: Base['store'],
  { projectId, span, chunkEvents }: { projectId: string; span: Span; chunkEvents: number },
): AsyncGenerator<Counts> {
  for (let { after } = span; after < span.until; ) {
    const part = { projectId, after, until: span.until, skipped: chunkEvents - 1 }
    const end = await store.scan.find(findChunkEnd, part)
    const until = end?.at ?? span.until
    const counts = await store.scan.find(countChunk, { projectId, after, until })
    if (counts !== undefined) yield counts
    after = until
  }
}

function add(total: Counts, chunk: Counts): void {
  total.events += chunk.events
  total.sent += chunk.sent
  total.opened += chunk.opened
  total.clicked += chunk.clicked
}

function toStats({ events, sent, opened, clicked }: Counts): ActivityStats {
  return {
    totalEvents: events,
    totalEmailsSent: sent,
    totalEmailsOpened: opened,
    totalEmailsClicked: clicked,
    totalWorkflowsStarted: 0,
    openRate: percent(opened, sent),
    clickRate: percent(clicked, sent),
  }
}

function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 100
}
