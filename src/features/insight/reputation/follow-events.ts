/**
 * The handler that counts the mail of projects for their reputation, by the instants of events, and
 * disables projects whose reputation has become critical.
 *
 *   emails      sent, or refused for good before they were sent
 *   bounces     permanent ones; an email has one at most, because its delivery has then ended
 *   complaints  an email has one at most
 *
 * Mail counts by the hour, and in all since the project was last enabled. An hour in which a
 * project was enabled has a second row, which begins at that instant, so that windows of hours
 * never reach behind `reputationSince`. Mail from the server to its users does not count, nor does
 * mail to the mailbox simulator of Amazon SES.
 *
 * The counts, their consequences and the cursor are written in one transaction, so a server that
 * was killed continues where it stopped. The project that sends the mail of this server is never
 * disabled, because its members could then not be told by mail; a line in the log warns of its
 * reputation once an hour.
 */
import { HOUR_MS } from '../../../base/clock.ts'
import { listOf } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { type Project, projects } from '../../../store/schema/accounts.ts'
import type { CountedEvent } from '../../../store/schema/analytics.ts'
import { reputationHours, reputationTotals } from '../../../store/schema/reputation.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import type { LazyHandler } from '../../ground/event-handlers.ts'
import { isYoung } from '../../mail/messages/accept/new-project-cap.ts'
import { findMailProjectId } from '../../tenancy/accounts/platform-mail/sender.ts'
import { disableProject } from '../../tenancy/accounts/projects/disable.ts'
import { judgeReputation } from './judge.ts'
import { type ReputationCounts, readWindows } from './windows.ts'

const SIMULATOR = 'simulator.amazonses.com'
const COUNTED: ReadonlySet<string> = new Set(['email.sent', 'email.bounce', 'email.complaint'])

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

const { emails, bounces, complaints } = reputationHours

const addToHour = statement((db) =>
  db
    .insert(reputationHours)
    .values({
      projectId: parameter('projectId'),
      startsAt: parameter('startsAt'),
      emails: parameter('emails'),
      bounces: parameter('bounces'),
      complaints: parameter('complaints'),
    })
    .onConflictDoUpdate({
      target: [reputationHours.projectId, reputationHours.startsAt],
      set: {
        emails: sql`${emails} + ${parameter('emails')}`,
        bounces: sql`${bounces} + ${parameter('bounces')}`,
        complaints: sql`${complaints} + ${parameter('complaints')}`,
      },
    }),
)

const addToTotals = statement((db) =>
  db
    .insert(reputationTotals)
    .values({
      projectId: parameter('projectId'),
      emails: parameter('emails'),
      bounces: parameter('bounces'),
      complaints: parameter('complaints'),
    })
    .onConflictDoUpdate({
      target: reputationTotals.projectId,
      set: {
        emails: sql`${reputationTotals.emails} + ${parameter('emails')}`,
        bounces: sql`${reputationTotals.bounces} + ${parameter('bounces')}`,
        complaints: sql`${reputationTotals.complaints} + ${parameter('complaints')}`,
      },
    }),
)

/**
 * The counts of a project in the hour that begins at `startsAt`, or in the rest of an hour from
 * `startsAt` on.
 */
type HourCounts = ReputationCounts & { projectId: string; startsAt: number }

type EnforceDeps = Pick<Base, 'config' | 'directory' | 'now' | 'log'>

/** The columns of a project by which it is judged. */
type JudgedProject = Pick<Project, 'id' | 'name' | 'isDisabled' | 'reputationSince' | 'createdAt'>

type Enforcement = {
  /** Judges the projects, and disables the critical ones. */
  enforce(tx: Tx, projects: readonly JudgedProject[]): Promise<void>
}

export function reputationHandler(deps: EnforceDeps): LazyHandler {
  const enforcement = createEnforcement(deps)
  return {
    name: 'reputation',
    names: COUNTED,
    handle: (tx, batch) => count(enforcement, tx, batch),
  }
}

async function count(
  { enforce }: Enforcement,
  tx: Tx,
  batch: readonly CountedEvent[],
): Promise<void> {
  const counted = batch.filter(({ emailId }) => emailId !== null)
  if (counted.length === 0) return
  const ids = [...new Set(counted.map(({ projectId }) => projectId))]
  const known = await tx.list(listProjects, { ids: JSON.stringify(ids) })
  const sinceOf = new Map(known.map(({ id, reputationSince }) => [id, reputationSince]))
  const sums = createSums(sinceOf)
  for (const event of counted) {
    if (event.isPlatform || event.recipientDomain === SIMULATOR) continue
    sums.add(event, countsOf(event))
  }
  await addHourCounts(tx, sums.all())
  const judged = new Set(counted.filter(isBad).map(({ projectId }) => projectId))
  await enforce(
    tx,
    known.filter(({ id }) => judged.has(id)),
  )
}

function countsOf(event: CountedEvent) {
  const { name, detail, acceptedAt, sentAt } = event
  // About a deleted email nothing is known, so it does not count as unsent.
  const isUnsent = acceptedAt !== null && sentAt === null
  const isRefusal = name === 'email.bounce' && detail !== 'Transient' && isUnsent
  return {
    emails: name === 'email.sent' || isRefusal ? 1 : 0,
    bounces: isPermanent(event) ? 1 : 0,
    complaints: name === 'email.complaint' ? 1 : 0,
  }
}

function isBad(event: CountedEvent): boolean {
  return event.name === 'email.complaint' || isPermanent(event)
}

function isPermanent({ name, detail }: CountedEvent): boolean {
  return name === 'email.bounce' && detail === 'Permanent'
}

/**
 * Sums counts by project and hour. Events of deleted projects, and events before the project's
 * `since`, do not count.
 */
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

/**
 * The `startsAt` of the row in which an event counts; undefined if the project was enabled after
 * the event.
 */
function hourOf(at: number, reputationSince: number): number | undefined {
  if (at < reputationSince) return undefined
  return Math.max(at - (at % HOUR_MS), reputationSince)
}

export async function addHourCounts(tx: Tx, counts: readonly HourCounts[]): Promise<void> {
  await tx.executeEach(addToHour, counts)
  await tx.executeEach(addToTotals, counts)
}

function createEnforcement(deps: EnforceDeps): Enforcement {
  const warnedAt = new Map<string, number>()

  function warn(project: JudgedProject, violations: readonly string[]): void {
    const at = deps.now()
    if (at - (warnedAt.get(project.id) ?? Number.NEGATIVE_INFINITY) < HOUR_MS) return
    warnedAt.set(project.id, at)
    const facts = { projectId: project.id, name: project.name, violations }
    deps.log.warn(facts, 'a project has a critical reputation and is not disabled')
  }

  async function enforceOne(tx: Tx, project: JudgedProject): Promise<void> {
    if (project.isDisabled) return
    const at = deps.now()
    const violations = await findViolations(deps, tx, { project, at })
    if (violations.length === 0) return
    const isAutomatic = deps.config.security.autoDisable
    if (!isAutomatic || project.id === (await findMailProjectId(deps, tx))) {
      tx.afterCommit(() => warn(project, violations))
      return
    }
    const { id: projectId, name } = project
    await disableProject(deps, tx, { projectId, reason: 'EMAIL_REPUTATION', at })
    tx.afterCommit(() => {
      deps.log.warn({ projectId, name, violations }, 'a project was disabled')
    })
  }

  return {
    async enforce(tx, projects) {
      for (const project of projects) await enforceOne(tx, project)
    },
  }
}

async function findViolations(
  { config }: EnforceDeps,
  tx: Tx,
  { project, at }: { project: JudgedProject; at: number },
): Promise<string[]> {
  const { id: projectId, reputationSince: since } = project
  const windows = await readWindows(tx, { projectId, since, at })
  const { findings } = judgeReputation(config.security, windows, { isNew: isYoung(project, at) })
  return findings.filter(({ level }) => level === 'critical').map(({ text }) => text)
}
