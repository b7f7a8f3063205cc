/**
 * The activity feed (contract 15.1): events of a project, newest first. An email's events show the
 * message as its recipient got it, rendered again from its snapshot.
 */
import { invalidField } from '../../errors.ts'
import type { MessageSource, RenderedMessage } from '../../mail/message.ts'
import { and, desc, eq, gte, inArray, lte, type SQL, sql } from '../../store/drizzle.ts'
import { contacts, type EventRow, emails, events } from '../../store/schema.ts'
import type { Core } from '../core.ts'
import { type LoadedEmail, loadEmails, loadTexts, toSource } from '../messages/source.ts'
import { activityTypeOf, activityTypes, eventNamesOf } from './types.ts'

export type ActivityQuery = {
  limit: number
  cursor?: string | undefined
  /** Activity types; unknown ones are ignored. */
  types?: readonly string[] | undefined
  contactId?: string | undefined
  startAt?: number | undefined
  endAt?: number | undefined
}

export type Activity = {
  id: string
  type: string
  timestamp: string
  contactEmail?: string
  contactId?: string
  metadata: Record<string, unknown>
}

export type ActivityPage = { data: Activity[]; cursor: string | null; hasMore: boolean }

type ActivityDeps = Pick<Core, 'store' | 'config' | 'keyring' | 'outbound' | 'now'>
type EventWithContact = EventRow & { contactEmail: string | null }
type ShownEmail = {
  email: LoadedEmail
  error: string | null
  rendered: RenderedMessage | undefined
}

const DEFAULT_SPAN_MS = 30 * 86_400_000

/** @throws AppError VALIDATION_ERROR for a cursor that is none of ours */
export async function listActivity(
  deps: ActivityDeps,
  projectId: string,
  query: ActivityQuery,
): Promise<ActivityPage> {
  const names = query.types === undefined ? undefined : eventNamesOf(query.types)
  if (names !== undefined && names.length === 0) return { data: [], cursor: null, hasMore: false }
  const rows = await findEvents(deps, projectId, { query, names })
  const page = rows.slice(0, query.limit)
  const hasMore = rows.length > query.limit
  const last = page.at(-1)
  const shown = await showEmails(deps, page)
  return {
    data: page.map((event) => toActivity(event, shown)),
    cursor: hasMore && last !== undefined ? `${last.createdAt}_${last.id}` : null,
    hasMore,
  }
}

function findEvents(
  { store, now }: ActivityDeps,
  projectId: string,
  { query, names }: { query: ActivityQuery; names: string[] | undefined },
): Promise<EventWithContact[]> {
  const conditions: SQL[] = scopeOf(projectId, query.contactId)
  if (names !== undefined) conditions.push(nameCondition(names))
  if (query.cursor !== undefined) conditions.push(afterCursor(query.cursor))
  const startAt = query.startAt ?? defaultStart(query, now())
  if (startAt !== undefined) conditions.push(gte(events.createdAt, startAt))
  if (query.endAt !== undefined) conditions.push(lte(events.createdAt, query.endAt))
  return store.scan
    .select({
      seq: events.seq,
      id: events.id,
      projectId: events.projectId,
      name: events.name,
      contactId: events.contactId,
      emailId: events.emailId,
      data: events.data,
      createdAt: events.createdAt,
      contactEmail: contacts.email,
    })
    .from(events)
    .leftJoin(contacts, eq(contacts.id, events.contactId))
    .where(and(...conditions))
    .orderBy(desc(events.createdAt), desc(events.id))
    .limit(query.limit + 1)
    .all()
}

/** A contact's own index is by far the shorter way: the plus keeps the project's out. */
function scopeOf(projectId: string, contactId: string | undefined): SQL[] {
  if (contactId === undefined) return [eq(events.projectId, projectId)]
  return [sql`+${events.projectId} = ${projectId}`, eq(events.contactId, contactId)]
}

/** A first page without a start shows the last 30 days, of now or of its own end. */
function defaultStart({ cursor, endAt }: ActivityQuery, now: number): number | undefined {
  return cursor === undefined ? Math.min(now, endAt ?? now) - DEFAULT_SPAN_MS : undefined
}

/** Names of service events are listed; `event.triggered` is whatever the client named itself. */
function nameCondition(names: string[]): SQL {
  if (!names.includes('*')) return inArray(events.name, names)
  const others = activityTypes
    .flatMap((type) => eventNamesOf([type]))
    .filter((name) => name !== '*')
  const wanted = names.filter((name) => name !== '*')
  return sql`(${events.name} in ${wanted} or ${events.name} not in ${others})`
}

function afterCursor(cursor: string): SQL {
  const [, at, id] = /^(\d{1,15})_([0-9a-f-]{36})$/.exec(cursor) ?? []
  if (at === undefined || id === undefined) {
    throw invalidField('cursor', 'custom', 'The cursor is not one that this list gave out')
  }
  return sql`(${events.createdAt}, ${events.id}) < (${Number(at)}, ${id})`
}

async function showEmails(
  deps: ActivityDeps,
  page: readonly EventWithContact[],
): Promise<Map<string, ShownEmail>> {
  const ids = new Set(page.flatMap(({ emailId }) => (emailId === null ? [] : [emailId])))
  const loaded = await loadEmails(deps, [...ids])
  // Without the snapshot, which retention clears, it would be shown as nobody got it.
  const whole = loaded.filter((email) => email.variables !== null)
  const contents = await loadTexts(
    deps,
    whole.map((email) => email.contentId),
  )
  const sources: { email: LoadedEmail; source: MessageSource }[] = whole.flatMap((email) => {
    const content = contents.get(email.contentId)
    if (content === undefined) return []
    return [{ email, source: toSource(deps, { email, language: email.language, content }) }]
  })
  const rendered = await deps.outbound.preview(sources.map(({ source }) => source))
  const byId = new Map(sources.map(({ email }, index) => [email.id, rendered[index]]))
  const errors = await findErrors(deps, [...ids])
  return new Map(
    loaded.map((email) => [
      email.id,
      { email, rendered: byId.get(email.id), error: errors.get(email.id) ?? null },
    ]),
  )
}

async function findErrors({ store }: ActivityDeps, ids: string[]) {
  const rows = await store.read
    .select({ id: emails.id, error: emails.error })
    .from(emails)
    .where(inArray(emails.id, ids))
    .all()
  return new Map(rows.map(({ id, error }) => [id, error]))
}

function toActivity(event: EventWithContact, shown: Map<string, ShownEmail>): Activity {
  const type = activityTypeOf(event.name)
  const email = event.emailId === null ? undefined : shown.get(event.emailId)
  const isOfEmail = type.startsWith('email.')
  return {
    id: isOfEmail && event.emailId !== null ? `${event.emailId}_${type.slice(6)}` : event.id,
    type,
    timestamp: new Date(event.createdAt).toISOString(),
    ...(event.contactEmail === null ? {} : { contactEmail: event.contactEmail }),
    ...(event.contactId === null ? {} : { contactId: event.contactId }),
    metadata: isOfEmail && email !== undefined ? emailFacts(event, email) : eventFacts(event),
  }
}

function eventFacts({ name, data }: EventRow): Record<string, unknown> {
  return { eventName: name, eventData: data }
}

function emailFacts(event: EventRow, { email, rendered, error }: ShownEmail) {
  const isFailure = ['email.bounce', 'email.complaint'].includes(event.name)
  return {
    subject: rendered?.subject ?? email.subject,
    body: rendered?.html ?? rendered?.text ?? null,
    from: email.fromAddress,
    fromName: email.fromName,
    replyTo: email.replyTo,
    toName: email.toName,
    sourceType: email.sourceType,
    campaignName: null,
    workflowName: null,
    ...(isFailure ? { error, ...event.data } : {}),
  }
}
