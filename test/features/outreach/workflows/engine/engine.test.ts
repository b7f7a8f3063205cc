import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { DAY_MS } from '../../../../../src/base/clock.ts'
import { appendEvent } from '../../../../../src/features/ground/events/append.ts'
import { startUrgentReader } from '../../../../../src/features/ground/events/readers.ts'
import { startEngine } from '../../../../../src/features/outreach/workflows/engine/engine.ts'
import { triggerHandler } from '../../../../../src/features/outreach/workflows/engine/follow-events.ts'
import { recordEventByAddress } from '../../../../../src/features/people/contacts/events/contact-events.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { workflowExecutions } from '../../../../../src/store/schema/workflows.ts'
import { addProject, address, openTestCore, START, type TestCore } from '../../../../core.ts'
import { eventually } from '../../../../e2e/program.ts'
import { createRunner } from './run-due.ts'
import {
  buildWorkflow,
  listExecutions,
  type StepSpec,
  type TransitionSpec,
} from './workflow-rows.ts'

async function open(t: TestContext) {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  return { core, projectId }
}

function track(core: TestCore, projectId: string, event: string, email: string) {
  return recordEventByAddress(core, { projectId, request: { event, address: address(email) } })
}

const NAP: { steps: Record<string, StepSpec>; transitions: TransitionSpec[] } = {
  steps: { nap: { type: 'DELAY', config: { amount: 1, unit: 'days' } } },
  transitions: [['trigger', 'nap']],
}

const isEach = async (core: TestCore, workflowId: string, status: string, count: number) => {
  const executions = await listExecutions(core, workflowId)
  return executions.filter((each) => each.status === status).length === count ? true : undefined
}

test('the engine goes on with what a server before it left, and wakes when a time comes', async (t) => {
  const { core, projectId } = await open(t)
  const { id } = await buildWorkflow(core, { projectId, ...NAP })
  const triggers = startUrgentReader(core, [triggerHandler(core)])
  await triggers.caughtUp()
  await track(core, projectId, 'signup', 'ada@example.net')
  await triggers.caughtUp()
  await triggers.stop()
  const engine = await startEngine(core)
  t.after(engine.stop)
  await eventually(() => isEach(core, id, 'WAITING', 1))
  core.clock.now = START + DAY_MS
  // As the timer does, which a clock of the test does not wake.
  core.workflowNotifier.notify({ kind: 'due', workflowId: id, projectId, dueAt: START + DAY_MS })
  await eventually(() => isEach(core, id, 'COMPLETED', 1))
  assert.equal((await listExecutions(core, id))[0]?.completedAt, START + DAY_MS)
})

test('many executions that are due at once hold up no other project and no other workflow', async (t) => {
  const { core, projectId } = await open(t)
  const { id: otherProject } = await addProject(core, 'Other')
  const big = await buildWorkflow(core, { projectId, event: 'big', ...NAP })
  const small = await buildWorkflow(core, { projectId, event: 'small', ...NAP })
  const other = await buildWorkflow(core, { projectId: otherProject, event: 'small', ...NAP })
  const runner = await createRunner(core)
  t.after(runner.stop)
  const names = Array.from({ length: 300 }, (_, index) => `p${index}@example.net`)
  await Promise.all(names.map((name) => track(core, projectId, 'big', name)))
  await track(core, projectId, 'small', 'ada@example.net')
  await track(core, otherProject, 'small', 'ada@example.net')
  await runner.run()
  core.clock.now = START + DAY_MS
  const engine = await startEngine(core)
  t.after(engine.stop)
  for (const workflow of [small, other]) {
    await eventually(() => isEach(core, workflow.id, 'COMPLETED', 1))
  }
  const done = (await listExecutions(core, big.id)).filter(({ status }) => status === 'COMPLETED')
  assert.ok(done.length < 300, `${done.length} of the others were first`)
  await eventually(() => isEach(core, big.id, 'COMPLETED', 300))
})

test('S12: a workflow that mails an address which mails back is stopped', async (t) => {
  const { core, projectId } = await open(t)
  const { id } = await buildWorkflow(core, {
    projectId,
    event: 'email.received',
    steps: { mark: { type: 'UPDATE_CONTACT', config: { updates: { wrote: true } } } },
    transitions: [['trigger', 'mark']],
    allowsReentry: true,
  })
  const runner = await createRunner(core)
  t.after(runner.stop)
  const { contact } = await track(core, projectId, 'hello', 'loop@example.net')
  const answer = {
    projectId,
    name: 'email.received',
    contactId: contact,
    emailId: null,
    data: null,
  }
  for (let round = 0; round < 110; round += 1) {
    core.clock.now += 1_000
    await core.store.write((tx) => appendEvent(tx, { ...answer, at: core.now() }))
    await runner.run()
  }
  const executions = await listExecutions(core, id)
  assert.equal(executions.length, 101)
  assert.deepEqual(
    executions.slice(99).map(({ status, exitReason }) => [status, exitReason]),
    [
      ['COMPLETED', null],
      ['CANCELLED', 'too many starts'],
    ],
  )
})

test('executions rest while the disk is nearly full, and go on when there is space', async (t) => {
  const { core, projectId } = await open(t)
  const { id } = await buildWorkflow(core, { projectId, ...NAP })
  const runner = await createRunner(core)
  await track(core, projectId, 'signup', 'ada@example.net')
  await runner.run()
  await runner.stop()
  core.clock.now = START + DAY_MS
  let isLow = true
  const disk = { ...core.disk, isLow: () => isLow }
  const engine = await startEngine({ ...core, disk })
  t.after(engine.stop)
  assert.equal(await isEach(core, id, 'WAITING', 1), true)
  isLow = false
  core.clock.now += 1_000
  await eventually(() => isEach(core, id, 'COMPLETED', 1))
  const [row] = await core.store.read
    .select()
    .from(workflowExecutions)
    .where(eq(workflowExecutions.workflowId, id))
  assert.equal(row?.stepsDone, 2)
})
