/** Makes a deferred email to Outlook, which slows the server, for the example of receivers. */
import { MINUTE_MS } from '../../src/base/clock.ts'
import { eq } from '../../src/store/drizzle.ts'
import { newId } from '../../src/store/ids.ts'
import { attempts, emails } from '../../src/store/schema/messages.ts'
import type { TestCore } from '../core.ts'

export async function slowOutlook({
  core,
  projectId,
}: {
  core: TestCore
  projectId: string
}): Promise<void> {
  const { store, outbound, lanes, now } = core
  const at = now()
  const to = { recipient: 'ann@outlook.com', recipientDomain: 'outlook.com' }
  const known = await store.read.select().from(emails).where(eq(emails.projectId, projectId)).get()
  if (known === undefined) throw new TypeError('the project has no email')
  const id = newId()
  const waiting = { state: 'deferred', status: 'PENDING', shelf: null, campaignId: null } as const
  const email = { ...known, ...to, ...waiting, id, dueAt: at + MINUTE_MS, leaseUntil: null }
  const attempt = { emailId: id, at, durationMs: 1, result: 'deferred', steps: [] }
  const reply = {
    ...{ replyCode: 451, enhancedCode: '4.7.650' },
    replyText: '4.7.650 The mail server has been temporarily rate limited due to IP reputation',
  }
  await store.write(async (tx) => {
    await tx.delete(emails).where(eq(emails.recipient, to.recipient))
    await tx.insert(emails).values(email)
    await tx.insert(attempts).values({ ...attempt, ...reply })
  })
  lanes.addDueAt({ queueClass: known.queueClass, domain: to.recipientDomain, projectId }, at)
  const { siteStatus } = outbound
  const rate = { limited: 'rate', messagesPerMinute: 6, rateUntil: at + 30 * MINUTE_MS } as const
  outbound.siteStatus = (site) => ({ ...siteStatus(site), ...rate, restrictedSince: at })
}
