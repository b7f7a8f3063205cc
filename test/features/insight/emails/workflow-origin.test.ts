import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  describeOrigin,
  findWorkflowOrigins,
  listOrigins,
} from '../../../../src/features/mail/messages/explain/workflow-origin.ts'
import { eq, sql } from '../../../../src/store/drizzle.ts'
import { workflowSteps, workflows } from '../../../../src/store/schema/workflows.ts'
import { listEmails, showEmail } from '../../../lists.ts'
import { openSender } from '../../mail/messages/sender.ts'
import {
  acceptWorkflowEmail,
  addContact,
  emailFor,
  planOf,
} from '../../mail/messages/workflow-mail.ts'
import {
  insertExecution,
  insertStep,
  insertStepExecution,
  insertWorkflow,
} from '../../outreach/workflows/insert-rows.ts'

test('an email names the workflow and the step that sent it', async (t) => {
  const sender = await openSender(t)
  const { core, project } = sender
  const projectId = project.id
  core.outbound.preview = async (sources) => sources.map(() => null)
  core.outbound.sites = () => []
  const contact = await addContact(sender)
  const workflowId = await insertWorkflow(core, { projectId })
  const of = { projectId, workflowId }
  const stepId = await insertStep(core, { ...of, type: 'SEND_EMAIL', name: 'Welcome' })
  const { id: executionId, number } = await insertExecution(core, { ...of, contactId: contact.id })
  const row = { executionNumber: number, stepId, ordinal: 1 }
  const stepExecutionId = await insertStepExecution(core, row)
  const plan = await planOf(sender)
  const by = { executionId, stepExecutionId }
  const { id } = await acceptWorkflowEmail(sender, emailFor(plan, contact, by))
  const direct = (await sender.send()).emails[0]?.email as string
  const workflow = { id: workflowId, name: 'Onboarding', executionId, stepId, stepName: 'Welcome' }

  const shown = await showEmail(core, { projectId, id })
  assert.deepEqual(shown.workflow, workflow)
  assert.equal(shown.workflowExecutionId, executionId)
  assert.equal(shown.workflowStepExecutionId, stepExecutionId)
  assert.equal((await showEmail(core, { projectId, id: direct })).workflow, null)
  const { data } = await listEmails(core, { projectId, limit: 20 })
  assert.deepEqual(
    new Map(data.map((each) => [each.id, each.workflow])),
    new Map([
      [direct, null],
      [id, workflow],
    ]),
  )
  const bySource = await listEmails(core, { projectId, limit: 20, source: 'WORKFLOW' })
  assert.deepEqual(
    bySource.data.map((each) => each.id),
    [id],
  )

  await core.store.write(async (tx) => {
    await tx.update(workflowSteps).set({ removedAt: 1 }).where(eq(workflowSteps.id, stepId))
  })
  assert.deepEqual((await showEmail(core, { projectId, id })).workflow, workflow)
  await core.store.write(async (tx) => void (await tx.delete(workflows)))
  assert.equal((await showEmail(core, { projectId, id })).workflow, null)
  assert.deepEqual(await findWorkflowOrigins(core.store.read, []), new Map())
})

test('an origin is said in words, on one line', () => {
  const origin = { id: 'w', name: 'On\nboarding', executionId: 'e', stepId: 's' }
  assert.equal(
    describeOrigin({ ...origin, stepName: 'Welcome' }),
    'the step "Welcome" of the workflow "On boarding"',
  )
  assert.equal(
    describeOrigin({ ...origin, stepId: null, stepName: null }),
    'the workflow "On boarding"',
  )
})

test('origins are found by keys only', async (t) => {
  const { core } = await openSender(t)
  const { text } = listOrigins.compiled()
  const rows = await core.store.read.all<{ detail: string }>(
    sql.raw(`explain query plan ${text.replaceAll('?', 'null')}`),
  )
  const scans = rows.filter(({ detail }) => /^SCAN (?!json_each)/.test(detail))
  assert.deepEqual(scans, [])
})
