/**
 * Accepts planned emails in the caller's transaction: contacts, content, one row per recipient.
 * These emails count for the limits of their project, except mail of the server and emails to
 * suppressed addresses.
 *
 * `planEmails` (`plan.ts`) has checked the request and stored large attachments before the
 * transaction began; a refusal here must roll the caller's transaction back. Nothing is rendered
 * yet: each row has the snapshot that it is rendered from.
 */
import { AppError } from '../../../../base/errors.ts'
import { attachedBytes } from '../../../../formats/compose/attachment.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { categoryOf } from '../../../ground/usage/categories.ts'
import {
  findKnownAddresses,
  type KnownAddresses,
} from '../../../people/contacts/read/known-addresses.ts'
import { upsertContacts } from '../../../people/contacts/write/upsert.ts'
import { isSuppressed } from '../outcome/suppression.ts'
import { writeContent } from './content.ts'
import { type AcceptDeps, type AcceptedEmail, insertDrafts } from './email-drafts.ts'
import { countAccepted } from './new-project-cap.ts'
import type { EmailPlan } from './plan.ts'
import {
  confirmHeldDomains,
  isForOne,
  needsSubscription,
  toDrafts,
  toEntry,
  toRule,
} from './to-drafts.ts'

/**
 * A plan with more recipients or characters than this does not share a transaction with others
 * (`store/write/writer.ts`).
 */
const LIGHT_RECIPIENTS = 50
const LIGHT_CHARACTERS = 512 * 1024

/**
 * `isHeavy`: the plan needs its own transaction; a recipient takes 50 us, a megabyte 5 ms.
 * `weight`: the number of emails with short texts that take as long as this plan.
 */
export function weighPlan(plan: EmailPlan): { isHeavy: boolean; weight: number } {
  const recipients = plan.request.to.length
  const characters = charactersOf(plan)
  return {
    isHeavy: recipients > LIGHT_RECIPIENTS || characters > LIGHT_CHARACTERS,
    weight: recipients + (characters * LIGHT_RECIPIENTS) / LIGHT_CHARACTERS,
  }
}

/** Characters that the plan writes. */
function charactersOf({ request, data, content }: EmailPlan): number {
  const { body, text, attachments } = content
  const copied = copiedLength(data.variables, request.headers) * request.to.length
  return copied + body.length + (text?.length ?? 0) + attachedBytes(attachments ?? [])
}

/** Characters of the data that each recipient's row copies. */
function copiedLength(variables: object, headers: object | undefined): number {
  const isEmpty = headers === undefined && Object.keys(variables).length === 0
  return isEmpty ? 0 : JSON.stringify([variables, headers]).length
}

/**
 * Writes the emails of a plan, one for each recipient and in their order. The queue is notified
 * when the transaction is durable.
 * @throws AppError RATE_LIMIT_EXCEEDED (`limits.new_project_daily`), BILLING_LIMIT_EXCEEDED, BAD_REQUEST
 *   (marketing to an unsubscribed contact), DATABASE_ERROR
 */
export async function acceptEmails(
  deps: AcceptDeps,
  tx: Tx,
  plan: EmailPlan,
): Promise<AcceptedEmail[]> {
  const { project, request } = plan
  const addresses = request.to.map(({ address }) => address.address)
  const known = await findKnownAddresses(tx, project.id, addresses)
  if (needsSubscription(plan)) refuseUnsubscribed(request, known)
  const suppressed = await withoutIgnored(tx, plan, known.suppressed)
  const count = addresses.filter((address) => !suppressed.has(address)).length
  await countPlanned(deps, tx, { plan, count })
  const contentId = await writeContent(tx, plan.content)
  const contacts = await upsertRecipients(tx, plan, known)
  const held = await confirmHeldDomains(tx, [plan])
  const contactsOf = contacts.map(({ contact }) => contact)
  const drafts = toDrafts(deps, plan, { contentId, contacts: contactsOf, suppressed, held })
  await insertDrafts(deps, tx, drafts)
  return drafts
}

/**
 * Refuses mail to unsubscribed contacts. The caller calls this before any write, because a closure
 * that fails after a write makes its group run again.
 */
function refuseUnsubscribed(
  request: EmailPlan['request'],
  { contacts, left }: Pick<KnownAddresses, 'contacts' | 'left'>,
): void {
  const clearsWishes = isForOne(request)
  for (const { address } of request.to) {
    const isKept = left.has(address.address) && !clearsWishes
    const isSubscribed = request.subscribed ?? contacts.get(address.address)?.subscribed
    if (isKept || !isSubscribed) throw notSubscribed(address.address)
  }
}

async function countPlanned(
  deps: AcceptDeps,
  tx: Tx,
  { plan: { project, origin, at }, count }: { plan: EmailPlan; count: number },
): Promise<void> {
  if (origin.platform !== undefined) return
  await countAccepted(deps, tx, { project, category: categoryOf(origin.source), count, at })
}

/** Leaves out the addresses whose suppression the emails ignore. */
async function withoutIgnored(
  tx: Tx,
  { project, origin }: EmailPlan,
  listed: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  if (origin.platform?.ignoresComplaint !== true) return listed
  const counting = new Set<string>()
  for (const address of listed) {
    const suppression = { projectId: project.id, address, ignoresComplaint: true }
    if (await isSuppressed(tx, suppression)) counting.add(address)
  }
  return counting
}

async function upsertRecipients(tx: Tx, plan: EmailPlan, known: KnownAddresses) {
  const entries = plan.request.to.map((recipient) => toEntry(plan, recipient))
  const contacts = await upsertContacts(tx, { ...toRule(plan), reason: 'api', known }, entries)
  // A suppressed address stays unsubscribed, also if the request subscribes it.
  if (needsSubscription(plan)) {
    for (const { contact } of contacts)
      if (!contact.subscribed) throw notSubscribed(contact.address)
  }
  return contacts
}

function notSubscribed(address: string): AppError {
  return new AppError(
    'BAD_REQUEST',
    `${address} is not subscribed, and this template is marketing: nothing was sent.`,
    { suggestion: 'Send a TRANSACTIONAL template, or only to subscribed contacts.' },
  )
}
