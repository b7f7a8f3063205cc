/** Adds the sums of a batch to the stored counts: each row once, in its quarter and in its day. */
import { DAY_MS } from '../../../../base/clock.ts'
import type { Statement } from '../../../../store/database.ts'
import { sql } from '../../../../store/drizzle.ts'
import {
  type AnalyticsSubject,
  eventCounts,
  linkCounts,
  mailCounts,
} from '../../../../store/schema/analytics.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { startOf } from '../buckets.ts'
import { eachCount } from '../mail-counts.ts'
import type { CountedProject } from './projects.ts'
import { rowsOf } from './rows.ts'
import type { Subjects } from './subjects.ts'
import type { MailSum, Sums } from './sums.ts'

type Kind = AnalyticsSubject['kind']
/** A sum that is about something; `name`: null for counts of all. */
type Part = {
  sum: { projectId: string; startsAt: number; stream: string }
  kind: Kind | 'all'
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

type Batch = {
  tx: Tx
  subjects: Subjects
  /** Those of all sums. */
  projects: ReadonlyMap<string, CountedProject>
  /** Now. */
  at: number
}

export async function writeCounts(batch: Batch, { mail, links, events }: Sums): Promise<void> {
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

function partsOfMail({ counts, ...sum }: MailSum): Part[] {
  const subjects: Part[] = [
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
  { tx, subjects, projects, at }: Batch,
  statement: Statement<unknown>,
  parts: readonly Part[],
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
