/**
 * The subjects of counts: providers, campaigns, templates, workflows, links and names of events.
 * Each subject has a number. On one day, a project can get a limited number of new links, and of
 * new names of its clients' events. Further ones share the subject '', so that personalised links,
 * or a public key in wrong hands, cannot fill the disk. A number is remembered once its transaction
 * is durable. A reset erases the subjects of the project, so numbers are remembered only until the
 * next reset.
 */
import { providerOfDomain } from '../../../../formats/address/mailbox-providers.ts'
import { listOf } from '../../../../store/dialect.ts'
import { and, isNull, sql } from '../../../../store/drizzle.ts'
import { type Project, projects } from '../../../../store/schema/accounts.ts'
import {
  type AnalyticsSubject,
  analyticsSubjects,
  type CountedEvent,
} from '../../../../store/schema/analytics.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { isReservedEvent } from '../../../ground/events/reserved.ts'
import { findFirstHosts, receiverOf } from '../../receivers/email-receivers.ts'
import type { Countable } from './sums.ts'

type SubjectKind = AnalyticsSubject['kind']

/** `day`: the beginning of the day of the bucket, epoch ms. */
type SubjectKey = { project: CountedProject; kind: SubjectKind; name: string; day: number }

export type Subjects = {
  /** Finds or makes the subjects, in this order, and returns their numbers. */
  resolve(tx: Tx, keys: readonly SubjectKey[]): Promise<number[]>
}

/** New links, and also new names of events, that a project can get on one day. */
const MAX_NEW_SUBJECTS = 1_000

const FURTHER = ''

const MAX_REMEMBERED = 20_000

const MAX_REMEMBERED_TEXT = 400

/** The day of the subject '', which the further links and names of every day share. */
const NO_DAY = 0

const listSubjects = statement<{ id: number; name: string }>(
  () => sql`select id, name from analytics_subjects
    where project_id = ${parameter('projectId')} and kind = ${parameter('kind')}
      and name in ${listOf(parameter('names'))}`,
)

const countNew = statement<{ subjects: number }>(
  () => sql`select count(*) as subjects from analytics_subjects
    where project_id = ${parameter('projectId')} and kind = ${parameter('kind')}
      and first_day = ${parameter('day')}`,
)

const insertSubject = statement((db) =>
  db
    .insert(analyticsSubjects)
    .values({
      projectId: parameter('projectId'),
      kind: parameter('kind'),
      name: parameter('name'),
      firstDay: parameter('day'),
    })
    .returning({ id: analyticsSubjects.id }),
)

/**
 * Whether the number of new subjects of this kind is limited. The service's own names of events are
 * few and are not limited.
 */
const isLimited = ({ kind, name }: SubjectKey) =>
  kind === 'url' || (kind === 'event' && !isReservedEvent(name))

export type CountedProject = Pick<Project, 'id' | 'countedAfter'>

const listProjects = statement((db) =>
  db
    .select({ id: projects.id, countedAfter: projects.countedAfter })
    .from(projects)
    .where(
      and(
        sql`${projects.id} in ${listOf(parameter('ids'))}`,
        isNull(projects.resetSince),
        isNull(projects.deletedAt),
      ),
    ),
)

type HostRow = { emailId: string; host: string | null }

/**
 * Lists the servers that emails were offered to, for emails that were deleted together with their
 * attempts.
 */
const listDeletedHosts = statement<HostRow>(
  () => sql`select email_id as "emailId", host from deleted_events
    where seq in ${listOf(parameter('seqs'))}`,
)

export function createSubjects(): Subjects {
  const remembered = new Map<string, number>()

  function remember(found: ReadonlyMap<string, number>): void {
    if (remembered.size + found.size > MAX_REMEMBERED) remembered.clear()
    for (const [text, id] of found) {
      if (text.length <= MAX_REMEMBERED_TEXT) remembered.set(text, id)
    }
  }

  return {
    async resolve(tx, keys) {
      const unknown = keys.filter((key) => !remembered.has(textOf(key)))
      const found = await findAll(tx, unknown)
      const make = createMaker(tx, found)
      const ids: number[] = []
      for (const key of keys) {
        const text = textOf(key)
        ids.push(remembered.get(text) ?? found.get(text) ?? (await make(key)))
      }
      if (found.size > 0) tx.afterCommit(() => remember(found))
      return ids
    },
  }
}

/**
 * Finds the projects whose events count, by their ids. Projects that are being reset or deleted are
 * left out. So are events from before a reset (`countedAfter`): erased data never returns in a
 * count, however far behind the follower is.
 */
export async function findProjects(
  tx: Tx,
  events: readonly CountedEvent[],
): Promise<ReadonlyMap<string, CountedProject>> {
  const ids = JSON.stringify([...new Set(events.map(({ projectId }) => projectId))])
  const found = await tx.list(listProjects, { ids })
  return new Map(found.map((project) => [project.id, project]))
}

/**
 * Returns a function that names the provider of an event's email: by the recipient's domain, else
 * by the server that accepted or refused the email. Both are the same for all events of one email.
 */
export async function createProviderNaming(
  tx: Tx,
  { counted, isRelay }: { counted: readonly Countable[]; isRelay: boolean },
): Promise<(event: CountedEvent) => string> {
  const isUnknown = ({ recipientDomain }: CountedEvent) =>
    providerOfDomain(recipientDomain ?? '') === undefined
  const unknown = counted.filter(({ event, changes }) => changes.length > 0 && isUnknown(event))
  const hosts = await findHosts(
    tx,
    unknown.map(({ event }) => event),
  )
  return (event) => receiverOf(event, { host: hosts.get(event.emailId ?? ''), isRelay })
}

/**
 * Returns the first server that each email was offered to, by the id of the email. This server is
 * known before the email counts anywhere, and does not change. Null for a smarthost, which is no
 * receiver.
 * `events`: events of emails.
 */
async function findHosts(
  tx: Tx,
  events: readonly CountedEvent[],
): Promise<ReadonlyMap<string, string | null>> {
  if (events.length === 0) return new Map()
  const ids = JSON.stringify([...new Set(events.map(({ emailId }) => emailId))])
  const hosts = await findFirstHosts(tx, ids)
  const unknown = events.filter(({ emailId }) => emailId !== null && !hosts.has(emailId))
  if (unknown.length === 0) return hosts
  const seqs = JSON.stringify(unknown.map(({ seq }) => seq))
  for (const { emailId, host } of await tx.list(listDeletedHosts, { seqs })) {
    hosts.set(emailId, host)
  }
  return hosts
}

/** Returns a function that makes a subject, adds it to `found` and returns its number. */
function createMaker(tx: Tx, found: Map<string, number>): (key: SubjectKey) => Promise<number> {
  /** Project, kind and day -> the number of new subjects. */
  const counts = new Map<string, number>()

  async function insert(key: SubjectKey): Promise<number> {
    const { kind, name, day, project } = key
    const row = await tx.find(insertSubject, { projectId: project.id, kind, name, day })
    const id = row?.id ?? 0
    found.set(textOf(key), id)
    return id
  }

  async function findOrInsert(key: SubjectKey): Promise<number> {
    const text = textOf(key)
    if (!found.has(text)) for (const [each, id] of await findAll(tx, [key])) found.set(each, id)
    return found.get(text) ?? insert(key)
  }

  return async (key) => {
    if (!isLimited(key)) return insert(key)
    const { kind, day, project } = key
    const dayKey = `${project.id} ${kind} ${day}`
    const known = counts.get(dayKey)
    const count =
      known ?? (await tx.find(countNew, { projectId: project.id, kind, day }))?.subjects ?? 0
    const isFull = count >= MAX_NEW_SUBJECTS
    counts.set(dayKey, isFull ? count : count + 1)
    return isFull ? findOrInsert({ ...key, name: FURTHER, day: NO_DAY }) : insert(key)
  }
}

async function findAll(tx: Tx, keys: readonly SubjectKey[]): Promise<Map<string, number>> {
  const found = new Map<string, number>()
  const groups = Map.groupBy(keys, ({ project, kind }) => `${project.id} ${kind}`)
  for (const group of groups.values()) {
    const [first] = group
    if (first === undefined) continue
    const { project, kind } = first
    const names = JSON.stringify([...new Set(group.map(({ name }) => name))])
    const rows = await tx.list(listSubjects, { projectId: project.id, kind, names })
    for (const { id, name } of rows) found.set(textOf({ ...first, name }), id)
  }
  return found
}

function textOf({ project, kind, name }: SubjectKey): string {
  return `${project.id} ${project.countedAfter} ${kind} ${name}`
}
