import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createAnalyticsAnswers } from '../../../../src/features/insight/analytics/answers.ts'
import { currentOwner, runFor } from '../../../../src/turns/owner.ts'
import { openTestCore, START } from '../../../core.ts'
import { fakeClient } from '../../../turns/fake-client.ts'
import { setComplete } from './add-counts.ts'

type Query = { projectId: string; size?: number }

const SHOP = { id: 'shop', updatedAt: 1 }

/** A call that counts how often it is asked for. */
async function openAnswers(t: TestContext) {
  const core = await openTestCore(t)
  const asked: string[] = []
  const gates: Promise<void>[] = []
  const failures: Error[] = []
  const ask = createAnalyticsAnswers(core, async (_, { projectId, size = 1 }: Query) => {
    asked.push(projectId)
    await gates.shift()
    const failure = failures.shift()
    if (failure !== undefined) throw failure
    return { projectId, number: asked.length, text: 'x'.repeat(size) }
  })
  const numberOf = async (query: Omit<Query, 'projectId'> = {}, project = SHOP) =>
    (await ask(project, query)).value.number
  return { core, ask, asked, gates, failures, numberOf }
}

test('an answer is kept for a minute, for its project and query only', async (t) => {
  const { core, numberOf } = await openAnswers(t)
  assert.equal(await numberOf(), 1)
  assert.equal(await numberOf(), 1)
  assert.equal(await numberOf({ size: 2 }), 2)
  assert.equal(await numberOf({}, { id: 'other', updatedAt: 1 }), 3)
  assert.equal(await numberOf({}, { id: 'shop', updatedAt: 2 }), 4, 'the project was changed')
  core.clock.now = START + 59_999
  assert.equal(await numberOf(), 1)
  core.clock.now = START + 60_000
  assert.equal(await numberOf(), 5)
  core.clock.now = START
  assert.equal(await numberOf(), 6, 'the clock was put back')
})

test('requests at the same time share one query, but not with another project', async (t) => {
  const { ask, asked, gates } = await openAnswers(t)
  const { promise, resolve } = Promise.withResolvers<void>()
  gates.push(promise)
  const answers = [SHOP, SHOP, { id: 'other', updatedAt: 1 }].map((project) => ask(project, {}))
  resolve()
  const values = (await Promise.all(answers)).map(({ value }) => value.projectId)
  assert.deepEqual(values, ['shop', 'shop', 'other'])
  assert.deepEqual(asked.sort(), ['other', 'shop'])
})

test('a failure is told to all who wait, and is not kept', async (t) => {
  const { numberOf, failures } = await openAnswers(t)
  failures.push(new Error('the reader is gone'))
  const [first, second] = await Promise.allSettled([numberOf(), numberOf()])
  assert.deepEqual([first?.status, second?.status], ['rejected', 'rejected'])
  assert.equal(await numberOf(), 2)
})

test('an answer that is not complete says so and is not kept', async (t) => {
  const { core, ask, numberOf } = await openAnswers(t)
  await setComplete(core, false)
  assert.equal((await ask(SHOP, {})).isComplete, false)
  assert.equal(await numberOf(), 2)
  await setComplete(core, true)
  assert.equal((await ask(SHOP, {})).isComplete, true)
  assert.equal(await numberOf(), 3)
})

test('the size of all kept answers is bounded: the oldest go, and too large ones are not kept', async (t) => {
  const { numberOf } = await openAnswers(t)
  assert.equal(await numberOf({ size: 900_000 }), 1)
  assert.equal(await numberOf({ size: 900_001 }), 2)
  assert.equal(await numberOf({ size: 900_000 }), 1)
  assert.equal(await numberOf({ size: 900_002 }), 3)
  assert.equal(await numberOf({ size: 900_000 }), 1)
  assert.equal(await numberOf({ size: 900_001 }), 4, 'was asked for longest ago')
  assert.equal(await numberOf({ size: 2_000_000 }), 5)
  assert.equal(await numberOf({ size: 2_000_000 }), 6)
})

test('S31: a shared query goes on when the client that began it leaves', async (t) => {
  const clients: unknown[] = []
  const core = await openTestCore(t)
  const watch = createAnalyticsAnswers(core, async (_, { projectId }: Query) => {
    clients.push(currentOwner().client)
    return { projectId }
  })
  const client = fakeClient()
  await runFor({ key: 'shop', isJob: false, client }, () => watch(SHOP, {}))
  assert.deepEqual(clients, [undefined])
})
