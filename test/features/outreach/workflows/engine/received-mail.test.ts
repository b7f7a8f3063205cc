/** Workflows on `email.received`: what a machine sent starts nothing, and a sender gets few answers. */
import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { DAY_MS, HOUR_MS } from '../../../../../src/base/clock.ts'
import { appendEvent } from '../../../../../src/features/ground/events/append.ts'
import { createTemplate } from '../../../../../src/features/mail/templates/create.ts'
import { viewWorkflowStats } from '../../../../../src/features/outreach/workflows/executions/stats.ts'
import { recordEventByAddress } from '../../../../../src/features/people/contacts/events/contact-events.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { emails } from '../../../../../src/store/schema/messages.ts'
import type { ContentClass } from '../../../../../src/store/schema/words.ts'
import { addProject, address, openTestCore, trustDomain } from '../../../../core.ts'
import { setEmails } from '../../../../set-emails.ts'
import { createRunner } from './run-due.ts'
import {
  buildWorkflow,
  listEmails,
  listExecutions,
  listSteps,
  pathOf,
  type StepSpec,
} from './workflow-rows.ts'

const RECEIVED = 'email.received'

async function open(t: TestContext, type: ContentClass = 'TRANSACTIONAL') {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  await trustDomain(core, projectId, 'shop.test')
  const runner = await createRunner(core)
  t.after(runner.stop)
  const { id: templateId } = await createTemplate(core, {
    ...{ projectId, name: 'Answer', subject: 'We got it', body: '<p>Soon</p>', type },
    from: address('hello@shop.test'),
  })
  const contactOf = async (email: string) => {
    const request = { event: 'known', address: address(email), subscribed: true }
    return (await recordEventByAddress(core, { projectId, request })).contact
  }
  const receive = async (contactId: string, data: Record<string, unknown> = {}) => {
    core.clock.now += 1_000
    const event = { projectId, name: RECEIVED, contactId, emailId: null, data, at: core.now() }
    await core.store.write((tx) => appendEvent(tx, event))
    await runner.run()
  }
  return { core, projectId, runner, templateId, contactOf, receive }
}

const mail = (templateId: string, config = {}): StepSpec => ({
  ...{ type: 'SEND_EMAIL', templateId, config },
})

function answering(templateId: string, options: object = {}) {
  return {
    event: RECEIVED,
    allowsReentry: true,
    triggerConfig: { eventName: RECEIVED, includeAutomatic: false, answersPerDay: 1, ...options },
    steps: { answer: mail(templateId), mark: { type: 'UPDATE_CONTACT', config: {} } as StepSpec },
    transitions: [
      ['trigger', 'answer'],
      ['answer', 'mark'],
    ],
  } as const
}

test('S11: mail that a machine sent starts no execution, and is counted', async (t) => {
  const { core, projectId, templateId, contactOf, receive } = await open(t)
  const { id } = await buildWorkflow(core, { projectId, ...answering(templateId) })
  const older = { eventName: RECEIVED }
  const { id: ofBefore } = await buildWorkflow(core, {
    ...{ projectId, ...answering(templateId) },
    triggerConfig: older,
  })
  const ada = await contactOf('ada@example.net')
  for (let count = 0; count < 45; count += 1) {
    await receive(ada, { automatic: true, automaticReason: 'auto-reply', autoReply: true })
  }
  // An event from before `automatic`.
  await receive(ada, { autoReply: true })
  for (const workflowId of [id, ofBefore]) {
    assert.deepEqual(await listExecutions(core, workflowId), [])
    const { executions } = await viewWorkflowStats(core, { projectId, id: workflowId })
    assert.deepEqual([executions.automatic, executions.total], [46, 0])
  }
  assert.deepEqual(await listEmails(core, projectId), [])
  await receive(ada, { automatic: false })
  assert.equal((await listExecutions(core, id)).length, 1)
})

test('a trigger that includes automatic mail starts with it', async (t) => {
  const { core, projectId, templateId, contactOf, receive } = await open(t)
  const options = { includeAutomatic: true }
  const { id } = await buildWorkflow(core, { projectId, ...answering(templateId, options) })
  await receive(await contactOf('ada@example.net'), { automatic: true })
  assert.equal((await listExecutions(core, id)).length, 1)
})

test('mail beyond the limit of its sender starts nothing, ends no wait and is no mail of a person', async (t) => {
  const { core, projectId, runner, templateId, contactOf, receive } = await open(t)
  const endless = answering(templateId, { answersPerDay: null })
  const { id } = await buildWorkflow(core, { projectId, ...endless })
  const { id: asking } = await buildWorkflow(core, {
    projectId,
    event: 'known',
    steps: {
      wait: { type: 'WAIT_FOR_EVENT', config: { eventName: RECEIVED, timeout: 3_600 } },
      wrote: { type: 'CONDITION', config: { field: RECEIVED, operator: 'exists' } },
    },
    transitions: [
      ['trigger', 'wait'],
      ['wait', 'wrote', { wait: 'TIMEOUT' }],
    ],
  })
  const ada = await contactOf('ada@example.net')
  await runner.run()
  await receive(ada, { automatic: false, isCapped: true })
  assert.deepEqual(await listExecutions(core, id), [])
  const [patient] = await listExecutions(core, asking)
  assert.equal(patient?.status, 'WAITING')
  core.clock.now += 2 * HOUR_MS
  await runner.run()
  const [, , wrote] = await listSteps(core, patient?.number ?? 0)
  assert.equal(wrote?.output?.branch, 'no')
})

test('S12: a sender gets one answer in a day, and the others are SKIPPED with the reason', async (t) => {
  const { core, projectId, templateId, contactOf, receive } = await open(t)
  const { id, stepIds } = await buildWorkflow(core, { projectId, ...answering(templateId) })
  const ada = await contactOf('ada@example.net')
  for (let count = 0; count < 45; count += 1) await receive(ada)
  await receive(await contactOf('bob@example.net'))
  const sent = await listEmails(core, projectId)
  assert.deepEqual(sent.map(({ recipient }) => recipient).sort(), [
    'ada@example.net',
    'bob@example.net',
  ])
  const executions = await listExecutions(core, id)
  assert.deepEqual(
    new Set(executions.map(({ status }) => status)),
    new Set(['COMPLETED']),
    'a withheld answer ends no execution',
  )
  const second = executions[1]?.number ?? 0
  assert.deepEqual(await pathOf(core, second), [
    'trigger COMPLETED',
    'answer SKIPPED',
    'mark COMPLETED',
  ])
  const [, answer] = await listSteps(core, second)
  assert.equal(answer?.error, 'the sender has had an answer within 24 hours (answersPerDay)')
  const { steps } = await viewWorkflowStats(core, { projectId, id })
  const { completed, skipped } = steps.find(({ stepId }) => stepId === stepIds.answer) ?? {}
  assert.deepEqual([completed, skipped], [2, 44])
  core.clock.now += DAY_MS
  await receive(ada)
  assert.equal((await listEmails(core, projectId)).length, 3)
})

test('answersPerDay bounds the messages that are answered; null does not', async (t) => {
  const { core, projectId, templateId, contactOf, receive } = await open(t)
  const perDay = async (answersPerDay: number | null, email: string) => {
    const options = { answersPerDay }
    const workflow = { projectId, ...answering(templateId, options) }
    await buildWorkflow(core, workflow)
    return contactOf(email)
  }
  const ada = await perDay(3, 'ada@example.net')
  for (let count = 0; count < 5; count += 1) await receive(ada)
  assert.equal((await listEmails(core, projectId)).length, 3)
  const bob = await perDay(null, 'bob@example.net')
  for (let count = 0; count < 5; count += 1) await receive(bob)
  const ofBob = (await listEmails(core, projectId)).filter(({ contactId }) => contactId === bob)
  assert.equal(ofBob.length, 3 + 5, 'of the first and the second workflow')
})

test('all mail of one execution is one answer, and mail to others is none', async (t) => {
  const { core, projectId, templateId, contactOf, receive } = await open(t)
  const custom = { recipient: { type: 'CUSTOM', customEmail: 'desk@shop.test' } }
  const { id } = await buildWorkflow(core, {
    projectId,
    ...answering(templateId),
    steps: { first: mail(templateId), desk: mail(templateId, custom), second: mail(templateId) },
    transitions: [
      ['trigger', 'first'],
      ['first', 'desk'],
      ['desk', 'second'],
    ],
  })
  const ada = await contactOf('ada@example.net')
  await receive(ada)
  await receive(ada)
  const [one, two] = await listExecutions(core, id)
  assert.deepEqual(await pathOf(core, one?.number ?? 0), [
    'trigger COMPLETED',
    'first COMPLETED',
    'desk COMPLETED',
    'second COMPLETED',
  ])
  assert.deepEqual(await pathOf(core, two?.number ?? 0), [
    'trigger COMPLETED',
    'first SKIPPED',
    'desk COMPLETED',
    'second SKIPPED',
  ])
})

test('mail to others alone, and an answer that reached nobody, leave the answer to be given', async (t) => {
  const { core, projectId, templateId, contactOf, receive } = await open(t)
  const custom = { recipient: { type: 'CUSTOM', customEmail: 'desk@shop.test' } }
  const { id } = await buildWorkflow(core, {
    projectId,
    ...answering(templateId),
    steps: {
      desk: mail(templateId, custom),
      urgent: { type: 'CONDITION', config: { field: 'event.urgent', operator: 'exists' } },
      answer: mail(templateId),
    },
    transitions: [
      ['trigger', 'desk'],
      ['desk', 'urgent'],
      ['urgent', 'answer', { branch: 'no' }],
    ],
  })
  const ada = await contactOf('ada@example.net')
  const lastStep = async (data: Record<string, unknown> = {}) => {
    await receive(ada, data)
    const newest = (await listExecutions(core, id)).at(-1)
    return (await pathOf(core, newest?.number ?? 0)).at(-1)
  }
  assert.equal(await lastStep({ urgent: true }), 'urgent COMPLETED', 'only the desk has mail')
  assert.equal(await lastStep(), 'answer COMPLETED')
  assert.equal(await lastStep(), 'answer SKIPPED')
  await core.store.write((tx) =>
    setEmails(tx, { state: 'failed' }, eq(emails.recipient, 'ada@example.net')),
  )
  assert.equal(await lastStep(), 'answer COMPLETED')
  assert.equal(await lastStep(), 'answer SKIPPED')
})

test('a wait for a reply goes on waiting when a machine replies', async (t) => {
  const { core, projectId, runner, contactOf, receive } = await open(t)
  const build = (config: object) =>
    buildWorkflow(core, {
      projectId,
      event: 'known',
      steps: {
        wait: {
          type: 'WAIT_FOR_EVENT',
          config: { eventName: RECEIVED, timeout: 3_600, ...config },
        },
      },
      transitions: [['trigger', 'wait']],
    })
  const { id: patient } = await build({})
  const { id: any } = await build({ includeAutomatic: true })
  const ada = await contactOf('ada@example.net')
  await runner.run()
  await receive(ada, { automatic: true })
  const statusOf = async (id: string) => (await listExecutions(core, id))[0]?.status
  assert.deepEqual([await statusOf(patient), await statusOf(any)], ['WAITING', 'COMPLETED'])
  core.clock.now += 2 * HOUR_MS
  await runner.run()
  const [execution] = await listExecutions(core, patient)
  const [, wait] = await listSteps(core, execution?.number ?? 0)
  assert.equal(wait?.output?.waitOutcome, 'TIMEOUT', 'the event before the timeout did not count')
})

test('a condition on received mail means mail of a person', async (t) => {
  const { core, projectId, runner, contactOf, receive } = await open(t)
  const { id } = await buildWorkflow(core, {
    projectId,
    event: 'ask',
    allowsReentry: true,
    steps: { wrote: { type: 'CONDITION', config: { field: RECEIVED, operator: 'exists' } } },
    transitions: [['trigger', 'wrote']],
  })
  const ada = await contactOf('ada@example.net')
  const ask = async () => {
    const request = { event: 'ask', address: address('ada@example.net') }
    await recordEventByAddress(core, { projectId, request })
    await runner.run()
    const newest = (await listExecutions(core, id)).at(-1)
    return (await listSteps(core, newest?.number ?? 0)).at(-1)?.output?.branch
  }
  await receive(ada, { automatic: true })
  assert.equal(await ask(), 'no')
  await receive(ada, { automatic: false })
  assert.equal(await ask(), 'yes')
})

test('mail of a workflow says that a program sent it', async (t) => {
  const headersOf = async (type: ContentClass, event: string) => {
    const { core, projectId, runner, templateId, contactOf, receive } = await open(t, type)
    await buildWorkflow(core, { projectId, ...answering(templateId), event })
    const ada = await contactOf('ada@example.net')
    await runner.run()
    if (event === RECEIVED) await receive(ada)
    return (await listEmails(core, projectId))[0]?.headers
  }
  const answer = { 'Auto-Submitted': 'auto-replied', Precedence: 'bulk' }
  const generated = { 'Auto-Submitted': 'auto-generated' }
  assert.deepEqual(await headersOf('TRANSACTIONAL', RECEIVED), answer)
  assert.deepEqual(await headersOf('MARKETING', RECEIVED), answer)
  assert.deepEqual(await headersOf('TRANSACTIONAL', 'known'), generated)
  assert.deepEqual(await headersOf('HEADLESS', 'known'), generated)
  assert.equal(await headersOf('MARKETING', 'known'), null, 'bulk mail says so anyway')
})
