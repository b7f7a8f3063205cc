import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { startUrgentReader } from '../../../../../src/features/ground/events/readers.ts'
import { startEngine } from '../../../../../src/features/outreach/workflows/engine/engine.ts'
import { triggerHandler } from '../../../../../src/features/outreach/workflows/engine/follow-events.ts'
import { createGraphs } from '../../../../../src/features/outreach/workflows/engine/graphs.ts'
import {
  createRenderRoom,
  createStepValues,
} from '../../../../../src/features/outreach/workflows/engine/step-values.ts'
import { takeTurn } from '../../../../../src/features/outreach/workflows/engine/turn.ts'
import { recordEventByAddress } from '../../../../../src/features/people/contacts/events/contact-events.ts'
import { upsertContact } from '../../../../../src/features/people/contacts/write/contact-queue.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { projects } from '../../../../../src/store/schema/accounts.ts'
import { contacts } from '../../../../../src/store/schema/contacts.ts'
import { currentOwner } from '../../../../../src/turns/owner.ts'
import { addProject, address, openTestCore, type TestCore } from '../../../../core.ts'
import { eventually } from '../../../../e2e/program.ts'
import { createRunner } from './run-due.ts'
import {
  buildWorkflow,
  listExecutions,
  listSteps,
  pathOf,
  type StepSpec,
  type TransitionSpec,
} from './workflow-rows.ts'

const ADA = address('ada@example.net')

async function open(t: TestContext) {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const track = (event: string, data: object = {}) =>
    recordEventByAddress(core, { projectId, request: { event, address: ADA, data } })
  return { core, projectId, track }
}

const setting = (updates: object): StepSpec => ({ type: 'UPDATE_CONTACT', config: { updates } })

/** TRIGGER > set, and more steps. */
function build(core: TestCore, projectId: string, updates: object, more: Partial<Built> = {}) {
  const { steps = {}, transitions = [] } = more
  return buildWorkflow(core, {
    projectId,
    steps: { set: setting(updates), ...steps },
    transitions: [['trigger', 'set'], ...transitions],
  })
}
type Built = { steps: Record<string, StepSpec>; transitions: TransitionSpec[] }

async function dataOf(core: TestCore, contactAddress = ADA.address) {
  const { read } = core.store
  const row = await read.select().from(contacts).where(eq(contacts.address, contactAddress)).get()
  return row?.data
}

test('texts in values are templates, nested ones too; other values and keys are as given', async (t) => {
  const { core, projectId, track } = await open(t)
  const runner = await createRunner(core)
  t.after(runner.stop)
  const { id } = await build(core, projectId, {
    hello: 'Hello {{ name | upcase }}, {{ event.plan }}{{ plan }}',
    count: '{{ visits | plus: 1 }}',
    nothing: '{{ missing }}',
    '{{ name }}': 'key',
    nested: { list: ['{{ email }}', 5, null, '{% if subscribed %}yes{% endif %}'], plain: 'a {b}' },
    amount: 7,
  })
  await upsertContact(core, { projectId, address: ADA, data: { name: '<Ada> {{ x }}', visits: 4 } })
  await track('signup', { plan: 'pro' })
  await runner.run()
  const { name, visits, plan, ...set } = (await dataOf(core)) ?? {}
  assert.deepEqual([name, visits, plan], ['<Ada> {{ x }}', 4, 'pro'])
  assert.deepEqual(set, {
    hello: 'Hello <ADA> {{ X }}, propro',
    count: '5',
    nothing: '',
    '{{ name }}': 'key',
    nested: { list: ['ada@example.net', 5, null, 'yes'], plain: 'a {b}' },
    amount: 7,
  })
  const [execution] = await listExecutions(core, id)
  assert.ok(execution)
  assert.deepEqual(await pathOf(core, execution.number), ['trigger COMPLETED', 'set COMPLETED'])
  const [, step] = await listSteps(core, execution.number)
  const { updates } = (step?.output ?? {}) as { updates: Record<string, unknown> }
  assert.equal(updates.hello, 'Hello <ADA> {{ X }}, propro')
})

test('a value may print the postal address of the project', async (t) => {
  const { core, projectId, track } = await open(t)
  await core.store.write((tx) => tx.update(projects).set({ postalAddress: '1 Main Street, Ghent' }))
  core.directory.drop()
  const runner = await createRunner(core)
  t.after(runner.stop)
  await build(core, projectId, { from: '{{ postalAddress }}' })
  await track('signup')
  await runner.run()
  assert.equal((await dataOf(core))?.from, '1 Main Street, Ghent')
})

test('a value sees what the steps before have set', async (t) => {
  const { core, projectId, track } = await open(t)
  const runner = await createRunner(core)
  t.after(runner.stop)
  await build(
    core,
    projectId,
    { one: 'a{{ event.x }}' },
    { steps: { two: setting({ two: '{{ one }}b' }) }, transitions: [['set', 'two']] },
  )
  await track('signup', { x: 'X' })
  await runner.run()
  assert.deepEqual(await dataOf(core), { x: 'X', one: 'aX', two: 'aXb' })
})

test('a change of the contact while the values are rendered is not lost', async (t) => {
  const { core, projectId, track } = await open(t)
  const runner = await createRunner(core)
  t.after(runner.stop)
  await build(core, projectId, { visits: '{{ visits | plus: 1 }}' })
  await upsertContact(core, { projectId, address: ADA, data: { visits: 1 } })
  const { renderTexts } = core.outbound
  let renders = 0
  const counting: typeof renderTexts = async (source) => {
    renders += 1
    const texts = await renderTexts(source)
    if (renders === 1) await upsertContact(core, { projectId, address: ADA, data: { visits: 10 } })
    return texts
  }
  Object.assign(core.outbound, { renderTexts: counting })
  await track('signup')
  await runner.run()
  assert.deepEqual([await dataOf(core), renders], [{ visits: '11' }, 2])
})

test('an event that comes while the values are rendered ends the wait behind the step', async (t) => {
  const { core, projectId, track } = await open(t)
  const runner = await createRunner(core)
  t.after(runner.stop)
  const { id } = await build(
    core,
    projectId,
    { hello: '{{ email }}' },
    {
      steps: { wait: { type: 'WAIT_FOR_EVENT', config: { eventName: 'paid' } } },
      transitions: [['set', 'wait']],
    },
  )
  const { renderTexts } = core.outbound
  const late: typeof renderTexts = async (source) => {
    await track('paid')
    return renderTexts(source)
  }
  Object.assign(core.outbound, { renderTexts: late })
  await track('signup')
  await runner.run()
  const [execution] = await listExecutions(core, id)
  assert.equal(execution?.status, 'COMPLETED')
})

test('templates that take too long, and values that become too large, fail their step', async (t) => {
  for (const [texts, error] of [
    ['too heavy', /too much time or memory/],
    [['x'.repeat(70_000)], /larger than 65536 bytes/],
  ] as const) {
    const { core, projectId, track } = await open(t)
    const runner = await createRunner(core)
    t.after(runner.stop)
    const { id } = await build(core, projectId, { big: '{{ x }}' })
    Object.assign(core.outbound, { renderTexts: async () => texts })
    await track('signup')
    await runner.run()
    const [execution] = await listExecutions(core, id)
    assert.equal(execution?.status, 'FAILED')
    const [, step] = await listSteps(core, execution.number)
    assert.match(step?.error ?? '', error)
    assert.equal(await dataOf(core), null)
  }
})

test('the engine renders in the turn of the project, and other workflows go on meanwhile', async (t) => {
  const { core, projectId, track } = await open(t)
  const slow = Promise.withResolvers<void>()
  const owners: object[] = []
  const { renderTexts } = core.outbound
  const waiting: typeof renderTexts = async (source) => {
    owners.push(currentOwner())
    await slow.promise
    return renderTexts(source)
  }
  Object.assign(core.outbound, { renderTexts: waiting })
  const ids: string[] = []
  for (let n = 0; n < 6; n += 1) {
    ids.push((await build(core, projectId, { [`k${n}`]: '{{ email }}' })).id)
  }
  const plain = await build(core, projectId, { plain: true })
  const triggers = startUrgentReader(core, [triggerHandler(core)])
  await triggers.caughtUp()
  await track('signup')
  await triggers.caughtUp()
  await triggers.stop()
  const engine = await startEngine(core)
  t.after(engine.stop)
  const isCompleted = async (id: string) =>
    (await listExecutions(core, id))[0]?.status === 'COMPLETED' ? true : undefined
  await eventually(() => isCompleted(plain.id))
  await eventually(() => (owners.length === 6 ? true : undefined))
  assert.deepEqual(owners[0], { key: projectId, isJob: true })
  assert.equal(await isCompleted(ids[0] ?? ''), undefined)
  slow.resolve()
  for (const id of ids) await eventually(() => isCompleted(id))
  assert.equal(Object.keys((await dataOf(core)) ?? {}).length, 7)
})

test('the engine stops while values are rendered, and the next one makes the step', async (t) => {
  const { core, projectId, track } = await open(t)
  const { id } = await build(core, projectId, { hello: '{{ email }}' })
  const { renderTexts } = core.outbound
  const asked = Promise.withResolvers<void>()
  const never = Promise.withResolvers<never>()
  Object.assign(core.outbound, {
    renderTexts: () => {
      asked.resolve()
      return never.promise
    },
  })
  const triggers = startUrgentReader(core, [triggerHandler(core)])
  await triggers.caughtUp()
  await track('signup')
  await triggers.caughtUp()
  await triggers.stop()
  const engine = await startEngine(core)
  await asked.promise
  await engine.stop()
  assert.equal(await dataOf(core), null)
  Object.assign(core.outbound, { renderTexts })
  const next = await startEngine(core)
  t.after(next.stop)
  await eventually(async () =>
    (await listExecutions(core, id))[0]?.status === 'COMPLETED' ? true : undefined,
  )
  assert.deepEqual(await dataOf(core), { hello: 'ada@example.net' })
})

test('workflows without room for what they ask for wait for others, and all are done in the end', async (t) => {
  const { core, projectId, track } = await open(t)
  const room = createRenderRoom({ perProject: 1, all: 10_000_000 })
  const values = createStepValues(core, room)
  const { renderTexts } = core.outbound
  let rendering = 0
  const counting: typeof renderTexts = async (source) => {
    rendering += 1
    return renderTexts(source)
  }
  Object.assign(core.outbound, { renderTexts: counting })
  const built = []
  for (const key of ['one', 'two', 'three']) {
    built.push((await build(core, projectId, { [key]: '{{ email }}' })).id)
  }
  const triggers = startUrgentReader(core, [triggerHandler(core)])
  t.after(triggers.stop)
  await triggers.caughtUp()
  await track('signup')
  await triggers.caughtUp()
  const deps = { ...core, graphs: createGraphs(), values }
  const turn = (workflowId = '') =>
    takeTurn(deps, { workflowId, projectId }, { limit: 10, isHeavy: true })
  const first = await turn(built[0])
  const [second, third] = [await turn(built[1]), await turn(built[2])]
  assert.deepEqual([first.walked, second.walked, third.walked], [1, 0, 0])
  await first.rendering
  assert.equal(rendering, 1)
  // Each lets the next one go on.
  for (const [index, waiting] of [second, third, undefined].entries()) {
    assert.equal((await turn(built[index])).walked, 1)
    if (waiting === undefined) break
    assert.equal(await waiting.rendering, true)
    await (await turn(built[index + 1])).rendering
  }
  const data = await dataOf(core)
  assert.deepEqual(data, { one: ADA.address, two: ADA.address, three: ADA.address })
})

test('F10: other work runs while the size of large values is counted, and no other workflow has room', async () => {
  const key = { workflowId: 'a', projectId: 'p' }
  const room = createRenderRoom()
  const facts = {
    log: { warn: () => undefined },
    directory: { findProject: async () => undefined },
  }
  const values = createStepValues(facts as unknown as Parameters<typeof createStepValues>[0], room)
  const contact = {
    id: 'c',
    address: ADA.address,
    subscribed: true,
    data: { a: 'x'.repeat(64_000) },
  }
  const asked = Array.from({ length: 50 }, (_, executionNumber) => ({
    ...{ executionNumber, ordinal: 1, eventSeq: null, contact },
    ...{ context: { b: 'y'.repeat(64_000) }, values: {} },
  }))
  let [turns, crowded] = [0, 0]
  const count = (): void => {
    turns += 1
    if (!room.has({ workflowId: 'b', projectId: 'q' })) crowded += 1
    next = setImmediate(count)
  }
  let next = setImmediate(count)
  await values.render(key, asked)
  clearImmediate(next)
  assert.ok(turns >= 20, `${turns} turns`)
  assert.ok(crowded >= 20, `${crowded} turns without room`)
  assert.equal(room.has({ workflowId: 'b', projectId: 'q' }), true)
})
