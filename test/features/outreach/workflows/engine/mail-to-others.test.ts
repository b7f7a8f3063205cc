/** Opens and clicks by somebody to whom a step wrote instead of the contact. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { MINUTE_MS } from '../../../../../src/base/clock.ts'
import type { Condition } from '../../../../../src/features/ground/conditions/condition.ts'
import { createTemplate } from '../../../../../src/features/mail/templates/templates.ts'
import { type Hit, recordHits } from '../../../../../src/features/mail/tracking/record-hits.ts'
import { listDueWorkflows } from '../../../../../src/features/outreach/workflows/engine/due.ts'
import { createGraphs } from '../../../../../src/features/outreach/workflows/engine/graphs.ts'
import { createStepValues } from '../../../../../src/features/outreach/workflows/engine/step-values.ts'
import { takeTurn } from '../../../../../src/features/outreach/workflows/engine/turn.ts'
import { recordEventByAddress } from '../../../../../src/features/people/contacts/events/contact-events.ts'
import { updateContact } from '../../../../../src/features/people/contacts/write/update.ts'
import { eq, sql } from '../../../../../src/store/drizzle.ts'
import { events } from '../../../../../src/store/schema/events.ts'
import { emails } from '../../../../../src/store/schema/messages.ts'
import { addProject, address, openTestCore, trustDomain } from '../../../../core.ts'
import { choose } from '../../../ground/conditions/population.ts'
import { createRunner } from './run-due.ts'
import {
  buildWorkflow,
  listEmails,
  listExecutions,
  pathOf,
  type StepSpec,
  type TransitionSpec,
} from './workflow-rows.ts'

const READER = 'ada@example.net'
const TO_OTHER = { recipient: { type: 'CUSTOM', customEmail: 'boss@example.net' } }

type Steps = { steps: Record<string, StepSpec>; transitions: TransitionSpec[] }

/** Mail, a wait for its click, and what the contact has done according to a condition. */
function waiting(templateId: string, { to, wait, check }: Record<string, object>): Steps {
  const condition = { field: 'email.opened', operator: 'exists', value: true }
  return {
    steps: {
      mail: { type: 'SEND_EMAIL', templateId, config: to },
      wait: { type: 'WAIT_FOR_EVENT', config: { timeout: 3600, ...wait } },
      check: { type: 'CONDITION', config: { ...condition, ...check } },
      yes: { type: 'EXIT', config: { reason: 'yes' } },
      no: { type: 'EXIT', config: { reason: 'no' } },
      late: { type: 'EXIT', config: { reason: 'late' } },
    },
    transitions: [
      ['trigger', 'mail'],
      ['mail', 'wait'],
      ['wait', 'check', { wait: 'EVENT' }],
      ['wait', 'late', { wait: 'TIMEOUT' }],
      ['check', 'yes', { branch: 'yes' }],
      ['check', 'no', { branch: 'no' }],
    ],
  }
}

async function begin(t: TestContext, config: Record<string, object>) {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  await trustDomain(core, projectId, 'shop.test')
  const runner = await createRunner(core)
  t.after(runner.stop)
  const { id: templateId } = await createTemplate(core, {
    ...{ projectId, name: 'Ask', subject: 'Approve', body: '<p>Hi</p>', type: 'TRANSACTIONAL' },
    from: address('hello@shop.test'),
  })
  const { id } = await buildWorkflow(core, { projectId, ...waiting(templateId, config) })
  const nap = { nap: { type: 'DELAY', config: { amount: 1, unit: 'days' } } } as const
  const started = await Promise.all(
    ['email.open', 'email.click'].map((event) =>
      buildWorkflow(core, { projectId, event, steps: nap, transitions: [['trigger', 'nap']] }),
    ),
  )
  const request = { event: 'signup', address: address(READER) }
  await recordEventByAddress(core, { projectId, request })
  await runner.run()
  const [email] = await listEmails(core, projectId)
  const emailId = email?.id ?? ''
  const hit = (type: 'open' | 'click') => {
    const link = 'https://shop.test/yes'
    const made = { emailId, at: core.now(), isMachine: false, ...{ type, link } } as Hit
    return core.store.write((tx) => recordHits(core, tx, [made]))
  }
  const path = async () => pathOf(core, (await listExecutions(core, id))[0]?.number ?? 0)
  const starts = async () => {
    const lists = await Promise.all(started.map((each) => listExecutions(core, each.id)))
    return lists.map(({ length }) => length)
  }
  return { core, projectId, runner, emailId, hit, path, starts }
}

const BY_STEP = {
  wait: { eventName: 'email.clicked', stepId: 'mail' },
  check: { stepId: 'mail' },
}
const BY_CONTACT = { wait: { eventName: 'email.clicked' }, check: {} }

test('are not those of the contact: no segment, trigger, wait or condition sees them', async (t) => {
  const { core, projectId, runner, emailId, hit, path, starts } = await begin(t, {
    ...BY_CONTACT,
    to: TO_OTHER,
  })
  await hit('open')
  await hit('click')
  await runner.run()
  assert.deepEqual((await path()).slice(-1), ['wait WAITING'])
  assert.deepEqual(await starts(), [0, 0])
  const rows = await core.store.read.select().from(events).where(eq(events.emailId, emailId))
  const hits = rows.filter(({ name }) => ['email.open', 'email.click'].includes(name))
  assert.deepEqual(
    hits.map(({ name, contactId }) => [name, contactId]),
    [
      ['email.open', null],
      ['email.click', null],
    ],
  )
  const [email] = await core.store.read.select().from(emails).where(eq(emails.id, emailId))
  assert.deepEqual([email?.opens, email?.clicks], [1, 1])
  for (const field of ['email.opened', 'email.clicked']) {
    const filters = [{ field, operator: 'triggered' }]
    const condition = { logic: 'AND', groups: [{ filters }] } as Condition
    assert.deepEqual((await choose(core, { projectId, condition })).ids, [], field)
  }
  core.clock.now += 61 * MINUTE_MS
  await runner.run()
  assert.deepEqual((await path()).slice(-2), ['wait COMPLETED', 'late COMPLETED'])
})

test('end a wait for the email of a step, and answer a condition about that email', async (t) => {
  const { runner, hit, path, starts } = await begin(t, { ...BY_STEP, to: TO_OTHER })
  await hit('open')
  await runner.run()
  assert.deepEqual((await path()).slice(-1), ['wait WAITING'])
  await hit('click')
  await runner.run()
  assert.deepEqual((await path()).slice(-3), ['wait COMPLETED', 'check COMPLETED', 'yes COMPLETED'])
  assert.deepEqual(await starts(), [0, 0])
})

test('end that wait although its time is over when they are found', async (t) => {
  const { core, runner, hit, path } = await begin(t, { ...BY_STEP, to: TO_OTHER })
  await runner.stop()
  await hit('click')
  core.clock.now += 61 * MINUTE_MS
  const deps = { ...core, graphs: createGraphs(), values: createStepValues(core) }
  for (const key of await listDueWorkflows(core.store.read))
    await takeTurn(deps, key, { limit: 50, isHeavy: true })
  assert.ok((await path()).includes('check COMPLETED'), (await path()).join())
})

test('are those of the contact when the step wrote to the contact', async (t) => {
  for (const to of [{}, { recipient: { type: 'CUSTOM', customEmail: READER } }]) {
    const { runner, hit, path, starts } = await begin(t, { ...BY_CONTACT, to })
    await hit('open')
    await hit('click')
    await runner.run()
    assert.deepEqual((await path()).slice(-1), ['yes COMPLETED'])
    assert.deepEqual(await starts(), [1, 1])
  }
})

const OWNERS: [who: string, to: object, isChanged: boolean][] = [
  ['another', TO_OTHER, false],
  ['another', TO_OTHER, true],
  ['the contact', {}, false],
  ['the contact', {}, true],
]

for (const [who, to, isChanged] of OWNERS) {
  const when = isChanged ? ', and the contact has a new address' : ''
  test(`stay those of ${who} once the snapshot of the email is gone${when}`, async (t) => {
    const { core, projectId, emailId, hit } = await begin(t, { ...BY_CONTACT, to })
    await core.store.write((tx) => tx.update(emails).set({ variables: null }).run())
    const [email] = await core.store.read.select().from(emails).where(eq(emails.id, emailId))
    const id = email?.contactId ?? ''
    if (isChanged)
      await updateContact(core, { projectId, id }, { address: address('ada@new.test') })
    await hit('open')
    const rows = await core.store.read
      .select()
      .from(events)
      .where(sql`${events.emailId} = ${emailId} and ${events.name} = 'email.open'`)
    assert.deepEqual(
      rows.map(({ contactId }) => contactId),
      [who === 'another' ? null : id],
    )
  })
}
