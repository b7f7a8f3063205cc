import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { outcomeOfLostThread } from '../../../src/outbound/outcomes.ts'
import { MAX_BATCHED_RESULTS, type TaskResult } from '../../../src/outbound/protocol.ts'
import { createResultBatches } from '../../../src/outbound/thread-messages.ts'

const putBack = (task: number): TaskResult => ({ task, kind: 'put back' })
const delivered = (task: number): TaskResult => ({
  ...{ task, kind: 'attempted', outcome: outcomeOfLostThread('direct'), startedAt: 0 },
  ...{ subject: null, faults: [], brokenTls: null },
})

/** The batches of two threads, as lists of tasks, each with the time at which it was sent. */
function openThreads(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000 })
  const sent: [at: number, tasks: number[]][] = []
  const open = () => {
    const accepted = new SharedArrayBuffer(MAX_BATCHED_RESULTS * 4)
    const post = (results: TaskResult[]) =>
      void sent.push([Date.now(), results.map(({ task }) => task)])
    const batches = createResultBatches({ accepted, post, now: Date.now })
    return { ...batches, accepted: new Int32Array(accepted) }
  }
  return { sent, one: open(), other: open(), pass: (ms: number) => t.mock.timers.tick(ms) }
}

test('under load the results of all threads are sent at the same moment', (t) => {
  const { sent, one, other, pass } = openThreads(t)
  one.add(putBack(1))
  other.add(putBack(2))
  pass(4)
  assert.deepEqual(sent, [])
  pass(1)
  assert.deepEqual(sent.splice(0), [
    [1_005, [1]],
    [1_005, [2]],
  ])
  one.add(putBack(3))
  pass(7)
  other.add(putBack(4))
  one.add(putBack(5))
  pass(2)
  assert.deepEqual(sent, [])
  // A multiple of the beat.
  pass(6)
  assert.deepEqual(sent.splice(0), [
    [1_020, [3, 5]],
    [1_020, [4]],
  ])
  pass(15)
  other.add(putBack(6))
  pass(5)
  assert.deepEqual(sent, [[1_040, [6]]])
})

test('after a rest the first results wait for 5 ms', (t) => {
  const { sent, one, pass } = openThreads(t)
  one.add(putBack(1))
  pass(5)
  pass(36)
  one.add(putBack(2))
  pass(5)
  assert.deepEqual(sent, [
    [1_005, [1]],
    [1_046, [2]],
  ])
})

test('after a jump of the clock results wait no longer than a beat', (t) => {
  const { sent, one, pass } = openThreads(t)
  one.add(putBack(1))
  pass(5)
  t.mock.timers.setTime(500)
  one.add(putBack(2))
  pass(5)
  assert.deepEqual(sent.at(-1), [505, [2]])
})

test('a full batch is sent at once, and a flush sends the rest', (t) => {
  const { sent, one } = openThreads(t)
  for (let task = 1; task <= MAX_BATCHED_RESULTS + 1; task += 1) one.add(putBack(task))
  assert.equal(sent.length, 1)
  one.flush()
  one.flush()
  assert.deepEqual(sent.at(-1), [1_000, [MAX_BATCHED_RESULTS + 1]])
  assert.equal(sent.length, 2)
})

test('the tasks of accepted messages stand in shared memory until their results are sent', (t) => {
  const { one, pass } = openThreads(t)
  one.add(putBack(1))
  one.add(delivered(2))
  assert.deepEqual([...one.accepted.slice(0, 3)], [0, 2, 0])
  pass(5)
  one.add(putBack(3))
  one.add(putBack(4))
  assert.deepEqual([...one.accepted.slice(0, 3)], [0, 0, 0])
})
