import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadStartable } from '../../../../../src/features/outreach/workflows/executions/find.ts'
import { startExecutions } from '../../../../../src/features/outreach/workflows/executions/start-executions.ts'
import type { WorkflowNotice } from '../../../../../src/features/outreach/workflows/notifier.ts'
import { events } from '../../../../../src/store/schema/events.ts'
import { executionsOf, figuresOf, openStage, type Stage } from './stage.ts'

/** `given`: contacts by their index, each with the number of its event. */
const startAll = (
  { core, key, people }: Stage,
  given: readonly { person: number; seq: number; depth?: number }[],
) =>
  core.store.write(async (tx) => {
    const workflow = await loadStartable(tx, key)
    const wanted = given.map(({ person, seq, depth = 0 }) => {
      const source = { id: `event ${seq}`, seq }
      const contactId = people[person] ?? ''
      return { workflow, start: { contactId, context: null, source, depth, at: core.now() } }
    })
    return startExecutions(core, tx, wanted)
  })

test('contacts start in the order of their events, with an event each', async (t) => {
  const stage = await openStage(t, { people: 4 })
  const { core, people } = stage
  await startAll(stage, [{ person: 2, seq: 1 }])
  const notices: WorkflowNotice[] = []
  core.workflowNotifier.listen((notice) => notices.push(notice))
  const outcomes = await startAll(stage, [
    { person: 3, seq: 2 },
    { person: 2, seq: 3 },
    { person: 0, seq: 4 },
    { person: 1, seq: 5 },
  ])
  const kinds = ['started', 'held back', 'started', 'started']
  assert.deepEqual(
    outcomes.map(({ kind }) => kind),
    kinds,
  )
  const rows = await executionsOf(stage)
  const order = [2, 3, 0, 1].map((person) => people[person])
  assert.deepEqual(
    rows.map(({ contactId }) => contactId),
    order,
  )
  const made = await core.store.read.select().from(events).orderBy(events.seq).all()
  assert.deepEqual(
    made.map(({ contactId }) => contactId),
    order,
  )
  assert.equal(notices.length, 2, 'one for each run of starts')
  assert.deepEqual(await figuresOf(stage), { heldBack: 1 })
})

test('two events of a contact start one execution, and an event that comes again none', async (t) => {
  const stage = await openStage(t, { people: 2 })
  const both = [
    { person: 0, seq: 1 },
    { person: 0, seq: 2 },
    { person: 1, seq: 1 },
  ]
  const first = await startAll(stage, both)
  assert.deepEqual(
    first.map(({ kind }) => kind),
    ['started', 'held back', 'held back'],
  )
  const again = await startAll(stage, both)
  assert.ok(again.every(({ kind }) => kind === 'held back'))
  assert.equal((await executionsOf(stage)).length, 1)
  assert.equal((await stage.core.store.read.select().from(events).all()).length, 1)
})

test('starts of chains wait, and those too deep are refused', async (t) => {
  const stage = await openStage(t, { people: 3 })
  const outcomes = await startAll(stage, [
    { person: 0, seq: 1, depth: 1 },
    { person: 1, seq: 2, depth: 99 },
    { person: 2, seq: 3 },
  ])
  assert.deepEqual(
    outcomes.map(({ kind }) => kind),
    ['started', 'too deep', 'started'],
  )
  const rows = await executionsOf(stage)
  assert.deepEqual(
    rows.map(({ status }) => status),
    ['WAITING', 'CANCELLED', 'RUNNING'],
  )
})
