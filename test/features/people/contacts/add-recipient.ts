/** A contact with an email, and the token of its page links. */

import type { Core } from '../../../../src/core/core.ts'
import { upsertContacts } from '../../../../src/features/people/contacts/write/upsert.ts'
import { createPageToken, type PageToken } from '../../../../src/formats/signed-tokens.ts'
import { asc, like } from '../../../../src/store/drizzle.ts'
import { newId } from '../../../../src/store/ids.ts'
import { events } from '../../../../src/store/schema/events.ts'
import { emails } from '../../../../src/store/schema/messages.ts'
import { address } from '../../../core.ts'

export type Recipient = { contactId: string; emailId: string; token: string }

type Deps = Pick<Core, 'store' | 'keyring' | 'now'>

type RecipientOptions = {
  projectId: string
  email?: string
  subscribed?: boolean
  data?: Record<string, unknown>
  campaignId?: string
}

let count = 0

export async function addRecipient(core: Deps, options: RecipientOptions): Promise<Recipient> {
  const { projectId, subscribed = true, data = {}, campaignId } = options
  count += 1
  const email = options.email ?? `ada${count}@people.test`
  const contactId = await core.store.write(async (tx) => {
    const change = {
      projectId,
      subscribed,
      subscribedByDefault: false,
      at: core.now(),
      reason: 'api' as const,
    }
    const entry = { address: address(email), changes: data }
    const [upserted] = await upsertContacts(tx, change, [entry])
    return upserted?.contact.id as string
  })
  const emailId = await addEmail(core, { projectId, contactId, campaignId: campaignId ?? null })
  return { contactId, emailId, token: pageToken(core, { contactId, emailId }) }
}

export function pageToken({ keyring }: Pick<Core, 'keyring'>, page: PageToken): string {
  return createPageToken(keyring.keys('page')[0], page)
}

/** An email that was delivered to that contact. */
export async function addEmail(
  { store, now }: Pick<Core, 'store' | 'now'>,
  of: { projectId: string; contactId: string; campaignId: string | null },
): Promise<string> {
  const id = newId()
  const at = now()
  await store.write(async (tx) => {
    await tx.insert(emails).values({
      ...of,
      id,
      contentId: newId(),
      sourceType: 'CAMPAIGN',
      recipient: 'somebody@people.test',
      recipientDomain: 'people.test',
      fromAddress: 'news@shop.test',
      subject: 'News',
      contentClass: 'MARKETING',
      isTracked: false,
      messageId: `${id}@shop.test`,
      state: 'delivered',
      status: 'DELIVERED',
      queueClass: 10,
      giveUpAt: at,
      createdAt: at,
      updatedAt: at,
    })
  })
  return id
}

/** The subscription events, oldest first. */
export function subscriptionEvents({ store }: Pick<Core, 'store'>) {
  return store.read
    .select({
      name: events.name,
      contactId: events.contactId,
      emailId: events.emailId,
      data: events.data,
    })
    .from(events)
    .where(like(events.name, 'contact.%'))
    .orderBy(asc(events.seq))
    .all()
}
