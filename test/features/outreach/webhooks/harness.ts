/** A project with the parts that make and send webhooks, and endpoints on loopback. */

import type { TestContext } from 'node:test'
import { appendEvents, type NewEvent } from '../../../../src/features/ground/events/append.ts'
import { startUrgentReader } from '../../../../src/features/ground/events/readers.ts'
import { createEndpoint } from '../../../../src/features/outreach/webhooks/endpoints/edit-endpoint.ts'
import { webhookHandler } from '../../../../src/features/outreach/webhooks/follow-events.ts'
import { startWebhookSender } from '../../../../src/features/outreach/webhooks/sending/sender.ts'
import { asc, eq } from '../../../../src/store/drizzle.ts'
import { type WebhookDelivery, webhookDeliveries } from '../../../../src/store/schema/webhooks.ts'
import type { Follower } from '../../../../src/work/follower.ts'
import { addProject, openTestCore, type TestCore, type TestCoreOptions } from '../../../core.ts'
import { watchWrites } from '../../ground/watch-writes.ts'

export type WebhookStage = {
  core: TestCore
  projectId: string
  follower: Follower
  sender: ReturnType<typeof startWebhookSender>
  addEndpoint(url: string, events?: string[]): ReturnType<typeof createEndpoint>
  /** Appends events of the project and makes their deliveries. */
  append(...events: Partial<NewEvent>[]): Promise<void>
  deliveries(endpointId: string): Promise<WebhookDelivery[]>
  /** Resolves when all deliveries of the endpoint fulfil the test. */
  settled(endpointId: string, test: (row: WebhookDelivery) => boolean): Promise<WebhookDelivery[]>
}

export async function openStage(
  t: Pick<TestContext, 'after'>,
  options: TestCoreOptions = {},
): Promise<WebhookStage> {
  // What a sender cannot record because the core is closed, it tries again after a second.
  const ends: (() => unknown)[] = []
  const core = await openTestCore({ after: (end) => void ends.push(end as () => unknown) }, options)
  const nextWrite = watchWrites(core)
  const { id: projectId } = await addProject(core)
  const follower = startUrgentReader(core, [webhookHandler(core)])
  const sender = startWebhookSender(core)
  t.after(async () => {
    await follower.stop()
    await sender.stop(0)
    for (const end of ends) await end()
  })
  await follower.caughtUp()
  const deliveries = (endpointId: string) =>
    core.store.read
      .select()
      .from(webhookDeliveries)
      .where(eq(webhookDeliveries.endpointId, endpointId))
      .orderBy(asc(webhookDeliveries.number))
      .all()
  return {
    ...{ core, projectId, follower, sender, deliveries },
    addEndpoint: (url, events = ['*']) => createEndpoint(core, { projectId, url, events }),
    async append(...events) {
      const made = events.map((event) => ({
        ...{ projectId, name: 'order placed', contactId: null, emailId: null, data: {} },
        ...{ at: core.now(), ...event },
      }))
      await core.store.write((tx) => appendEvents(tx, made))
      await follower.caughtUp()
    },
    async settled(endpointId, test) {
      for (;;) {
        const next = nextWrite()
        const rows = await deliveries(endpointId)
        if (rows.length > 0 && rows.every(test)) return rows
        await next
      }
    },
  }
}
