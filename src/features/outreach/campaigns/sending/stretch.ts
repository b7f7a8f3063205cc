/**
 * Writes a stretch of a campaign's emails: the rows and the position behind them in one transaction, so
 * that a crash repeats nothing and leaves nothing out.
 */

import { parseJsonText } from '../../../../base/json-text.ts'
import { CAMPAIGN_CLASS } from '../../../../base/queue-class.ts'
import { parseAddress } from '../../../../formats/address/address.ts'
import { eq, sql } from '../../../../store/drizzle.ts'
import { newId } from '../../../../store/ids.ts'
import { campaignProgress } from '../../../../store/schema/campaigns.ts'
import type { ContactData } from '../../../../store/schema/json-values.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { categoryOf } from '../../../ground/usage/categories.ts'
import { allowanceOf, countOnto, findUse } from '../../../ground/usage/count.ts'
import { writeContent } from '../../../mail/messages/accept/content.ts'
import { countAllowed, findAllowance } from '../../../mail/messages/accept/new-project-cap.ts'
import { recordEnded } from '../../../mail/messages/outcome/end-emails.ts'
import { giveUpAfterMs } from '../../../mail/messages/queue/give-up.ts'
import type { QueueNotifier } from '../../../mail/messages/queue/notifier.ts'
import { type ActiveCampaign, findSendingCampaign } from './active.ts'
import {
  type CurrentContact,
  type DraftRow,
  findListed,
  insertRecipientEmails,
  type SharedColumns,
} from './insert-rows.ts'
import { slotsOf } from './pace.ts'
import type { SendingPlan } from './plan.ts'

export type StretchDeps = Pick<
  Base,
  'store' | 'config' | 'reportUsage' | 'counters' | 'log' | 'now'
> & {
  queueNotifier: QueueNotifier
  outbound: Pick<Base['outbound'], 'siteOf' | 'pauseOf'>
}

/** `data`: null for a contact who gets no mail, because the data is not read then. */
export type StretchContact = {
  number: number
  id: string
  address: string
  subscribed: boolean
  data: ContactData | null
}

/**
 * `upTo`: after the stretch, all contacts up to this number are done. `isLast`: no contact is left
 * after it.
 */
type CampaignStretch = { contacts: readonly StretchContact[]; upTo: number; isLast: boolean }

/** `inserted`: the number of rows; `tookMs`: the time of the transaction. */
type WrittenStretch = { inserted: number; tookMs: number }

/**
 * Writes a stretch. Returns undefined if the campaign no longer sends, its pace has changed since
 * the plan was made, its position is no longer `after`, or the stretch has more emails than the
 * limits of the project leave (the limit of new projects and the monthly ones).
 */
export function writeStretch(
  deps: StretchDeps,
  plan: SendingPlan,
  { after, ...stretch }: CampaignStretch & { after: number },
): Promise<WrittenStretch | undefined> {
  const { id, projectId } = plan.campaign
  const write = async (tx: Tx) => {
    const begunAt = performance.now()
    const active = await findSendingCampaign(tx, id)
    if (active?.cursor !== after || active.expandedAt !== null) return undefined
    if (active.maxPerHour !== plan.campaign.maxPerHour) return undefined
    const { project } = plan
    const at = deps.now()
    const category = categoryOf(plan.sourceType)
    const count = stretch.contacts.filter((contact) => mayGetCampaign(plan, contact)).length
    if (count > (await findAllowance(deps, tx, { project, at }))) return undefined
    const use = await findUse(deps, tx, { projectId, at })
    if (use === undefined || count > allowanceOf(deps, use, category)) return undefined
    const { inserted, suppressed } = await writeRows(deps, tx, { plan, active, stretch, at })
    const counted = inserted - suppressed
    await countAllowed(deps, tx, { project, count: counted, at })
    await countOnto(deps, tx, { use, category, count: counted, at })
    return { inserted, tookMs: performance.now() - begunAt }
  }
  return deps.store.write(write, { heavyFor: projectId })
}

/**
 * Whether the contact gets the campaign. A contact who does not may still get a row that says why.
 */
export function mayGetCampaign(
  { isForAll }: Pick<SendingPlan, 'isForAll'>,
  { subscribed }: Pick<StretchContact, 'subscribed'>,
): boolean {
  return subscribed || isForAll
}

/** Writes the rows. Returns how many there are, and how many of them are SUPPRESSED. */
async function writeRows(
  deps: StretchDeps,
  tx: Tx,
  {
    plan,
    active,
    stretch,
    at,
  }: { plan: SendingPlan; active: ActiveCampaign; stretch: CampaignStretch; at: number },
): Promise<{ inserted: number; suppressed: number }> {
  const isWanted = (contact: StretchContact) => mayGetCampaign(plan, contact)
  const wanted = stretch.contacts.filter(isWanted)
  const { dueAt, pacedAt } = slotsOf(active, { count: wanted.length, now: at })
  const drafts = wanted.flatMap((contact, index) => draftRow(plan, contact, dueAt(index)))
  const shared = await sharedColumns(deps, tx, { plan, at })
  const done = await insertRecipientEmails(tx, shared, drafts)
  let { inserted } = done
  const { suppressed } = done
  const unsubscribed = stretch.contacts.filter((contact) => !isWanted(contact))
  if (done.current !== undefined) {
    const current = done.current.map(toStretchContact)
    const again = await insertMoved(tx, { plan, shared, drafts, current })
    inserted += again.inserted
    suppressed.push(...again.suppressed)
    unsubscribed.push(...current.filter((contact) => !isWanted(contact)))
  }
  const listed = await insertListed(tx, { plan, shared, contacts: unsubscribed })
  suppressed.push(...listed.suppressed)
  inserted += listed.inserted
  const end = { state: 'suppressed' } as const
  const endings = suppressed.map((email) => ({ email, end, at }))
  await recordEnded(deps, tx, endings)
  await tx
    .update(campaignProgress)
    .set({
      cursor: stretch.upTo,
      pacedAt,
      rowsMade: sql`${campaignProgress.rowsMade} + ${inserted}`,
      skippedUnsubscribed: sql`${campaignProgress.skippedUnsubscribed}
        + ${unsubscribed.length - listed.inserted}`,
      ...(stretch.isLast && { expandedAt: at }),
    })
    .where(eq(campaignProgress.campaignId, active.id))
  tx.afterCommit(() => notifyQueue(deps, plan, drafts))
  return { inserted, suppressed: suppressed.length }
}

/** Inserts the emails of contacts whose address changed after they were read. */
async function insertMoved(
  tx: Tx,
  {
    plan,
    shared,
    drafts,
    current,
  }: {
    plan: SendingPlan
    shared: SharedColumns
    drafts: readonly DraftRow[]
    current: readonly StretchContact[]
  },
) {
  const earlier = new Map(drafts.map((draft) => [draft.number, draft]))
  const moved = current.flatMap((contact) => {
    const draft = earlier.get(contact.number)
    if (draft === undefined || draft.recipient === contact.address) return []
    return draftRow(plan, contact, draft.dueAt)
  })
  return insertRecipientEmails(tx, shared, moved)
}

export function toStretchContact(contact: CurrentContact): StretchContact {
  const { number, id, address, subscribed, data } = contact
  const parsed = data === null ? null : (parseJsonText(data) as ContactData)
  return { number, id, address, subscribed: subscribed === 1, data: parsed }
}

/**
 * Inserts a SUPPRESSED row for each contact whose address is suppressed. The suppression has
 * unsubscribed the contact, too; the row shows why the contact got nothing.
 */
async function insertListed(
  tx: Tx,
  {
    plan,
    shared,
    contacts,
  }: { plan: SendingPlan; shared: SharedColumns; contacts: readonly StretchContact[] },
) {
  if (contacts.length === 0) return insertRecipientEmails(tx, shared, [])
  const listed = await findListed(tx, shared.projectId, contacts)
  const drafts = listed.flatMap((contact) => draftRow(plan, toStretchContact(contact), shared.at))
  return insertRecipientEmails(tx, { ...shared, isForAll: true }, drafts)
}

function draftRow(
  { isKept }: SendingPlan,
  { number, id: contactId, address: recipient, data }: StretchContact,
  dueAt: number,
): DraftRow[] {
  const recipientDomain = parseAddress(recipient)?.domain
  if (recipientDomain === undefined) return []
  const stored: ContactData = {}
  if (data !== null) {
    for (const key of Object.keys(data)) if (isKept(key)) setOwn(stored, key, data[key])
  }
  const variables = JSON.stringify({ stored, request: {} })
  return [{ id: newId(), number, contactId, recipient, recipientDomain, variables, dueAt }]
}

/** Sets an own property, also for the key `__proto__`. */
function setOwn(record: ContactData, key: string, value: unknown): void {
  if (key !== '__proto__') record[key] = value
  else Object.defineProperty(record, key, { value, enumerable: true })
}

async function sharedColumns(
  { config }: StretchDeps,
  tx: Tx,
  { plan, at }: { plan: SendingPlan; at: number },
): Promise<SharedColumns> {
  const { campaign, project, senderDomain, isTracked, isForAll, sourceType } = plan
  const { projectId, subject, body } = campaign
  const contentId = await writeContent(tx, {
    id: newId(),
    ...{ projectId, subject, body, at },
    shareKey: `campaign ${campaign.id}`,
    ...{ isText: false, text: null, isLiteral: false, warnings: null },
    ...{ recipientFields: null },
    ...{ attachments: null, chunkBytes: 0 },
  })
  return {
    ...{ projectId, contentId, subject, senderDomain, isTracked, isForAll, sourceType, at },
    campaignId: campaign.id,
    templateId: campaign.templateId,
    fromAddress: campaign.fromAddress,
    fromName: campaign.fromName ?? project.name,
    replyTo: campaign.replyTo,
    contentClass: campaign.type,
    queueClass: CAMPAIGN_CLASS,
    giveUpMs: giveUpAfterMs(config, CAMPAIGN_CLASS),
  }
}

/**
 * Notifies the queue once for each domain, with the due time of its earliest row. A paused site is
 * visited when it may be tried again: earlier, the queue would only write the reason of the pause
 * to each row.
 */
function notifyQueue(
  { queueNotifier, outbound }: StretchDeps,
  { campaign: { projectId } }: SendingPlan,
  drafts: readonly DraftRow[],
): void {
  const earliest = new Map<string, number>()
  for (const { recipientDomain, dueAt } of drafts) {
    if (!earliest.has(recipientDomain)) earliest.set(recipientDomain, dueAt)
  }
  for (const [domain, rowDueAt] of earliest) {
    const triedAt = outbound.pauseOf(outbound.siteOf(domain))?.until ?? 0
    const dueAt = Math.max(rowDueAt, triedAt)
    queueNotifier.notify({ queueClass: CAMPAIGN_CLASS, domain, projectId, dueAt })
  }
}
