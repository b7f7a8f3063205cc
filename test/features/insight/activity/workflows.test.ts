import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { DAY_MS, HOUR_MS } from '../../../../src/base/clock.ts'
import { appendEvent } from '../../../../src/features/ground/events/append.ts'
import {
  listUndatedExecutions,
  listUpcomingExecutions,
} from '../../../../src/features/insight/activity/active-executions.ts'
import { countRecent } from '../../../../src/features/insight/activity/figures.ts'
import { listSleeping } from '../../../../src/features/insight/activity/scheduled-workflow-emails.ts'
import { listUpcoming } from '../../../../src/features/insight/activity/upcoming.ts'
import { eq, sql } from '../../../../src/store/drizzle.ts'
import { newId } from '../../../../src/store/ids.ts'
import { workflows, workflowTransitions } from '../../../../src/store/schema/workflows.ts'
import { START } from '../../../core.ts'
import { listActivity } from '../../../lists.ts'
import { addSenderProject, openSender } from '../../mail/messages/sender.ts'
import {
  acceptWorkflowEmail,
  addContact,
  addTemplate,
  emailFor,
  planOf,
} from '../../mail/messages/workflow-mail.ts'
import {
  insertExecution,
  insertStep,
  insertStepExecution,
  insertWorkflow,
} from '../../outreach/workflows/insert-rows.ts'

async function openWorkflow(t: TestContext, name = 'Onboarding') {
  const sender = await openSender(t)
  const { core, project } = sender
  const projectId = project.id
  const workflowId = await insertWorkflow(core, { projectId, name })
  const addStep = (type: Parameters<typeof insertStep>[1]['type'], change = {}) =>
    insertStep(core, { projectId, workflowId, type, ...change })
  const connect = (fromStepId: string, toStepId: string, change = {}) =>
    core.store.write(async (tx) => {
      const times = { createdAt: START, updatedAt: START }
      const row = { id: newId(), workflowId, fromStepId, toStepId, ...times, ...change }
      await tx.insert(workflowTransitions).values(row)
    })
  /** A contact that sleeps at a step. */
  const sleep = async (currentStepId: string, dueAt: number, change = {}) => {
    const contact = await addContact(sender, { address: `c${newId()}@dest.test` })
    const { number } = await insertExecution(core, {
      ...{ projectId, workflowId, contactId: contact.id, currentStepId, dueAt },
      ...{ status: 'WAITING', stepsDone: 1, ...change },
    })
    await insertStepExecution(core, { executionNumber: number, stepId: currentStepId })
    const row = { executionNumber: number, stepId: currentStepId, ordinal: 1 }
    const stepExecutionId = await insertStepExecution(core, { ...row, status: 'WAITING' })
    return { contact, number, stepExecutionId }
  }
  const listAll = (limit = 50) => listUpcoming(core, projectId, { limit, daysAhead: 30 })
  const upcoming = async (limit = 50) =>
    (await listAll(limit)).filter(({ type }) => type === 'workflow.email.scheduled')
  return { sender, core, projectId, workflowId, addStep, connect, sleep, upcoming, listAll }
}

test('starts and ends of executions have types and ids of their own', async (t) => {
  const { sender, core, projectId, workflowId } = await openWorkflow(t)
  const { id: contactId } = await addContact(sender)
  const data = { workflowId, workflowName: 'Onboarding', executionId: 'e1' }
  const append = (name: string, more = {}) =>
    core.store.write((tx) => {
      const event = { projectId, name, contactId, emailId: null, at: START }
      return appendEvent(tx, { ...event, data: { ...data, ...more } })
    })
  await append('workflow.started')
  const failed = await append('workflow.completed', { status: 'FAILED', exitReason: null })
  await append('workflow.completed', { status: 'EXITED', exitReason: 'done' })
  const { data: shown } = await listActivity(core, projectId, { limit: 50, isSummary: true })
  assert.deepEqual(
    shown.map(({ id, type, metadata }) => [id, type, metadata.status]),
    [
      ['e1_completed', 'workflow.completed', 'EXITED'],
      [`e1_completed_${failed}`, 'workflow.completed', 'FAILED'],
      ['e1_started', 'workflow.started', 'RUNNING'],
    ],
  )
  assert.deepEqual(shown[0]?.metadata, {
    ...{ ...data, status: 'EXITED', exitReason: 'done' },
    ...{ reasonCode: 'exit_step', reasonData: { text: 'done' } },
  })
  assert.deepEqual(shown[2]?.metadata, {
    ...{ ...data, status: 'RUNNING', exitReason: null },
    ...{ reasonCode: null, reasonData: null },
  })
  assert.equal(shown[0]?.contactEmail, 'ada@dest.test')
  const only = await listActivity(core, projectId, {
    ...{ limit: 50, types: ['workflow.started'], isSummary: true },
  })
  assert.equal(only.data.length, 1)
  const clients = await listActivity(core, projectId, {
    ...{ limit: 50, types: ['event.triggered'], isSummary: true },
  })
  assert.deepEqual(clients.data, [])
  assert.equal((await countRecent(core, projectId, 5)).count, 3)
})

test('the emails of a workflow name it in the feed', async (t) => {
  const { sender, core, projectId, workflowId } = await openWorkflow(t)
  const contact = await addContact(sender, { subscribed: false })
  const plan = await planOf(sender)
  const { id: executionId } = await insertExecution(core, {
    ...{ projectId, workflowId, contactId: contact.id },
  })
  const of = { executionId, stepExecutionId: newId() }
  await acceptWorkflowEmail(sender, emailFor(plan, contact, of))
  const types = ['email.failed']
  const page = await listActivity(core, projectId, { limit: 50, types, isSummary: true })
  assert.deepEqual(
    page.data.map(({ metadata }) => [metadata.workflowName, metadata.reason]),
    [['Onboarding', 'refused']],
  )
})

test('executions that sleep before an email are upcoming, soonest first', async (t) => {
  const open = await openWorkflow(t)
  const { sender, addStep, connect, sleep, upcoming, projectId, workflowId, core } = open
  const templateId = await addTemplate(sender, { subject: 'Day two' })
  const [delay, mail] = [await addStep('DELAY'), await addStep('SEND_EMAIL', { templateId })]
  const [otherDelay, exit] = [await addStep('DELAY'), await addStep('EXIT')]
  const wait = await addStep('WAIT_FOR_EVENT')
  const bare = await addStep('SEND_EMAIL')
  const bareDelay = await addStep('DELAY')
  await connect(delay, mail)
  await connect(otherDelay, exit)
  await connect(wait, mail)
  await connect(bareDelay, bare)
  const late = await sleep(delay, START + 2 * DAY_MS)
  const soon = await sleep(delay, START + DAY_MS)
  await sleep(delay, START + 31 * DAY_MS)
  await sleep(delay, START - 1)
  await sleep(delay, START + DAY_MS, { status: 'RUNNING' })
  await sleep(otherDelay, START + DAY_MS)
  await sleep(wait, START + DAY_MS)
  await sleep(bareDelay, START + DAY_MS)
  const shown = await upcoming()
  assert.deepEqual(
    shown.map(({ id }) => id),
    [soon, late].map(({ stepExecutionId }) => `workflow_step_${stepExecutionId}_scheduled`),
  )
  assert.deepEqual(shown[0], {
    id: `workflow_step_${soon.stepExecutionId}_scheduled`,
    type: 'workflow.email.scheduled',
    timestamp: new Date(START + DAY_MS).toISOString(),
    contactEmail: soon.contact.address,
    contactId: soon.contact.id,
    metadata: {
      ...{ workflowId, workflowName: 'Onboarding' },
      ...{ stepId: mail, stepName: 'SEND_EMAIL', subject: 'Day two' },
    },
  })
  assert.equal((await upcoming(1)).length, 1)
  const other = await addSenderProject(core, 'Other', 'other.test')
  assert.deepEqual(await listUpcoming(core, other.id, { limit: 50, daysAhead: 30 }), [])
  await core.store.write(async (tx) => {
    const cancelledThrough = late.number
    await tx.update(workflows).set({ cancelledThrough }).where(eq(workflows.projectId, projectId))
  })
  assert.deepEqual(
    (await upcoming()).map(({ contactId }) => contactId),
    [soon.contact.id],
  )
})

test('the soonest emails of several workflows come first, however the workflows are ordered', async (t) => {
  const open = await openWorkflow(t)
  const { sender, addStep, connect, sleep, upcoming, core, projectId } = open
  const templateId = await addTemplate(sender)
  const [delay, mail] = [await addStep('DELAY'), await addStep('SEND_EMAIL', { templateId })]
  await connect(delay, mail)
  core.clock.now += 1
  const second = await insertWorkflow(core, { projectId, name: 'Second' })
  const own = { workflowId: second }
  const secondDelay = await addStep('DELAY', own)
  await connect(secondDelay, await addStep('SEND_EMAIL', { templateId, ...own }), own)
  for (const day of [1, 3, 5]) await sleep(delay, START + day * DAY_MS)
  for (const day of [2, 3, 4]) await sleep(secondDelay, START + day * DAY_MS, own)
  const days = (await upcoming(3)).map(({ timestamp, metadata }) => [
    (Date.parse(timestamp) - START) / DAY_MS,
    metadata.workflowName,
  ])
  assert.deepEqual(days.slice(0, 2), [
    [1, 'Onboarding'],
    [2, 'Second'],
  ])
  assert.equal(days[2]?.[0], 3)
})

test('only the first transition of a delay counts', async (t) => {
  const { sender, addStep, connect, sleep, upcoming } = await openWorkflow(t)
  const templateId = await addTemplate(sender)
  const [delay, mail] = [await addStep('DELAY'), await addStep('SEND_EMAIL', { templateId })]
  await connect(delay, mail, { priority: 1 })
  await connect(delay, await addStep('EXIT'), { priority: 0 })
  await sleep(delay, START + DAY_MS)
  assert.deepEqual(await upcoming(), [])
})

test('an email is upcoming, however many executions wake before it at other steps', async (t) => {
  const { core, sender, addStep, connect, sleep, upcoming, projectId, workflowId } =
    await openWorkflow(t)
  const templateId = await addTemplate(sender)
  const [delay, mail] = [await addStep('DELAY'), await addStep('SEND_EMAIL', { templateId })]
  const silent = await addStep('DELAY')
  await connect(delay, mail)
  const size = 10_001
  await core.store.write(
    (tx) =>
      tx.run(sql`with recursive each (n) as (select 1 union all select n + 1 from each where n < ${size})
        insert into contacts (id, project_id, email, subscribed, created_at, updated_at)
        select 'c' || n, ${projectId}, 'c' || n || '@many.test', 1, 1, 1 from each`),
    { heavyFor: projectId },
  )
  await core.store.write(
    (tx) =>
      tx.run(sql`insert into workflow_executions (id, project_id, workflow_id, contact_id, status,
          current_step_id, due_at, started_at, updated_at)
        select 'x' || id, project_id, ${workflowId}, id, 'WAITING', ${silent},
          ${START + HOUR_MS}, 1, 1 from contacts where email like '%@many.test'`),
    { heavyFor: projectId },
  )
  const { contact } = await sleep(delay, START + DAY_MS)
  assert.deepEqual(
    (await upcoming()).map(({ contactId }) => contactId),
    [contact.id],
  )
})

test('active executions without a coming email are upcoming too, and take no room of emails', async (t) => {
  const open = await openWorkflow(t)
  const { core, projectId, workflowId, addStep, connect, sleep, listAll } = open
  const templateId = await addTemplate(open.sender, { subject: 'Day two' })
  const [delay, mail] = [await addStep('DELAY'), await addStep('SEND_EMAIL', { templateId })]
  const [silent, exit] = [await addStep('DELAY', { name: 'Rest' }), await addStep('EXIT')]
  const wait = await addStep('WAIT_FOR_EVENT')
  await connect(delay, mail)
  await connect(silent, exit)
  const emailed = await sleep(delay, START + 3 * DAY_MS)
  const resting = await sleep(silent, START + 2 * DAY_MS)
  await sleep(silent, START + 31 * DAY_MS)
  const endless = await sleep(wait, START, { dueAt: null })
  const running = await sleep(mail, START - 1, { status: 'RUNNING' })
  const waking = await sleep(delay, START - 2)
  await sleep(silent, START, { status: 'CANCELLED', dueAt: null })
  const idsOf = (found: Awaited<ReturnType<typeof listAll>>) => found.map((each) => each.contactId)
  const shown = await listAll()
  assert.deepEqual(
    idsOf(shown),
    [waking, running, resting, emailed, endless].map(({ contact }) => contact.id),
  )
  const { id: _, ...entry } = shown[2]!
  assert.deepEqual(entry, {
    type: 'workflow.execution.active',
    timestamp: new Date(START + 2 * DAY_MS).toISOString(),
    contactEmail: resting.contact.address,
    contactId: resting.contact.id,
    metadata: {
      ...{ workflowId, workflowName: 'Onboarding', executionId: entry.metadata.executionId },
      ...{ status: 'WAITING', stepId: silent, stepName: 'Rest', stepType: 'DELAY' },
      dueAt: new Date(START + 2 * DAY_MS).toISOString(),
    },
  })
  assert.equal(shown.at(-1)?.metadata.dueAt, null)
  assert.deepEqual(idsOf(await listAll(1)), [emailed.contact.id])
  assert.deepEqual(
    idsOf(await listAll(2)),
    [waking, emailed].map(({ contact }) => contact.id),
  )
  assert.equal(new Set(shown.map(({ id }) => id)).size, shown.length)
  const other = await addSenderProject(core, 'Other', 'other.test')
  assert.deepEqual(await listUpcoming(core, other.id, { limit: 50, daysAhead: 30 }), [])
  await core.store.write((tx) =>
    tx
      .update(workflows)
      .set({ cancelledThrough: Number.MAX_SAFE_INTEGER })
      .where(eq(workflows.projectId, projectId)),
  )
  assert.deepEqual(await listAll(), [])
})

test('active executions are read by their step and due time', async (t) => {
  const { core } = await openWorkflow(t)
  for (const each of [listUpcomingExecutions, listUndatedExecutions]) {
    const { text } = each.compiled()
    const rows = await core.store.read.all<{ detail: string }>(
      sql.raw(`explain query plan ${text.replaceAll('?', 'null')}`),
    )
    const plan = rows.map(({ detail }) => detail).join('\n')
    assert.match(plan, /_place \(workflow_id=\? AND current_step_id=\? AND due_at[<=]\?/)
    assert.match(plan, /execution USING INTEGER PRIMARY KEY/)
    assert.doesNotMatch(plan, /SCAN (?:execution|workflow_executions|contacts|steps)/, plan)
  }
})

test('sleeping executions are read by their step and due time', async (t) => {
  const { core } = await openWorkflow(t)
  const { text } = listSleeping.compiled()
  const rows = await core.store.read.all<{ detail: string }>(
    sql.raw(`explain query plan ${text.replaceAll('?', 'null')}`),
  )
  const plan = rows.map(({ detail }) => detail).join('\n')
  assert.match(plan, /_place \(workflow_id=\? AND current_step_id=\? AND due_at>\? AND due_at<\?\)/)
  assert.match(plan, /execution USING INTEGER PRIMARY KEY/)
  assert.doesNotMatch(plan, /SCAN (?:execution|workflow_executions|contacts|steps)/, plan)
})
