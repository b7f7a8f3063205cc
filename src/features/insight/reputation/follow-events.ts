/**
 * The follower that counts the mail of projects for their reputation, by the instants of events:
 *
 *   emails      sent, or refused for good before they were sent
 *   bounces     permanent ones; an email has one at most, because it is over then
 *   complaints  an email has one at most
 *
 * Mail of the server to its users does not count, nor does mail to the mailbox simulator of Amazon SES.
 * The counts, what follows from them and the cursor are written in one transaction, so a server that was
 * killed goes on where it stopped.
 */
import { jsonValue, listOf, unseen } from '../../../store/dialect.ts'
import { asc, gt, sql } from '../../../store/drizzle.ts'
import { projects } from '../../../store/schema/accounts.ts'
import { events } from '../../../store/schema/events.ts'
import { emails } from '../../../store/schema/messages.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import { type Follower, startFollower } from '../../ground/events/follow.ts'
import type { FollowedRows } from '../../ground/events/followed-rows.ts'
import { addCounts, type HourCounts, hourOf } from './counters.ts'
import { createEnforcement, type EnforceDeps, type Enforcement } from './enforce.ts'

type CountedEvent = {
  seq: number
  projectId: string
  name: string
  emailId: string | null
  bounceType: string | null
  createdAt: number
}

const BATCH = 500
const LINGER_MS = 250
const SIMULATOR = 'simulator.amazonses.com'
const COUNTED: ReadonlySet<string> = new Set(['email.sent', 'email.bounce', 'email.complaint'])

const rows: FollowedRows<CountedEvent> = {
  table: 'events',
  listAfter: statement((db) =>
    db
      .select({
        seq: events.seq,
        projectId: events.projectId,
        name: events.name,
        emailId: events.emailId,
        bounceType: sql<string | null>`case when ${events.name} = 'email.bounce'
          then ${jsonValue(events.data, 'bounceType')} end`,
        createdAt: events.createdAt,
      })
      .from(events)
      .where(gt(events.seq, parameter('seq')))
      .orderBy(asc(events.seq))
      .limit(unseen(parameter('limit'))),
  ),
}

const listEmails = statement((db) =>
  db
    .select({
      id: emails.id,
      sentAt: emails.sentAt,
      isPlatform: emails.isPlatform,
      recipientDomain: emails.recipientDomain,
    })
    .from(emails)
    .where(sql`${emails.id} in ${listOf(parameter('ids'))}`),
)

const listProjects = statement((db) =>
  db
    .select({
      id: projects.id,
      name: projects.name,
      isDisabled: projects.isDisabled,
      reputationSince: projects.reputationSince,
      createdAt: projects.createdAt,
    })
    .from(projects)
    .where(sql`${projects.id} in ${listOf(parameter('ids'))}`),
)

export function startReputation(
  deps: EnforceDeps & Pick<Base, 'store'>,
  clock?: () => number,
): Follower {
  const enforcement = createEnforcement(deps)
  return startFollower(deps, {
    ...{ rows, name: 'reputation', batch: BATCH, lingerMs: LINGER_MS },
    ...(clock && { clock }),
    handle: (tx, batch) => count(enforcement, tx, batch),
  })
}

async function count(
  { enforce }: Enforcement,
  tx: Tx,
  batch: readonly CountedEvent[],
): Promise<void> {
  const counted = batch.filter(({ name, emailId }) => emailId !== null && COUNTED.has(name))
  if (counted.length === 0) return
  const facts = await tx.list(listEmails, { ids: idsOf(counted, 'emailId') })
  const byId = new Map(facts.map((email) => [email.id, email]))
  const known = await tx.list(listProjects, { ids: idsOf(counted, 'projectId') })
  const sinceOf = new Map(known.map(({ id, reputationSince }) => [id, reputationSince]))
  const sums = createSums(sinceOf)
  for (const event of counted) {
    const email = byId.get(event.emailId ?? '')
    // Of a deleted email no more is known than its event.
    if (email?.isPlatform || email?.recipientDomain === SIMULATOR) continue
    sums.add(event, countsOf(event, email?.sentAt === null))
  }
  await addCounts(tx, sums.all())
  const judged = new Set(counted.filter(isBad).map(({ projectId }) => projectId))
  await enforce(
    tx,
    known.filter(({ id }) => judged.has(id)),
  )
}

/** `isUnsent`: the email was refused before it was sent. */
function countsOf(event: CountedEvent, isUnsent: boolean) {
  const { name, bounceType } = event
  const isRefusal = name === 'email.bounce' && bounceType !== 'Transient' && isUnsent
  return {
    emails: name === 'email.sent' || isRefusal ? 1 : 0,
    bounces: isPermanent(event) ? 1 : 0,
    complaints: name === 'email.complaint' ? 1 : 0,
  }
}

function isBad(event: CountedEvent): boolean {
  return event.name === 'email.complaint' || isPermanent(event)
}

function isPermanent({ name, bounceType }: CountedEvent): boolean {
  return name === 'email.bounce' && bounceType === 'Permanent'
}

/** Adds up by project and hour. Events of projects that are gone, or before `since`, count nothing. */
function createSums(sinceOf: ReadonlyMap<string, number>) {
  const sums = new Map<string, HourCounts>()
  return {
    add({ projectId, createdAt }: CountedEvent, more: ReturnType<typeof countsOf>): void {
      const since = sinceOf.get(projectId)
      const startsAt = since === undefined ? undefined : hourOf(createdAt, since)
      if (startsAt === undefined) return
      const key = `${projectId} ${startsAt}`
      const sum = sums.get(key) ?? { projectId, startsAt, emails: 0, bounces: 0, complaints: 0 }
      sums.set(key, {
        ...sum,
        emails: sum.emails + more.emails,
        bounces: sum.bounces + more.bounces,
        complaints: sum.complaints + more.complaints,
      })
    },
    all: () => [...sums.values()],
  }
}

function idsOf(batch: readonly CountedEvent[], key: 'emailId' | 'projectId'): string {
  return JSON.stringify([...new Set(batch.map((event) => event[key]))])
}
