import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOUR_MS, MINUTE_MS } from '../../../../../src/base/clock.ts'
import { loadStartable } from '../../../../../src/features/outreach/workflows/executions/find.ts'
import {
  MAX_STARTS_PER_HOUR,
  startExecution,
} from '../../../../../src/features/outreach/workflows/executions/start.ts'
import type { WorkflowNotice } from '../../../../../src/features/outreach/workflows/notifier.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { events } from '../../../../../src/store/schema/events.ts'
import { workflowExecutions } from '../../../../../src/store/schema/workflows.ts'
import { addExecution } from '../add-workflow.ts'
import { executionsOf, figuresOf, openStage, type Stage } from './stage.ts'

type Source = { id: string; seq: number } | null

const start = ({ core, key, people }: Stage, source: Source = null) =>
  core.store.write(async (tx) => {
    const workflow = await loadStartable(tx, key)
    const contactId = people[0] ?? ''
    const given = { contactId, context: { a: 1 }, source, depth: 0, at: core.now() }
    return startExecution(core, tx, { workflow, start: given })
  })

const end = ({ core }: Stage) =>
  core.store.write(async (tx) => {
    await tx.update(workflowExecutions).set({ status: 'COMPLETED', dueAt: null }).run()
  })

test('a start makes an execution that is due, an event, and a notice', async (t) => {
  const stage = await openStage(t)
  const { core, workflow, key } = stage
  const notices: WorkflowNotice[] = []
  core.workflowNotifier.listen((notice) => notices.push(notice))
  const outcome = await start(stage, { id: 'e', seq: 7 })
  const [row] = await executionsOf(stage)
  assert.deepEqual(outcome, { kind: 'started', id: row?.id })
  assert.deepEqual(
    [row?.status, row?.currentStepId, row?.dueAt, row?.context, row?.sourceEventSeq],
    ['RUNNING', workflow.steps.TRIGGER, 0, { a: 1 }, 7],
  )
  const [event, ...others] = await core.store.read.select().from(events).all()
  assert.equal(event?.name, 'workflow.started')
  assert.equal(others.length, 0)
  const due = { workflowId: key.id, projectId: key.projectId, dueAt: 0 }
  assert.deepEqual(notices, [{ kind: 'due', ...due }])
})

test('without re-entry any earlier execution holds a start back', async (t) => {
  const stage = await openStage(t)
  await start(stage)
  assert.deepEqual(await start(stage), { kind: 'held back', status: 'RUNNING' })
  await end(stage)
  assert.deepEqual(await start(stage), { kind: 'held back', status: 'COMPLETED' })
  assert.equal((await executionsOf(stage)).length, 1)
  assert.deepEqual(await figuresOf(stage), { heldBack: 2 })
})

test('with re-entry only an active execution holds a start back', async (t) => {
  const stage = await openStage(t, { allowsReentry: true })
  await start(stage)
  assert.deepEqual(await start(stage), { kind: 'held back', status: 'RUNNING' })
  await end(stage)
  assert.equal((await start(stage)).kind, 'started')
  assert.equal((await executionsOf(stage)).length, 2)
})

test('an active execution that was cancelled with all others does not stand in the way', async (t) => {
  const stage = await openStage(t, { allowsReentry: true, cancelledThrough: 1, cancelReason: 'no' })
  const { core, key, workflow, people } = stage
  await addExecution(core, {
    ...{ projectId: key.projectId, workflowId: key.id, contactId: people[0] ?? '' },
    ...{ status: 'WAITING', steps: [{ stepId: workflow.steps.DELAY ?? '', status: 'WAITING' }] },
  })
  assert.equal((await start(stage)).kind, 'started')
  const [first, second] = await executionsOf(stage)
  assert.deepEqual([first?.status, first?.exitReason], ['CANCELLED', 'no'])
  assert.equal(second?.status, 'RUNNING')
  assert.deepEqual(await figuresOf(stage), { [`${workflow.steps.DELAY} skipped`]: 1 })
})

test('an event that has started an execution starts no second one', async (t) => {
  const stage = await openStage(t, { allowsReentry: true })
  await start(stage, { id: 'e', seq: 7 })
  await end(stage)
  assert.deepEqual(await start(stage, { id: 'e', seq: 7 }), {
    kind: 'held back',
    status: 'COMPLETED',
  })
  assert.equal((await executionsOf(stage)).length, 1)
  assert.equal((await stage.core.store.read.select().from(events).all()).length, 1)
})

test('over 100 starts an hour one cancelled execution says so, and the others are counted', async (t) => {
  const stage = await openStage(t, { allowsReentry: true })
  const { core } = stage
  for (let each = 0; each < MAX_STARTS_PER_HOUR; each += 1) {
    assert.equal((await start(stage)).kind, 'started')
    await end(stage)
  }
  for (let each = 0; each < 3; each += 1) {
    assert.deepEqual(await start(stage), { kind: 'too many' })
  }
  const cancelled = (await executionsOf(stage)).filter(({ status }) => status === 'CANCELLED')
  assert.deepEqual(
    cancelled.map(({ exitReason, dueAt, completedAt }) => [exitReason, dueAt, completedAt]),
    [['too many starts', null, core.now()]],
  )
  assert.deepEqual(await figuresOf(stage), { tooManyStarts: 2 })
  core.clock.now += HOUR_MS
  assert.equal((await start(stage)).kind, 'started')
})

test('starts that a wrong clock put into the future do not count', async (t) => {
  const stage = await openStage(t, { allowsReentry: true })
  const { core } = stage
  core.clock.now += 24 * HOUR_MS
  for (let each = 0; each < MAX_STARTS_PER_HOUR; each += 1) {
    await start(stage)
    await end(stage)
  }
  core.clock.now -= 24 * HOUR_MS
  assert.equal((await start(stage)).kind, 'started')
  await end(stage)
  core.clock.now += 24 * HOUR_MS + MINUTE_MS
  assert.equal((await start(stage)).kind, 'too many')
})

test('the starts of another contact and another workflow do not count', async (t) => {
  const stage = await openStage(t, { people: 2 })
  await start(stage)
  const [, other = ''] = stage.people
  assert.equal((await start({ ...stage, people: [other] })).kind, 'started')
  const rows = await stage.core.store.read
    .select()
    .from(workflowExecutions)
    .where(eq(workflowExecutions.contactId, other))
    .all()
  assert.equal(rows.length, 1)
})
