/** Fills the tables of analytics as their follower does: each count in a quarter of an hour and in a day. */
import { DAY_MS } from '../../../../src/base/clock.ts'
import type { Core } from '../../../../src/core/core.ts'
import { QUARTER_MS } from '../../../../src/features/insight/analytics/buckets.ts'
import {
  eachCount,
  type MailCounts,
  NO_MAIL,
} from '../../../../src/features/insight/analytics/mail-counts.ts'
import { and, eq, sql } from '../../../../src/store/drizzle.ts'
import {
  analyticsSubjects,
  eventCounts,
  linkCounts,
  mailCounts,
} from '../../../../src/store/schema/analytics.ts'
import type { AnalyticsStream } from '../../../../src/store/schema/words.ts'
import { parameter, statement } from '../../../../src/store/statement.ts'
import type { Tx } from '../../../../src/store/write/transaction.ts'

type Deps = Pick<Core, 'store'>
type SubjectKind = (typeof analyticsSubjects.$inferSelect)['kind']
type MailKind = Extract<SubjectKind, 'provider' | 'campaign' | 'template' | 'workflow'>

export type CountedMail = Partial<MailCounts> & {
  projectId: string
  at: number
  stream?: AnalyticsStream
  /** What the mail counts for, beside all mail. */
  subjects?: Partial<Record<MailKind, string>>
}

export type CountedLink = {
  projectId: string
  at: number
  stream?: AnalyticsStream
  url: string
  clicks: number
  firstClicks?: number
}

export type CountedEvent = {
  projectId: string
  at: number
  stream?: AnalyticsStream | ''
  name: string
  events?: number
}

const SPANS = [QUARTER_MS, DAY_MS]

export async function countMail({ store }: Deps, ...mails: readonly CountedMail[]): Promise<void> {
  await store.write(async (tx) => {
    for (const mail of mails) await insertMail(tx, mail)
  })
}

export async function countLinks({ store }: Deps, ...links: readonly CountedLink[]): Promise<void> {
  await store.write(async (tx) => {
    for (const { url, at, stream = 'CAMPAIGN', projectId, clicks, firstClicks = 0 } of links) {
      const subject = await subjectOf(tx, { projectId, kind: 'url', name: url })
      for (const key of bucketsOf(at)) {
        await tx
          .insert(linkCounts)
          .values({ projectId, ...key, stream, subject, clicks, firstClicks })
          .onConflictDoUpdate({
            target: [linkCounts.projectId, ...timeOf(linkCounts), linkCounts.subject],
            set: {
              clicks: sql`clicks + ${clicks}`,
              firstClicks: sql`first_clicks + ${firstClicks}`,
            },
          })
      }
    }
  })
}

export async function countEvents(
  { store }: Deps,
  ...counted: readonly CountedEvent[]
): Promise<void> {
  await store.write(async (tx) => {
    for (const { name, at, stream = '', projectId, events = 1 } of counted) {
      const subject = await subjectOf(tx, { projectId, kind: 'event', name })
      for (const key of bucketsOf(at)) {
        await tx
          .insert(eventCounts)
          .values({ projectId, ...key, stream, subject, events })
          .onConflictDoUpdate({
            target: [eventCounts.projectId, ...timeOf(eventCounts), eventCounts.subject],
            set: { events: sql`events + ${events}` },
          })
      }
    }
  })
}

/** Whether older events are still being counted. */
export async function setComplete({ store }: Deps, isComplete: boolean): Promise<void> {
  await store.write((tx) =>
    tx.run(
      sql`update event_followers set seq = ${isComplete ? 0 : 1} where name = 'analytics-backfill'`,
    ),
  )
}

const insertCount = statement((db) =>
  db
    .insert(mailCounts)
    .values({
      ...{ projectId: parameter('projectId'), kind: parameter('kind'), span: parameter('span') },
      ...{ startsAt: parameter('startsAt'), stream: parameter('stream') },
      subject: parameter('subject'),
      ...eachCount((name) => parameter(name)),
    })
    .onConflictDoUpdate({
      target: [
        ...[mailCounts.projectId, mailCounts.kind],
        ...[...timeOf(mailCounts), mailCounts.subject],
      ],
      set: eachCount((name) => sql`${mailCounts[name]} + ${parameter(name)}`),
    }),
)

async function insertMail(tx: Tx, mail: CountedMail): Promise<void> {
  const { projectId, at, stream = 'CAMPAIGN', subjects = {}, ...sums } = mail
  const kinds = [['all', undefined], ...Object.entries(subjects)] as ['all' | MailKind, string][]
  for (const [kind, name] of kinds) {
    const subject = kind === 'all' ? 0 : await subjectOf(tx, { projectId, kind, name })
    for (const key of bucketsOf(at)) {
      await tx.execute(insertCount, {
        ...{ projectId, kind, ...key, stream, subject },
        ...{ ...NO_MAIL, ...sums },
      })
    }
  }
}

function bucketsOf(at: number) {
  return SPANS.map((span) => ({ span, startsAt: Math.floor(at / span) * span }))
}

function timeOf({
  span,
  startsAt,
  stream,
}: typeof mailCounts | typeof linkCounts | typeof eventCounts) {
  return [span, startsAt, stream] as const
}

const findSubject = statement((db) =>
  db
    .select()
    .from(analyticsSubjects)
    .where(
      and(
        eq(analyticsSubjects.projectId, parameter('projectId')),
        eq(analyticsSubjects.kind, parameter('kind')),
        eq(analyticsSubjects.name, parameter('name')),
      ),
    ),
)

async function subjectOf(
  tx: Tx,
  subject: { projectId: string; kind: SubjectKind; name: string },
): Promise<number> {
  const known = await tx.find(findSubject, subject)
  if (known !== undefined) return known.id
  const made = await tx.insert(analyticsSubjects).values(subject).returning().get()
  return made.id
}
