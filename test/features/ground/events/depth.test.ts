/** The depth of the events that follow from mail of executions. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { appendEvent } from '../../../../src/features/ground/events/append.ts'
import { readEventDepths } from '../../../../src/features/ground/events/depth.ts'
import { asc, eq } from '../../../../src/store/drizzle.ts'
import { newId } from '../../../../src/store/ids.ts'
import { contacts } from '../../../../src/store/schema/contacts.ts'
import { events } from '../../../../src/store/schema/events.ts'
import { emails } from '../../../../src/store/schema/messages.ts'
import { address } from '../../../core.ts'
import { openSender } from '../../mail/messages/sender.ts'
import { addExecution, addWorkflow } from '../../outreach/workflows/add-workflow.ts'

/** An email of an execution of the depth 2, and one of no execution. */
async function open(t: Parameters<typeof openSender>[0]) {
  const { core, project, send } = await openSender(t)
  await send({ to: [{ address: address('ada@dest.test'), name: null }] })
  await send({ to: [{ address: address('ada@dest.test'), name: null }] })
  const [ofWorkflow, other] = await core.store.read.select().from(emails).orderBy(asc(emails.id))
  const [contact] = await core.store.read.select().from(contacts)
  const { id: workflowId } = await addWorkflow(core, { projectId: project.id })
  const { id: workflowExecutionId } = await addExecution(core, {
    ...{ projectId: project.id, workflowId, contactId: contact?.id ?? '', depth: 2 },
  })
  await core.store.write((tx) =>
    tx
      .update(emails)
      .set({ workflowExecutionId })
      .where(eq(emails.id, ofWorkflow?.id ?? ''))
      .run(),
  )
  const depthOf = async (name: string, emailId = ofWorkflow?.id, data: object | null = null) => {
    const event = { projectId: project.id, name, contactId: contact?.id ?? newId() }
    const id = await core.store.write((tx) =>
      appendEvent(tx, { ...event, emailId: emailId ?? null, data, at: core.now() }),
    )
    const rows = await core.store.read.select().from(events).where(eq(events.id, id))
    const depths = await readEventDepths(core.store.read, rows)
    return rows.map(depths)[0]
  }
  return { core, depthOf, otherId: other?.id }
}

test('S34: what follows from mail of an execution by itself is deeper, what a person does is not', async (t) => {
  const { depthOf, otherId } = await open(t)
  const own = ['sent', 'delivery', 'open', 'bounce', 'failed', 'suppressed', 'a new kind']
  for (const name of own) {
    assert.equal(await depthOf(`email.${name}`), 3, name)
    assert.equal(await depthOf(`email.${name}`, otherId), 0, name)
  }
  for (const name of ['click', 'complaint', 'received']) {
    assert.equal(await depthOf(`email.${name}`), 0, name)
  }
  const reasons = { bounce: 3, page: 0, 'one-click': 0, mail: 0, complaint: 0, api: 0 }
  for (const [reason, depth] of Object.entries(reasons)) {
    assert.equal(await depthOf('contact.unsubscribed', undefined, { reason }), depth, reason)
  }
})

test('S34: an event of a client that names an email of an execution begins a new chain', async (t) => {
  const { depthOf } = await open(t)
  assert.equal(await depthOf('order'), 0)
  assert.equal(await depthOf('order', undefined, { depth: 5 }), 0)
})
