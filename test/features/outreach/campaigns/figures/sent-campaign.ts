/** A campaign with mail on its way, and what may happen to its emails. */

import type { TestContext } from 'node:test'
import { SECOND_MS } from '../../../../../src/base/clock.ts'
import type { Config } from '../../../../../src/config/config.ts'
import { startLazyReader } from '../../../../../src/features/ground/events/readers.ts'
import { endEmails } from '../../../../../src/features/mail/messages/outcome/end-emails.ts'
import { recordAttempts } from '../../../../../src/features/mail/messages/outcome/record-attempts.ts'
import { recordReports } from '../../../../../src/features/mail/messages/outcome/record-reports.ts'
import type { EmailReport } from '../../../../../src/features/mail/messages/outcome/reported-email.ts'
import { type Hit, recordHits } from '../../../../../src/features/mail/tracking/record-hits.ts'
import { startRefusals } from '../../../../../src/features/outreach/campaigns/brake/follow-refusals.ts'
import { figuresHandler } from '../../../../../src/features/outreach/campaigns/figures/figures.ts'
import { setSubscribed } from '../../../../../src/features/people/contacts/write/set-subscribed.ts'
import type { AttemptOutcome } from '../../../../../src/outbound/attempt.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import {
  campaignProgress,
  campaigns as campaignTable,
} from '../../../../../src/store/schema/campaigns.ts'
import { contacts } from '../../../../../src/store/schema/contacts.ts'
import { type Email, emails } from '../../../../../src/store/schema/messages.ts'
import { address } from '../../../../core.ts'
import { setEmails } from '../../../../set-emails.ts'
import { attempted, type OutcomeKind, openSender } from '../../../mail/messages/sender.ts'
import { addCampaign, giveToCampaign } from '../add-campaign.ts'

export type SentCampaign = Awaited<ReturnType<typeof openCampaign>>

export async function openCampaign(t: TestContext, limits: Partial<Config['campaigns']> = {}) {
  const sender = await openSender(t)
  const { config } = sender.core
  const campaigns = { ...config.campaigns, ...limits }
  const core = { ...sender.core, config: { ...config, campaigns } }
  const { store } = core
  const projectId = sender.project.id
  const id = await addCampaign(core, { projectId })
  let people = 0

  async function settle(emailId: string, kind: OutcomeKind, change: Partial<AttemptOutcome> = {}) {
    await store.write((tx) =>
      setEmails(tx, { state: 'sending', dueAt: null }, eq(emails.id, emailId)),
    )
    const email = { ...(await sender.email(emailId)), isSealed: false }
    const result = attempted({ emailId, domain: email.recipientDomain } as never, kind, change)
    const { faults, ...record } = { ...result, email, faults: [] }
    const deps = { ...core, steadyNow: core.now }
    await store.write((tx) => recordAttempts(deps, tx, [{ ...record, faults }]))
  }

  return {
    ...sender,
    core,
    key: { projectId, id },
    /** Emails of the campaign that are queued; their ids. */
    async add(count: number, campaignId = id): Promise<string[]> {
      const to = Array.from({ length: count }, () => {
        people += 1
        return { address: address(`p${people}@mail${people % 5}.test`), name: null }
      })
      const accepted = await sender.send({ to })
      const ids = accepted.emails.map(({ email }) => email)
      for (const emailId of ids) {
        await giveToCampaign(core, emailId, { campaignId, isTracked: true })
      }
      await store.write((tx) => tx.update(contacts).set({ subscribed: true }))
      return ids
    },
    settle,
    report: (report: EmailReport) => store.write((tx) => recordReports(core, tx, [report])),
    hit: (hit: Hit) => store.write((tx) => recordHits(core, tx, [hit])),
    async unsubscribe(emailId: string): Promise<boolean> {
      const { contactId } = await sender.email(emailId)
      const change = { subscribed: false, at: core.now(), reason: 'page', emailId } as const
      return store.write((tx) => setSubscribed(tx, contactId, { ...change, campaignId: id }))
    },
    async fail(emailId: string, error: string): Promise<void> {
      const email = await sender.email(emailId)
      const end = { state: 'failed', error, reason: 'refused' } as const
      await store.write((tx) =>
        endEmails(core, tx, { endings: [{ email, end: end as never }], at: core.now() }),
      )
    },
    async deleteContact(emailId: string): Promise<void> {
      const { contactId } = await sender.email(emailId)
      await store.write((tx) => tx.delete(contacts).where(eq(contacts.id, contactId)))
    },
    /** Runs the followers until they have counted everything. */
    async count(): Promise<void> {
      for (const follower of [startLazyReader(core, [figuresHandler(core)]), startRefusals(core)]) {
        await follower.caughtUp()
        await follower.stop()
      }
    },
    async progress(campaignId = id) {
      const found = store.read.select().from(campaignProgress)
      const row = await found.where(eq(campaignProgress.campaignId, campaignId)).get()
      if (row === undefined) throw new TypeError('there is no such campaign')
      return row
    },
    async campaign() {
      const row = await store.read
        .select()
        .from(campaignTable)
        .where(eq(campaignTable.id, id))
        .get()
      if (row === undefined) throw new TypeError('there is no such campaign')
      return row
    },
    emails: (): Promise<Email[]> => store.read.select().from(emails).all(),
    later: (seconds: number) => {
      sender.clock.now += seconds * SECOND_MS
    },
  }
}
