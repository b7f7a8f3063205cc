/** A campaign in the database as its sending leaves it, with mail that is to go out. */

import { eq } from '../../../../src/store/drizzle.ts'
import { newId } from '../../../../src/store/ids.ts'
import {
  type Campaign,
  campaignProgress,
  campaigns,
} from '../../../../src/store/schema/campaigns.ts'
import { emails } from '../../../../src/store/schema/messages.ts'
import type { TestCore } from '../../../core.ts'
import { setEmails } from '../../../set-emails.ts'

export type NewCampaign = Partial<Campaign> & { projectId: string }

export async function addCampaign(
  { store, now }: Pick<TestCore, 'store' | 'now'>,
  changes: NewCampaign,
): Promise<string> {
  const id = newId()
  const at = now()
  await store.write(async (tx) => {
    await tx.insert(campaigns).values({
      id,
      name: 'Spring',
      subject: 'Hello',
      body: '<p>Hello</p>',
      fromAddress: 'shop@example.test',
      fromDomain: 'example.test',
      status: 'SENDING',
      createdAt: at,
      updatedAt: at,
      ...changes,
    })
    const { projectId } = changes
    await tx
      .insert(campaignProgress)
      .values({ campaignId: id, projectId, begunAt: at, lastNumber: 0 })
  })
  return id
}

/** Makes an email, as a send accepted it, one of the campaign. */
export async function giveToCampaign(
  { store }: Pick<TestCore, 'store'>,
  emailId: string,
  changes: Partial<typeof emails.$inferInsert>,
): Promise<void> {
  await store.write(async (tx) => {
    const campaign = { sourceType: 'CAMPAIGN', queueClass: 10 } as const
    await setEmails(tx, { ...campaign, ...changes }, eq(emails.id, emailId))
  })
}
