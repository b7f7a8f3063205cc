/**
 * Shows one email of a project: its record with subject and body as the recipient gets them, each
 * attempt with its steps and replies, its events, and in words where it stands.
 */
import { formatInstant, formatOptionalInstant } from '../../../base/clock.ts'
import { parseJsonText } from '../../../base/json-text.ts'
import { indexedBy, listOf, octets } from '../../../store/dialect.ts'
import { and, eq, sql } from '../../../store/drizzle.ts'
import type { AttachmentFacts } from '../../../store/schema/json-values.ts'
import { contents, emails } from '../../../store/schema/messages.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'
import { wholeListing } from '../../ground/listing.ts'
import { emailNotFound, loadEmailHistory } from '../../mail/messages/explain/email-history.ts'
import { findWorkflowOrigins } from '../../mail/messages/explain/workflow-origin.ts'
import { toSummary } from '../../mail/messages/summary.ts'
import { type FeedDeps, loadShownEmails } from '../activity/show-emails.ts'
import { toAttemptView } from './attempt-view.ts'

/** An email of a project. Another project's email counts as unknown. */
export type EmailKey = { projectId: string; id: string }

type EventLine = { seq: number; bytes: number }
type EmailEvent = { seq: number; id: string; name: string; data: string | null; createdAt: number }
type EmailEventView = { id: string; name: string; data: unknown; createdAt: string }

/** An address that follows every link has so many events; the first ones say enough. */
const MAX_EVENTS = 500

/** Sizes come from the heads of rows; the data itself is not read. */
const listEvents = statement<EventLine>(
  () => sql`select seq, coalesce(${octets(sql`data`)}, 0) as bytes from events
      ${indexedBy('events_contact')}
    where contact_id = ${parameter('contactId')} and email_id = ${parameter('emailId')}
    order by seq limit ${MAX_EVENTS}`,
)

const listBySeq = statement<EmailEvent>(
  () => sql`select seq, id, name, data, created_at as "createdAt" from events
    where seq in ${listOf(parameter('seqs'))}`,
)

/** @throws AppError RESOURCE_NOT_FOUND */
export async function requireEmail(
  { store }: Pick<Base, 'store'>,
  { projectId, id }: EmailKey,
): Promise<void> {
  const own = and(eq(emails.id, id), eq(emails.projectId, projectId))
  const row = await store.read.select({ id: emails.id }).from(emails).where(own).get()
  if (row === undefined) throw emailNotFound(id)
}

/** `events`: the last field of the record. @throws AppError RESOURCE_NOT_FOUND */
export async function showEmail(deps: FeedDeps, { projectId, id }: EmailKey) {
  const { email, attempts } = await loadEmailHistory(deps, id)
  if (email.projectId !== projectId) throw emailNotFound(id)
  const shown = (await loadShownEmails(deps, [id], { isSummary: false })).shown.get(id)
  if (shown === undefined) throw emailNotFound(id)
  const { contactId } = email
  const origins = await findWorkflowOrigins(deps.store.read, [email])
  const lines = await deps.store.scan.list(listEvents, { contactId, emailId: id })
  const record = {
    ...toSummary(email, origins.get(id)),
    subject: shown.subject,
    body: shown.body ?? null,
    text: shown.text ?? null,
    headers: email.headers,
    ...(await describeContent(deps, email.contentId)),
    reason: shown.reason,
    nextAttemptAt: formatOptionalInstant(shown.nextAttemptAt),
    giveUpAt: formatInstant(email.giveUpAt),
    heldAt: formatOptionalInstant(email.heldAt),
    providerId: email.providerId,
    answeredEmailId: email.answeredEmailId,
    templateFaults: email.templateFaults ?? [],
    attempts: attempts.map(toAttemptView),
  }
  const bytesOf = ({ bytes }: EventLine) => bytes
  const events = wholeListing({ lines, bytesOf, read: (slice) => readEvents(deps, slice) })
  return { record, events }
}

async function readEvents({ store }: Pick<Base, 'store'>, lines: readonly EventLine[]) {
  const seqs = JSON.stringify(lines.map(({ seq }) => seq))
  const rows = await store.scan.list(listBySeq, { seqs })
  const bySeq = new Map(rows.map((row) => [row.seq, row]))
  return lines.map(({ seq }) => {
    const row = bySeq.get(seq)
    return row && toEvent(row)
  })
}

function toEvent({ id, name, data, createdAt }: EmailEvent): EmailEventView {
  return { id, name, data: parseJsonText(data ?? 'null'), createdAt: formatInstant(createdAt) }
}

/**
 * `attachments`: names and types; null without attachments, and once retention has cleared them. Of a
 * sealed message, the files in its body.
 */
async function describeContent({ store }: Pick<Base, 'store'>, contentId: string) {
  const row = await store.read
    .select({ attachments: contents.attachments, warnings: contents.warnings })
    .from(contents)
    .where(eq(contents.id, contentId))
    .get()
  const files = row?.attachments?.flatMap(
    (file): readonly AttachmentFacts[] => file.sealed?.files ?? [file],
  )
  return { attachments: files?.map(toAttachment) ?? null, warnings: row?.warnings ?? [] }
}

function toAttachment({ filename, contentType, contentId, disposition }: AttachmentFacts) {
  return { filename, contentType, contentId, disposition }
}
