/** Records a client's event about a contact and an email, given by their ids. It changes neither. */
import { formatInstant } from '../../../../base/clock.ts'
import { notFound } from '../../../../base/errors.ts'
import type { EventRecord } from '../../../../records/event.ts'
import { and, eq } from '../../../../store/drizzle.ts'
import { emails } from '../../../../store/schema/messages.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { appendEvent } from '../../../ground/events/append.ts'
import { getContactIn } from '../read/get.ts'
import { checkData } from '../write/data.ts'
import { refuseReservedName } from './record-by-address.ts'

type EventDraft = {
  projectId: string
  name: string
  contactId?: string | undefined
  emailId?: string | undefined
  data?: unknown
}

const findEmail = statement((db) =>
  db
    .select({ id: emails.id })
    .from(emails)
    .where(and(eq(emails.id, parameter('id')), eq(emails.projectId, parameter('projectId')))),
)

/**
 * Returns the recorded event.
 * @throws AppError VALIDATION_ERROR (a reserved name, data that breaks a limit), CONTACT_NOT_FOUND and
 *   RESOURCE_NOT_FOUND for a contact and an email that the project does not have
 */
export async function recordEventByIds(
  { store, now }: Pick<Base, 'store' | 'now'>,
  draft: EventDraft,
): Promise<EventRecord> {
  refuseReservedName('name', draft.name)
  checkData(draft.data)
  const { projectId, name, contactId = null, emailId = null } = draft
  const event = { projectId, name, contactId, emailId, data: draft.data ?? null }
  const at = now()
  const id = await store.write(async (tx) => {
    await requireOwn(tx, draft)
    return appendEvent(tx, { ...event, at })
  })
  return { ...event, id, createdAt: formatInstant(at) }
}

async function requireOwn(tx: Tx, { projectId, contactId, emailId }: EventDraft): Promise<void> {
  if (contactId !== undefined) await getContactIn(tx, { projectId, id: contactId })
  if (emailId === undefined) return
  if ((await tx.find(findEmail, { projectId, id: emailId })) !== undefined) return
  throw notFound('email', emailId, 'No email of this project has that id.')
}
