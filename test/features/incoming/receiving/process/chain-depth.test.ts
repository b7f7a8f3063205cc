/** Received mail in chains of workflows: a machine's answer goes on with a chain, a person's begins one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createReturnPathLocalPart } from '../../../../../src/formats/signed-tokens.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { events } from '../../../../../src/store/schema/events.ts'
import { emails } from '../../../../../src/store/schema/messages.ts'
import { addSenderProject } from '../../../mail/messages/sender.ts'
import { addExecution, addWorkflow } from '../../../outreach/workflows/add-workflow.ts'
import { buildMessage, openReceiver, shareReader } from '../receiver.ts'

const shared = shareReader()
const bob = 'bob@people.test'

/** `id`: an email that an execution of the depth 2 sent. */
async function open(t: Parameters<typeof openReceiver>[0], isOfExecution = true) {
  const receiver = await openReceiver(t, shared)
  const { core } = receiver
  const id = await receiver.deliver()
  const { messageId, projectId, contactId } = await receiver.email(id)
  if (isOfExecution) {
    const { id: workflowId } = await addWorkflow(core, { projectId })
    const given = { projectId, workflowId, contactId: contactId ?? '', depth: 2 }
    const { id: workflowExecutionId } = await addExecution(core, given)
    await core.store.write((tx) =>
      tx.update(emails).set({ workflowExecutionId }).where(eq(emails.id, id)).run(),
    )
  }
  const depths = async () => {
    const rows = await core.store.read
      .select({ depth: events.depth })
      .from(events)
      .where(eq(events.name, 'email.received'))
      .orderBy(events.seq)
    return rows.map(({ depth }) => depth)
  }
  const answer = async (headers: Record<string, string> = {}) => {
    const raw = buildMessage({ 'In-Reply-To': `<${messageId}>`, ...headers })
    await receiver.receive({ to: [receiver.mailbox()], raw, from: bob })
    return depths()
  }
  return { receiver, id, answer, depths }
}

test("S34: a machine's answer to mail of an execution is deeper, a person's begins a new chain", async (t) => {
  const { answer } = await open(t)
  assert.deepEqual(await answer(), [null])
  assert.deepEqual(await answer({ 'Auto-Submitted': 'auto-replied' }), [null, 3])
})

test("S34: answers beyond the limit of their sender go on with the chain, as a machine's do", async (t) => {
  const { answer } = await open(t)
  for (let count = 0; count < 30; count += 1) await answer()
  assert.deepEqual(await answer(), [...Array(30).fill(null), 3])
})

test("S34: a machine's answer to mail of no execution begins a new chain", async (t) => {
  const { answer } = await open(t, false)
  assert.deepEqual(await answer({ 'Auto-Submitted': 'auto-replied' }), [null])
})

test('S34: mail that an execution of another project of the server sent is deeper', async (t) => {
  const { receiver, id, depths } = await open(t)
  const other = await addSenderProject(receiver.core, 'Other', 'other.test')
  const key = receiver.core.keyring.keys('return-path')[0]
  const token = createReturnPathLocalPart(key, id).slice(2)
  const raw = buildMessage({ 'X-Pillarbox-Id': token })
  const to = [receiver.mailbox('help@other.test', other.id)]
  await receiver.receive({ to, raw, from: 'shop@example.test' })
  assert.deepEqual(await depths(), [3])
  const forged = buildMessage({ 'X-Pillarbox-Id': 'a'.repeat(42) })
  await receiver.receive({ to, raw: forged, from: 'shop@example.test' })
  assert.deepEqual(await depths(), [3, null])
})
