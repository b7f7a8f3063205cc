/**
 * The handler that counts mail, clicks and events for analytics, at most a second behind:
 *
 *   mail_counts   emails by the instant of their acceptance, so that no rate is over 100%
 *   link_counts   clicks, by the instant of the email's acceptance
 *   event_counts  events by their own instant
 *
 * A batch is added up in memory and written in one transaction with the cursor, so each event
 * counts once, even after a crash. The counts of an event follow from the event, and from those
 * facts about its email that no longer change (`sums.ts`). Nothing is subtracted when an email,
 * contact, campaign or event is deleted. The first run over an existing database takes a while
 * (`isAnalyticsComplete`).
 */

import { DAY_MS } from '../../../../base/clock.ts'
import type { Statement } from '../../../../store/database.ts'
import { sql } from '../../../../store/drizzle.ts'
import {
  type AnalyticsSubject,
  type CountedEvent,
  eventCounts,
  linkCounts,
  mailCounts,
} from '../../../../store/schema/analytics.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import type { LazyHandler } from '../../../ground/event-handlers.ts'
import { isRelaying } from '../../receivers/email-receivers.ts'
import { QUARTER_MS, QUARTERS_KEPT_MS, SPANS } from '../buckets.ts'
import { isAnalyticsComplete } from '../complete.ts'
import { eachCount } from '../mail-counts.ts'
import {
  type CountedProject,
  createProviderNaming,
  createSubjects,
  findProjects,
  type Subjects,
} from './subjects.ts'
import { addUp, type Countable, countableOf, type MailSum, type Sums, startOf } from './sums.ts'

type Deps = Pick<Base, 'now' | 'config'>

/**
 * The rest after a batch, in multiples of the time of the batch, while the handler is far behind:
 * half of the time remains for the commits of others.
 */
const REST_TIMES = 1

/**
 * The rest while events from before analytics existed are counted. They can wait, so the handler
 * works for a ninth of the time.
 */
const BACKFILL_REST_TIMES = 8

type SubjectKind = AnalyticsSubject['kind']

/**
 * Counts for one subject, such as a campaign. `name`: the name of the subject; null for the counts
 * of all mail.
 */
type CountedPart = {
  sum: { projectId: string; startsAt: number; stream: string }
  kind: SubjectKind | 'all'
  name: string | null
  counts: Readonly<Record<string, number>>
}

const PLACE = {
  projectId: parameter('projectId'),
  span: parameter('span'),
  startsAt: parameter('startsAt'),
  stream: parameter('stream'),
  subject: parameter('subject'),
}

const addMail = statement((db) =>
  db
    .insert(mailCounts)
    .values({
      ...PLACE,
      kind: parameter('kind'),
      ...eachCount(parameter),
    })
    .onConflictDoUpdate({
      target: [
        mailCounts.projectId,
        mailCounts.kind,
        mailCounts.span,
        mailCounts.startsAt,
        mailCounts.stream,
        mailCounts.subject,
      ],
      set: eachCount(
        (name) => sql`${mailCounts[name]} + ${sql.raw(`excluded.${mailCounts[name].name}`)}`,
      ),
    }),
)

const addLink = statement((db) =>
  db
    .insert(linkCounts)
    .values({
      ...PLACE,
      clicks: parameter('clicks'),
      firstClicks: parameter('firstClicks'),
    })
    .onConflictDoUpdate({
      target: [
        linkCounts.projectId,
        linkCounts.span,
        linkCounts.startsAt,
        linkCounts.stream,
        linkCounts.subject,
      ],
      set: {
        clicks: sql`${linkCounts.clicks} + excluded.clicks`,
        firstClicks: sql`${linkCounts.firstClicks} + excluded.first_clicks`,
      },
    }),
)

const addEvents = statement((db) =>
  db
    .insert(eventCounts)
    .values({ ...PLACE, events: parameter('events') })
    .onConflictDoUpdate({
      target: [
        eventCounts.projectId,
        eventCounts.span,
        eventCounts.startsAt,
        eventCounts.stream,
        eventCounts.subject,
      ],
      set: { events: sql`${eventCounts.events} + excluded.events` },
    }),
)

type CountedBatch = {
  tx: Tx
  subjects: Subjects
  /** The projects that the sums of the batch belong to. */
  projects: ReadonlyMap<string, CountedProject>
  /** The present time, epoch ms. */
  at: number
}

/**
 * `startsAt`: the beginning of the quarter. `subject`: the number of the subject; 0 for the counts
 * of all mail.
 */
type SubjectSum = {
  projectId: string
  kind: string
  startsAt: number
  stream: string
  subject: number
  counts: Readonly<Record<string, number>>
}

/** The columns of a row in one of the tables of counts. */
type CountRow = Record<string, string | number>

export function analyticsHandler(deps: Deps): LazyHandler {
  const subjects = createSubjects()
  let isComplete = false
  return {
    name: 'analytics',
    restTimes: () => (isComplete ? REST_TIMES : BACKFILL_REST_TIMES),
    handle: async (tx, events) => {
      isComplete ||= await isAnalyticsComplete(tx)
      await countEvents(deps, { tx, subjects }, events)
    },
  }
}

async function countEvents(
  { config, now }: Pick<Deps, 'config' | 'now'>,
  { tx, subjects }: { tx: Tx; subjects: Subjects },
  events: readonly CountedEvent[],
): Promise<void> {
  const projects = await findProjects(tx, events)
  const counted: Countable[] = []
  for (const event of events) {
    const after = projects.get(event.projectId)?.countedAfter
    const countable = after !== undefined && event.seq > after ? countableOf(event) : undefined
    if (countable !== undefined) counted.push(countable)
  }
  const isRelay = isRelaying(config)
  const sums = addUp(counted, await createProviderNaming(tx, { counted, isRelay }))
  await writeCounts({ tx, subjects, projects, at: now() }, sums)
}

async function writeCounts(batch: CountedBatch, { mail, links, events }: Sums): Promise<void> {
  await write(batch, addMail, [...mail].flatMap(partsOfMail))
  const ofLinks = [...links].map(({ url: name, clicks, firstClicks, ...sum }) => {
    return { sum, kind: 'url', name, counts: { clicks, firstClicks } } as const
  })
  await write(batch, addLink, ofLinks)
  const ofEvents = [...events].map(({ name, events: count, ...sum }) => {
    return { sum, kind: 'event', name, counts: { events: count } } as const
  })
  await write(batch, addEvents, ofEvents)
}

function partsOfMail({ counts, ...sum }: MailSum): CountedPart[] {
  const subjects: CountedPart[] = [
    { sum, counts, kind: 'campaign', name: sum.campaignId },
    { sum, counts, kind: 'template', name: sum.templateId },
    { sum, counts, kind: 'workflow', name: sum.workflowId },
  ]
  return [
    { sum, counts, kind: 'all', name: null },
    { sum, counts, kind: 'provider', name: sum.provider },
    ...subjects.filter(({ name }) => name !== null),
  ]
}

async function write(
  { tx, subjects, projects, at }: CountedBatch,
  statement: Statement<unknown>,
  parts: readonly CountedPart[],
): Promise<void> {
  const keys = parts.flatMap(({ sum: { projectId, startsAt }, kind, name }) => {
    const project = projects.get(projectId)
    if (project === undefined || kind === 'all' || name === null) return []
    return [{ project, kind, name, day: startOf(DAY_MS, startsAt) }]
  })
  const ids = (await subjects.resolve(tx, keys)).values()
  const sums = parts.map(({ sum: { projectId, startsAt, stream }, kind, counts }) => {
    const subject = kind === 'all' ? 0 : (ids.next().value ?? 0)
    return { projectId, startsAt, stream, kind, counts, subject }
  })
  await tx.executeEach(statement, rowsOf(sums, at))
}

/**
 * Turns the sums into rows of quarters and days. Quarters that are old enough to be deleted are
 * left out. `at`: the present time.
 */
function rowsOf(sums: readonly SubjectSum[], at: number): CountRow[] {
  const rows = new Map<string, CountRow>()
  for (const sum of sums) {
    for (const span of SPANS) {
      if (span === QUARTER_MS && sum.startsAt < at - QUARTERS_KEPT_MS) continue
      addTo(rows, sum, span)
    }
  }
  return [...rows.values()]
}

function addTo(rows: Map<string, CountRow>, { counts, ...sum }: SubjectSum, span: number): void {
  const startsAt = startOf(span, sum.startsAt)
  const key = `${sum.projectId} ${sum.kind} ${span} ${startsAt} ${sum.stream} ${sum.subject}`
  const row = rows.get(key)
  if (row === undefined) rows.set(key, { ...sum, ...counts, span, startsAt })
  else for (const name in counts) row[name] = Number(row[name]) + (counts[name] ?? 0)
}
