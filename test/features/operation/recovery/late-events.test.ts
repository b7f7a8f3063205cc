/** Events that followers had not read when the copy was made: what they make is held, too. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { appendEvent } from '../../../../src/features/ground/events/append.ts'
import { startUrgentReader } from '../../../../src/features/ground/events/readers.ts'
import { fenceDatabase } from '../../../../src/features/operation/recovery/fence-database.ts'
import { releaseFences } from '../../../../src/features/operation/recovery/release.ts'
import { createEndpoint } from '../../../../src/features/outreach/webhooks/endpoints/edit-endpoint.ts'
import { webhookHandler } from '../../../../src/features/outreach/webhooks/follow-events.ts'
import { takeDeliveries } from '../../../../src/features/outreach/webhooks/sending/endpoint-tasks.ts'
import { triggerHandler } from '../../../../src/features/outreach/workflows/engine/follow-events.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { contacts } from '../../../../src/store/schema/contacts.ts'
import { fences } from '../../../../src/store/schema/fences.ts'
import { workflowExecutions } from '../../../../src/store/schema/workflows.ts'
import { address, START } from '../../../core.ts'
import { openSender, type Sender } from '../../mail/messages/sender.ts'
import { addWorkflow } from '../../outreach/workflows/add-workflow.ts'
import { openBilled } from '../../tenancy/billing/billed.ts'

const fence = (core: Sender['core']) => fenceDatabase(core, { cause: 'start', isAlone: true })

const append = ({ core, project }: Sender, contactId: string) =>
  core.store.write((tx) =>
    appendEvent(tx, {
      ...{ projectId: project.id, name: 'order', contactId, emailId: null, data: {} },
      at: core.now(),
    }),
  )

test('F7: executions that old events start are held, and those of new events are not', async (t) => {
  const sender = await openSender(t)
  const { core, project } = sender
  const event = { triggerType: 'EVENT' as const, triggerEvent: 'order' }
  const { id: workflowId } = await addWorkflow(core, { projectId: project.id, ...event })
  const to = ['ada@dest.test', 'bob@dest.test'].map((each) => ({
    address: address(each),
    name: null,
  }))
  await sender.send({ to })
  const [ada, bob] = (await core.store.read.select().from(contacts)).map(({ id }) => id)
  const before = startUrgentReader(core, [triggerHandler(core)])
  await before.caughtUp()
  await before.stop()
  await append(sender, ada!)
  await fence(core)
  await append(sender, bob!)
  const triggers = startUrgentReader(core, [triggerHandler(core)])
  t.after(() => triggers.stop())
  await triggers.caughtUp()
  const rows = await core.store.read.select().from(workflowExecutions)
  const [own] = await core.store.read.select().from(fences).where(eq(fences.projectId, project.id))
  const held = rows.filter(({ number }) => number <= own!.executionNumber)
  assert.deepEqual(
    rows.map((row) => [row.workflowId, row.contactId]),
    [
      [workflowId, ada],
      [workflowId, bob],
    ],
  )
  assert.deepEqual(
    held.map(({ contactId }) => contactId),
    [ada],
  )
})

test('F7: webhooks of old events are held, and those of new events are sent', async (t) => {
  const sender = await openSender(t)
  const { core, project } = sender
  const { id: key } = await createEndpoint(core, {
    ...{ projectId: project.id, url: 'https://hooks.test/', events: ['order'] },
  })
  const before = startUrgentReader(core, [webhookHandler(core)])
  await before.caughtUp()
  await before.stop()
  await sender.send({ to: [{ address: address('ada@dest.test'), name: null }] })
  const [ada] = (await core.store.read.select().from(contacts)).map(({ id }) => id)
  await append(sender, ada!)
  await fence(core)
  await append(sender, ada!)
  const follower = startUrgentReader(core, [webhookHandler(core)])
  t.after(() => follower.stop())
  await follower.caughtUp()
  const take = async () => {
    const query = { taken: new Set<number>(), limit: 10, now: core.now() }
    return (await takeDeliveries(core, { id: key, projectId: project.id }, query)).tasks.length
  }
  assert.equal(await take(), 1)
  await releaseFences(core, { projectId: project.id })
  assert.equal(await take(), 2)
})

test('F7: batches from before the fence are not charged until a release, newer ones are', async (t) => {
  const billed = await openBilled(t)
  const { core, stripe } = billed
  const project = await billed.subscribe()
  await core.store.write((tx) =>
    appendEvent(tx, {
      ...{ projectId: project.id, name: 'x', contactId: null, emailId: null, data: {} },
      at: START,
    }),
  )
  await billed.send(project, 3, { seq: 1 })
  assert.equal((await fence(core)).held.meteringBatches, 1)
  // Read late by the follower, and one of the new time.
  await billed.send(project, 5, { seq: 1 })
  await billed.send(project, 7, { seq: 1_000_002 })
  billed.pass(10 * 60_000)
  await billed.run()
  const states = async () =>
    (await billed.batches()).map(({ credits, state, isHeld }) => [credits, state, isHeld])
  assert.deepEqual((await states()).sort(), [
    [3, 'waiting', true],
    [5, 'waiting', true],
    [7, 'charged', false],
  ])
  const charged = () =>
    stripe.requests.filter(({ path }) => path === '/v1/billing/meter_events').length
  assert.equal(charged(), 1)
  assert.equal((await releaseFences(core, { projectId: project.id })).meteringBatches, 2)
  // The first has the identifier that the original would have used; Stripe's summary decides on the other.
  for (let hours = 0; hours < 4; hours += 1) {
    billed.pass(3_600_000)
    await billed.run()
  }
  assert.deepEqual((await states()).sort(), [
    [3, 'charged', false],
    [5, 'charged', false],
    [7, 'charged', false],
  ])
  assert.equal(charged(), 3)
})
