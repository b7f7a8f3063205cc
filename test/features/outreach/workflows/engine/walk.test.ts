import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../../src/base/clock.ts'
import { appendEvent } from '../../../../../src/features/ground/events/append.ts'
import { createTemplate } from '../../../../../src/features/mail/templates/create.ts'
import { retryExecution } from '../../../../../src/features/outreach/workflows/executions/start.ts'
import { viewWorkflowStats } from '../../../../../src/features/outreach/workflows/executions/stats.ts'
import { recordEventByAddress } from '../../../../../src/features/people/contacts/events/contact-events.ts'
import { deleteContact } from '../../../../../src/features/people/contacts/write/delete.ts'
import { clearWish, recordWish } from '../../../../../src/features/people/wishes/wishes.ts'
import { eq, sql } from '../../../../../src/store/drizzle.ts'
import { projects } from '../../../../../src/store/schema/accounts.ts'
import { usageMonths } from '../../../../../src/store/schema/billing.ts'
import { contacts } from '../../../../../src/store/schema/contacts.ts'
import { emails } from '../../../../../src/store/schema/messages.ts'
import {
  workflowFigures,
  workflowRequests,
  workflowStepExecutions,
  workflowSteps,
  workflows,
  workflowWaits,
} from '../../../../../src/store/schema/workflows.ts'
import {
  addProject,
  address,
  openTestCore,
  START,
  type TestCore,
  trustDomain,
} from '../../../../core.ts'
import { assertExact, setColumns, suppressAll } from '../../../ground/usage/usage.ts'
import { createRunner } from './run-due.ts'
import {
  buildWorkflow,
  listEmails,
  listExecutions,
  listSteps,
  pathOf,
  type StepSpec,
  type TransitionSpec,
} from './workflow-rows.ts'

async function open(t: TestContext, settings: Record<string, string> = {}) {
  const core = await openTestCore(t, { settings })
  const { id: projectId } = await addProject(core)
  await trustDomain(core, projectId, 'shop.test')
  const runner = await createRunner(core)
  t.after(runner.stop)
  const template = await createTemplate(core, {
    projectId,
    name: 'Welcome',
    subject: 'Hello {{ event.plan }}',
    body: '<p>{{ event.plan }} {{ plan }}</p>',
    from: address('hello@shop.test'),
    type: 'MARKETING',
  })
  return { core, projectId, runner, templateId: template.id }
}

function track(core: TestCore, projectId: string, event: string, request: object = {}) {
  const given = { event, address: address('ada@example.net'), ...request }
  return recordEventByAddress(core, { projectId, request: given })
}

const ONBOARDING: { steps: Record<string, StepSpec>; transitions: TransitionSpec[] } = {
  steps: {
    mail: { type: 'SEND_EMAIL' },
    wait: {
      type: 'WAIT_FOR_EVENT',
      config: { eventName: 'email.clicked', timeout: 3600, stepId: 'mail' },
    },
    mark: { type: 'UPDATE_CONTACT', config: { updates: { keen: true } } },
    out: { type: 'EXIT', config: { reason: 'silent' } },
  },
  transitions: [
    ['trigger', 'mail'],
    ['mail', 'wait'],
    ['wait', 'mark', { wait: 'EVENT' }],
    ['wait', 'out', { wait: 'TIMEOUT' }],
  ],
}

function onboarding(templateId: string) {
  const { steps, transitions } = ONBOARDING
  return {
    steps: { ...steps, mail: { ...steps.mail, type: 'SEND_EMAIL', templateId } as StepSpec },
    transitions,
  }
}

test('an event starts an execution that sends, waits, and goes on with a click', async (t) => {
  const { core, projectId, runner, templateId } = await open(t)
  const { id } = await buildWorkflow(core, { projectId, ...onboarding(templateId) })
  const { contact } = await track(core, projectId, 'signup', { data: { plan: '<b>' } })
  await runner.run()
  const [waiting] = await listExecutions(core, id)
  assert.ok(waiting)
  assert.equal(waiting.status, 'WAITING')
  assert.equal(waiting.dueAt, START + HOUR_MS)
  assert.deepEqual(waiting.context, { plan: '<b>' })
  const [email] = await listEmails(core, projectId)
  assert.equal(email?.workflowExecutionId, waiting.id)
  assert.equal(email?.sourceType, 'WORKFLOW')
  assert.equal(email?.queueClass, 5)
  assert.deepEqual(email?.variables, {
    stored: { plan: '<b>', event: { plan: '<b>' } },
    request: {},
  })
  const steps = await listSteps(core, waiting.number)
  assert.equal(email?.workflowStepExecutionId, steps[1]?.id)

  // The click of another email does not count.
  const click = {
    projectId,
    name: 'email.click',
    contactId: contact,
    data: { link: 'x' },
    at: START,
  }
  await core.store.write((tx) => appendEvent(tx, { ...click, emailId: null }))
  await runner.run()
  assert.equal((await listExecutions(core, id))[0]?.status, 'WAITING')
  await core.store.write((tx) => appendEvent(tx, { ...click, emailId: email?.id ?? '' }))
  await runner.run()
  const [done] = await listExecutions(core, id)
  assert.equal(done?.status, 'COMPLETED')
  assert.equal(done?.currentStepId, null)
  assert.equal(done?.dueAt, null)
  const { plan, link, emailId, subject } = done?.context ?? {}
  assert.deepEqual({ plan, link, emailId }, { plan: '<b>', link: 'x', emailId: email?.id })
  assert.equal(subject, 'Hello {{ event.plan }}', 'an event of an email has its base data')
  assert.deepEqual(await pathOf(core, waiting.number), [
    'trigger COMPLETED',
    'mail COMPLETED',
    'wait COMPLETED',
    'mark COMPLETED',
  ])
  const [row] = await core.store.read.select().from(contacts).where(eq(contacts.id, contact))
  assert.deepEqual(row?.data, { plan: '<b>', keen: true })
  assert.deepEqual(await core.store.read.select().from(workflowWaits), [])
})

test('without the event, the execution leaves by the timeout', async (t) => {
  const { core, projectId, runner, templateId } = await open(t)
  const { id } = await buildWorkflow(core, { projectId, ...onboarding(templateId) })
  await track(core, projectId, 'signup')
  await runner.run()
  core.clock.now = START + HOUR_MS - 1
  assert.equal(await runner.run(), 0)
  core.clock.now = START + HOUR_MS
  await runner.run()
  const [done] = await listExecutions(core, id)
  assert.equal(done?.status, 'EXITED')
  assert.equal(done?.exitReason, 'silent')
  assert.equal(done?.completedAt, START + HOUR_MS)
})

test('an event that the follower has not read wins over the timeout', async (t) => {
  const { core, projectId, runner } = await open(t)
  const { id } = await buildWorkflow(core, {
    projectId,
    steps: {
      wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'paid', timeout: 60 } },
      yes: { type: 'EXIT', config: { reason: 'paid' } },
      no: { type: 'EXIT', config: { reason: 'unpaid' } },
    },
    transitions: [
      ['trigger', 'wait'],
      ['wait', 'yes', { wait: 'EVENT' }],
      ['wait', 'no', { wait: 'TIMEOUT' }],
    ],
  })
  await track(core, projectId, 'paid')
  await track(core, projectId, 'signup')
  await runner.run()
  assert.equal((await listExecutions(core, id))[0]?.status, 'WAITING')
  await runner.stop()
  await track(core, projectId, 'paid')
  core.clock.now = START + HOUR_MS
  const late = await createRunner({ ...core })
  t.after(late.stop)
  await late.run()
  assert.equal((await listExecutions(core, id))[0]?.exitReason, 'paid')
})

test('an event that follows the one before it closely is not missed by a wait', async (t) => {
  const { core, projectId, runner } = await open(t)
  const { id } = await buildWorkflow(core, {
    projectId,
    steps: {
      first: { type: 'WAIT_FOR_EVENT', config: { eventName: 'go', timeout: 60 } },
      second: { type: 'WAIT_FOR_EVENT', config: { eventName: 'go', timeout: 60 } },
    },
    transitions: [
      ['trigger', 'first'],
      ['first', 'second', { wait: 'EVENT' }],
    ],
  })
  await track(core, projectId, 'go', { data: { number: 0 } })
  await track(core, projectId, 'signup')
  await track(core, projectId, 'go', { data: { number: 1 } })
  await track(core, projectId, 'go', { data: { number: 2 } })
  await runner.run()
  const [done] = await listExecutions(core, id)
  assert.equal(done?.status, 'COMPLETED')
  assert.deepEqual(done?.context, { number: 2 })
  assert.deepEqual(await core.store.read.select().from(workflowWaits), [])
})

test('events do not make the context larger than the data of a contact', async (t) => {
  const { core, projectId, runner } = await open(t)
  const { id } = await buildWorkflow(core, {
    projectId,
    steps: {
      first: { type: 'WAIT_FOR_EVENT', config: { eventName: 'large' } },
      second: { type: 'WAIT_FOR_EVENT', config: { eventName: 'large' } },
    },
    transitions: [
      ['trigger', 'first'],
      ['first', 'second', { wait: 'EVENT' }],
    ],
  })
  await track(core, projectId, 'signup', { data: { plan: { value: 'pro', persistent: false } } })
  for (const key of ['a', 'b']) {
    const data = { [key]: { value: 'x'.repeat(60_000), persistent: false } }
    await track(core, projectId, 'large', { data })
  }
  await runner.run()
  const [done] = await listExecutions(core, id)
  assert.equal(done?.status, 'COMPLETED')
  assert.deepEqual(Object.keys(done?.context ?? {}), ['plan', 'a'])
  const steps = await listSteps(core, done?.number ?? 0)
  assert.deepEqual(Object.keys(Object(steps[2]?.output?.eventData)), ['b'])
})

test('what is due at once is due also after the clock went back a day', async (t) => {
  const { core, projectId, runner } = await open(t)
  const { id } = await buildWorkflow(core, {
    projectId,
    steps: { wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'go' } } },
    transitions: [['trigger', 'wait']],
  })
  await track(core, projectId, 'signup')
  core.clock.now = START - DAY_MS
  await runner.run()
  assert.equal((await listExecutions(core, id))[0]?.status, 'WAITING')
  await track(core, projectId, 'go')
  core.clock.now = START - 2 * DAY_MS
  await runner.run()
  assert.equal((await listExecutions(core, id))[0]?.status, 'COMPLETED')
})

test('a chain of steps without waiting takes a turn of 100 steps after the other', async (t) => {
  const { core, projectId, runner } = await open(t)
  const names = Array.from({ length: 250 }, (_, index) => `step${index}`)
  const steps = Object.fromEntries(
    names.map((name, index): [string, StepSpec] => [
      name,
      { type: 'UPDATE_CONTACT', config: { updates: { count: index } } },
    ]),
  )
  const transitions = names.map(
    (name, index): TransitionSpec => [names[index - 1] ?? 'trigger', name],
  )
  const { id } = await buildWorkflow(core, { projectId, steps, transitions })
  const { contact } = await track(core, projectId, 'signup')
  assert.equal(await runner.run(), 3)
  const [done] = await listExecutions(core, id)
  assert.equal(done?.status, 'COMPLETED')
  assert.equal(done?.stepsDone, 251)
  const [row] = await core.store.read.select().from(contacts).where(eq(contacts.id, contact))
  assert.deepEqual(row?.data, { count: 249 })
})

test('later steps of a walk see the changes of earlier ones, and the last of them stays', async (t) => {
  const { core, projectId, runner } = await open(t)
  const isOff = { field: 'contact.subscribed', operator: 'equals', value: false } as const
  const { id } = await buildWorkflow(core, {
    projectId,
    steps: {
      first: { type: 'UPDATE_CONTACT', config: { updates: { stage: 1, old: true } } },
      off: {
        type: 'UPDATE_CONTACT',
        config: { updates: { stage: 2 }, subscriptionAction: 'unsubscribe' },
      },
      ask: { type: 'CONDITION', config: isOff },
      last: { type: 'UPDATE_CONTACT', config: { updates: { stage: 3 } } },
    },
    transitions: [
      ['trigger', 'first'],
      ['first', 'off'],
      ['off', 'ask'],
      ['ask', 'last', { branch: 'yes' }],
    ],
  })
  const { contact } = await track(core, projectId, 'signup')
  await runner.run()
  assert.equal((await listExecutions(core, id))[0]?.status, 'COMPLETED')
  const [row] = await core.store.read.select().from(contacts).where(eq(contacts.id, contact))
  assert.deepEqual([row?.data, row?.subscribed], [{ stage: 3, old: true }, false])
})

test('a contact whose data cannot be written fails its execution alone', async (t) => {
  const { core, projectId, runner } = await open(t)
  const { id } = await buildWorkflow(core, {
    projectId,
    steps: {
      first: { type: 'UPDATE_CONTACT', config: { updates: { stage: 1 } } },
      second: { type: 'UPDATE_CONTACT', config: { updates: { stage: 2 } } },
    },
    transitions: [
      ['trigger', 'first'],
      ['first', 'second'],
    ],
  })
  await core.store.write((tx) =>
    tx.run(sql`create trigger refuse before update of data on contacts when old.email like 'bad%'
      begin select raise(abort, 'refused'); end`),
  )
  for (const name of ['one', 'bad', 'two']) {
    await track(core, projectId, 'signup', { address: address(`${name}@example.net`) })
  }
  await runner.run()
  const rows = await listExecutions(core, id)
  assert.deepEqual(
    rows.map(({ status }) => status),
    ['COMPLETED', 'FAILED', 'COMPLETED'],
  )
  const paths = await Promise.all(rows.map(({ number }) => pathOf(core, number)))
  assert.deepEqual(paths[1], ['trigger COMPLETED', 'first FAILED'])
  const stored = await core.store.read.select().from(contacts).orderBy(contacts.number)
  assert.deepEqual(
    stored.map(({ data }) => data),
    [{ stage: 2 }, null, { stage: 2 }],
  )
})

test('F3: a delay sleeps for its time, also when the clock goes back', async (t) => {
  const { core, projectId, runner } = await open(t)
  const { id } = await buildWorkflow(core, {
    projectId,
    steps: { nap: { type: 'DELAY', config: { amount: 2, unit: 'days' } } },
    transitions: [['trigger', 'nap']],
  })
  await track(core, projectId, 'signup')
  await runner.run()
  const [asleep] = await listExecutions(core, id)
  assert.equal(asleep?.dueAt, START + 2 * DAY_MS)
  core.clock.now = START - DAY_MS
  assert.equal(await runner.run(), 0)
  core.clock.now = START + 2 * DAY_MS
  await runner.run()
  const steps = await listSteps(core, asleep?.number ?? 0)
  assert.equal(steps[1]?.status, 'COMPLETED')
  assert.equal(steps[1]?.scheduledFor, START + 2 * DAY_MS)
  assert.deepEqual(steps[1]?.output, {
    delayAmount: 2,
    delayUnit: 'days',
    resumeAt: new Date(START + 2 * DAY_MS).toISOString(),
  })
})

test('a webhook step leaves a request, and goes on or fails with its end', async (t) => {
  const { core, projectId, runner } = await open(t)
  const { id } = await buildWorkflow(core, {
    projectId,
    steps: { hook: { type: 'WEBHOOK', config: { url: 'https://x.test', method: 'POST' } } },
    transitions: [['trigger', 'hook']],
  })
  await track(core, projectId, 'signup')
  await runner.run()
  const [request] = await core.store.read.select().from(workflowRequests)
  const [waiting] = await listExecutions(core, id)
  assert.equal(request?.executionNumber, waiting?.number)
  assert.equal(request?.dueAt, 0)
  assert.equal(waiting?.status, 'WAITING')
  assert.equal(waiting?.dueAt, null)
})

test('a step without a template fails, and the execution stays at it', async (t) => {
  const { core, projectId, runner } = await open(t)
  const { id, stepIds } = await buildWorkflow(core, {
    projectId,
    steps: { mail: { type: 'SEND_EMAIL' } },
    transitions: [['trigger', 'mail']],
  })
  await track(core, projectId, 'signup')
  await runner.run()
  const [failed] = await listExecutions(core, id)
  assert.equal(failed?.status, 'FAILED')
  assert.equal(failed?.currentStepId, stepIds.mail)
  assert.equal(failed?.stepsDone, 1)
  const steps = await listSteps(core, failed?.number ?? 0)
  assert.equal(steps[1]?.error, 'the step has no template')
})

test('a step that is tried again keeps its id, and an execution comes to its end', async (t) => {
  const { core, projectId, runner, templateId } = await open(t)
  const { id, stepIds } = await buildWorkflow(core, {
    projectId,
    steps: { mail: { type: 'SEND_EMAIL' } },
    transitions: [['trigger', 'mail']],
  })
  await track(core, projectId, 'signup')
  await runner.run()
  const [failed] = await listExecutions(core, id)
  const [, before] = await listSteps(core, failed?.number ?? 0)
  await core.store.write(async (tx) => {
    await tx
      .update(workflowSteps)
      .set({ templateId })
      .where(eq(workflowSteps.id, stepIds.mail ?? ''))
    await tx.update(workflows).set({ version: 2 }).where(eq(workflows.id, id))
  })
  core.clock.now += MINUTE_MS
  await retryExecution(core, { projectId, id, executionId: failed?.id ?? '' })
  await runner.run()
  assert.equal((await listExecutions(core, id))[0]?.status, 'COMPLETED')
  const [, after] = await listSteps(core, failed?.number ?? 0)
  assert.equal(after?.id, before?.id)
  assert.deepEqual([after?.status, after?.error, after?.startedAt], ['COMPLETED', null, core.now()])
  const figures = await core.store.read
    .select()
    .from(workflowFigures)
    .where(eq(workflowFigures.subject, stepIds.mail ?? ''))
  const counts = Object.fromEntries(figures.map(({ figure, count }) => [figure, count]))
  assert.deepEqual([counts.failed, counts.completed], [0, 1])
})

test('marketing to an unsubscribed contact is a FAILED email, and the execution goes on', async (t) => {
  const { core, projectId, runner, templateId } = await open(t)
  const { id } = await buildWorkflow(core, {
    projectId,
    steps: { mail: { type: 'SEND_EMAIL', templateId } },
    transitions: [['trigger', 'mail']],
  })
  await track(core, projectId, 'signup', { subscribed: false })
  await runner.run()
  const [email] = await listEmails(core, projectId)
  assert.equal(email?.status, 'FAILED')
  assert.equal(email?.error, 'the contact has unsubscribed')
  assert.equal((await listExecutions(core, id))[0]?.status, 'COMPLETED')
  // The figures count executions: `GET /emails` has those of emails.
  const { steps } = await viewWorkflowStats(core, { projectId, id })
  const { completed, failed } = steps.find(({ type }) => type === 'SEND_EMAIL') ?? {}
  assert.deepEqual([completed, failed], [1, 0])
})

test('mail to a named address whose owner left, or that is suppressed, is a SKIPPED step', async (t) => {
  const { core, projectId, runner, templateId } = await open(t)
  const custom = { recipient: { type: 'CUSTOM', customEmail: 'boss@example.net' } }
  const { id } = await buildWorkflow(core, {
    projectId,
    allowsReentry: true,
    steps: { mail: { type: 'SEND_EMAIL', templateId, config: custom } },
    transitions: [['trigger', 'mail']],
  })
  const key = { projectId, address: 'boss@example.net' }
  let runs = 0
  const run = async (name: string) => {
    await track(core, projectId, 'signup', { address: address(`${name}@example.net`) })
    await runner.run()
    const executions = await listExecutions(core, id)
    runs += 1
    assert.equal(executions.length, runs)
    const number = executions.at(-1)?.number ?? 0
    const rows = await core.store.read
      .select({ status: workflowStepExecutions.status, error: workflowStepExecutions.error })
      .from(workflowStepExecutions)
      .where(eq(workflowStepExecutions.executionNumber, number))
      .orderBy(workflowStepExecutions.ordinal)
    return rows[1]
  }
  assert.equal((await run('ada'))?.status, 'COMPLETED')
  assert.equal((await run('boss'))?.status, 'COMPLETED')
  await core.store.write((tx) => recordWish(tx, { ...key, kind: 'page', at: START }))
  const left = 'the owner of boss@example.net has unsubscribed'
  for (const name of ['bob', 'boss']) {
    assert.deepEqual(await run(name), { status: 'SKIPPED', error: left }, name)
  }
  await core.store.write((tx) => clearWish(tx, key))
  await suppressAll(core, projectId, [key.address])
  const suppressed = 'boss@example.net is suppressed'
  for (const name of ['cid', 'boss']) {
    assert.deepEqual(await run(name), { status: 'SKIPPED', error: suppressed }, name)
  }
  assert.equal((await listEmails(core, projectId)).length, 2)
})

test('a fault of one execution ends it, and the others go on', async (t) => {
  const { core, projectId, runner } = await open(t)
  const { id } = await buildWorkflow(core, {
    projectId,
    steps: {
      check: {
        type: 'CONDITION',
        config: { field: 'contact.email', operator: 'equals', value: 'BOB@example.net' },
      },
      // A config that no version of the program writes.
      broken: { type: 'CONDITION' },
    },
    transitions: [
      ['trigger', 'check'],
      ['check', 'broken', { branch: 'yes' }],
    ],
  })
  for (const name of ['ada', 'bob', 'cid']) {
    await track(core, projectId, 'signup', { address: address(`${name}@example.net`) })
  }
  await runner.run()
  const executions = await listExecutions(core, id)
  const statuses = executions.map(({ status }) => status)
  assert.deepEqual(statuses, ['COMPLETED', 'FAILED', 'COMPLETED'])
  assert.deepEqual(await pathOf(core, executions[1]?.number ?? 0), [
    'trigger COMPLETED',
    'check COMPLETED',
    'broken FAILED',
  ])
})

test('S27: a SEND_EMAIL step beyond the limit of new projects fails, and can be retried later', async (t) => {
  const settings = { PILLARBOX_LIMITS__NEW_PROJECT_DAILY: '1' }
  const { core, projectId, runner, templateId } = await open(t, settings)
  const { id } = await buildWorkflow(core, {
    projectId,
    steps: { mail: { type: 'SEND_EMAIL', templateId } },
    transitions: [['trigger', 'mail']],
  })
  await track(core, projectId, 'signup')
  await track(core, projectId, 'signup', { address: address('eve@example.net') })
  await runner.run()
  const failed = (await listExecutions(core, id)).find(({ status }) => status === 'FAILED')
  assert.ok(failed)
  const step = (await listSteps(core, failed.number)).at(-1)
  const text = 'A new project may send 1 email in 24 hours, and this one has sent 1.'
  assert.equal(step?.error, text)
  assert.equal((await listEmails(core, projectId)).length, 1)
  core.clock.now = START + DAY_MS
  await retryExecution(core, { projectId, id, executionId: failed.id })
  await runner.run()
  assert.equal((await listEmails(core, projectId)).length, 2)
})

test('a SEND_EMAIL step beyond a limit by the month fails, and can be retried when it is raised', async (t) => {
  const { core, projectId, runner, templateId } = await open(t)
  const limit = (limitWorkflows: number | null) =>
    core.store.write(async (tx) => {
      await tx.update(projects).set({ limitWorkflows }).where(eq(projects.id, projectId))
      tx.afterCommit(core.directory.drop)
    })
  await limit(1)
  const { id } = await buildWorkflow(core, {
    projectId,
    steps: { mail: { type: 'SEND_EMAIL', templateId } },
    transitions: [['trigger', 'mail']],
  })
  // Recording an event is never refused.
  for (const name of ['ada', 'eve', 'bob']) {
    await track(core, projectId, 'signup', { address: address(`${name}@example.net`) })
  }
  await runner.run()
  const failed = (await listExecutions(core, id)).filter(({ status }) => status === 'FAILED')
  assert.equal(failed.length, 2)
  for (const { number } of failed) {
    const step = (await listSteps(core, number)).at(-1)
    const text = 'This project is limited to 1 email of workflows a month, and has used 1.'
    assert.equal(step?.error, text)
  }
  assert.equal((await listEmails(core, projectId)).length, 1)
  await limit(2)
  for (const { id: executionId } of failed) {
    await retryExecution(core, { projectId, id, executionId })
  }
  await runner.run()
  assert.equal((await listEmails(core, projectId)).length, 2)
  const [month, ...others] = await core.store.read.select().from(usageMonths)
  assert.deepEqual([month?.workflows, month?.transactional, others], [2, 0, []])
})

test('an email that a step may not send counts for no limit, and is not given back', async (t) => {
  const settings = { PILLARBOX_LIMITS__NEW_PROJECT_DAILY: '1' }
  const { core, projectId, runner, templateId } = await open(t, settings)
  await setColumns(core, projectId, { limitWorkflows: 1 })
  const { id } = await buildWorkflow(core, {
    projectId,
    steps: { mail: { type: 'SEND_EMAIL', templateId } },
    transitions: [['trigger', 'mail']],
  })
  await suppressAll(core, projectId, ['eve@example.net'])
  for (const name of ['eve', 'bob', 'cid', 'ada']) {
    await track(core, projectId, 'signup', { address: address(`${name}@example.net`) })
  }
  const isBob = eq(contacts.address, 'bob@example.net')
  await core.store.write((tx) => tx.update(contacts).set({ subscribed: false }).where(isBob))
  await runner.run()
  const statuses = (await listExecutions(core, id)).map(({ status }) => status)
  assert.deepEqual(statuses, ['COMPLETED', 'COMPLETED', 'COMPLETED', 'FAILED'])
  const states = (await listEmails(core, projectId)).map(({ state }) => state)
  assert.deepEqual(states, ['suppressed', 'failed', 'queued'])
  await assertExact(core, projectId, { workflows: 1 })
})

test('an execution of a disabled project is cancelled', async (t) => {
  const { core, projectId, runner } = await open(t)
  const { id } = await buildWorkflow(core, {
    projectId,
    steps: { nap: { type: 'DELAY', config: { amount: 1, unit: 'minutes' } } },
    transitions: [['trigger', 'nap']],
  })
  await track(core, projectId, 'signup')
  await runner.run()
  await core.store.write(async (tx) => {
    await tx.update(projects).set({ isDisabled: true }).where(eq(projects.id, projectId))
    tx.afterCommit(core.directory.drop)
  })
  core.clock.now = START + MINUTE_MS
  await runner.run()
  const [cancelled] = await listExecutions(core, id)
  assert.equal(cancelled?.status, 'CANCELLED')
  assert.equal(cancelled?.exitReason, 'Project disabled')
})

test('the executions of a deleted contact go with it', async (t) => {
  const { core, projectId, runner, templateId } = await open(t)
  const { id } = await buildWorkflow(core, { projectId, ...onboarding(templateId) })
  const { contact } = await track(core, projectId, 'signup')
  await runner.run()
  await deleteContact(core, { projectId, id: contact })
  core.clock.now = START + DAY_MS
  await runner.run()
  assert.deepEqual(await listExecutions(core, id), [])
  assert.deepEqual(await core.store.read.select().from(emails), [])
})

test('each event starts one execution, and an execution in the way holds the start back', async (t) => {
  const { core, projectId, runner } = await open(t)
  const nap: Record<string, StepSpec> = {
    nap: { type: 'DELAY', config: { amount: 1, unit: 'minutes' } },
  }
  const transitions: TransitionSpec[] = [['trigger', 'nap']]
  const once = await buildWorkflow(core, { projectId, steps: nap, transitions })
  const again = await buildWorkflow(core, {
    projectId,
    steps: nap,
    transitions,
    allowsReentry: true,
  })
  for (let times = 0; times < 3; times += 1) await track(core, projectId, 'signup')
  await runner.run()
  assert.equal((await listExecutions(core, once.id)).length, 1)
  assert.equal((await listExecutions(core, again.id)).length, 1)
  core.clock.now += MINUTE_MS
  await runner.run()
  await track(core, projectId, 'signup')
  await runner.run()
  assert.equal((await listExecutions(core, once.id)).length, 1)
  assert.equal((await listExecutions(core, again.id)).length, 2)
  const figures = await core.store.read
    .select()
    .from(workflowFigures)
    .where(eq(workflowFigures.figure, 'heldBack'))
  assert.equal(figures.find(({ workflowId }) => workflowId === once.id)?.count, 3)
  assert.equal(figures.find(({ workflowId }) => workflowId === again.id)?.count, 2)
})

test('S34: a workflow that feeds itself ends after five starts behind the first', async (t) => {
  const { core, projectId, runner } = await open(t)
  const { id } = await buildWorkflow(core, {
    projectId,
    event: 'workflow.completed',
    steps: { mark: { type: 'UPDATE_CONTACT', config: { updates: { seen: true } } } },
    transitions: [['trigger', 'mark']],
    allowsReentry: true,
  })
  const starter = await buildWorkflow(core, {
    projectId,
    steps: { out: { type: 'EXIT' } },
    transitions: [['trigger', 'out']],
  })
  await track(core, projectId, 'signup')
  await runner.run()
  const executions = await listExecutions(core, id)
  const statuses = Map.groupBy(executions, ({ status }) => status)
  assert.equal(statuses.get('COMPLETED')?.length, 5)
  assert.equal(statuses.get('CANCELLED')?.length, 1)
  assert.equal(statuses.get('CANCELLED')?.[0]?.exitReason, 'chain too deep')
  assert.equal((await listExecutions(core, starter.id)).length, 1)
})
