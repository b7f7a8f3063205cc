/** A sender whose mail is delivered, and hits on it. */
import type { TestContext } from 'node:test'
import { MINUTE_MS } from '../../../../src/base/clock.ts'
import { type Hit, recordHits } from '../../../../src/features/mail/tracking/record-hits.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { events } from '../../../../src/store/schema/events.ts'
import { type Email, emails } from '../../../../src/store/schema/messages.ts'
import { START } from '../../../core.ts'
import { setEmails } from '../../../set-emails.ts'
import { openSender, type Sender } from '../messages/sender.ts'

export type TrackedSender = Sender & {
  /** An email with this body, delivered at START; its id. */
  deliver(change?: Partial<Email>, body?: string): Promise<string>
  record(...hits: Hit[]): Promise<void>
  /** The events of an email. */
  told(emailId: string): Promise<{ name: string; data: unknown; at: number }[]>
}

/** Long after the delivery. */
export const LATER = START + 10 * MINUTE_MS
export const link = 'https://shop.test/a'
export const iso = (at: number) => new Date(at).toISOString()

export const open = (emailId: string, at = LATER): Hit => ({
  ...{ emailId, at, type: 'open', isMachine: false },
})

export const click = (emailId: string, to: string, at = LATER): Hit => ({
  ...{ emailId, at, type: 'click', link: to, isMachine: false },
})

export async function openTrackedSender(t: TestContext): Promise<TrackedSender> {
  const sender = await openSender(t)
  const { store } = sender.core
  sender.clock.now = LATER
  const delivered: Partial<Email> = {
    ...{ state: 'delivered', status: 'DELIVERED' },
    ...{ dueAt: null, sentAt: START, deliveredAt: START },
  }
  return {
    ...sender,
    deliver: async (change = {}, body = '<p>Hello</p>') => {
      const accepted = await sender.send({ body })
      const id = accepted.emails[0]?.email ?? ''
      const row = { ...delivered, ...change }
      await store.write((tx) => setEmails(tx, row, eq(emails.id, id)))
      return id
    },
    record: (...hits) => store.write((tx) => recordHits(sender.core, tx, hits)),
    told: async (emailId) => {
      const rows = await store.read
        .select()
        .from(events)
        .where(eq(events.emailId, emailId))
        .orderBy(events.seq)
        .all()
      return rows.map(({ name, data, createdAt: at }) => ({ name, data, at }))
    },
  }
}
