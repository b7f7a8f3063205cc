import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createResultBuffer } from '../../../../../src/features/mail/messages/delivery/record-results.ts'
import type { DeliveryResult } from '../../../../../src/outbound/delivery.ts'

const report: DeliveryResult = { emailId: 'x', kind: 'put back', site: 'x', retryAt: null }

/** A buffer with its own clock, and the number of results in each of its batches. */
function openBuffer(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 1_000 })
  const batches: number[] = []
  const record = async (reports: readonly DeliveryResult[]) => {
    batches.push(reports.length)
  }
  return { buffer: createResultBuffer(record, () => Date.now()), batches }
}

test('results of one moment are recorded together, those of a busy time every 20 ms', (t) => {
  const { buffer, batches } = openBuffer(t)
  buffer.add([report])
  buffer.add([report, report])
  t.mock.timers.tick(4)
  assert.deepEqual(batches, [])
  t.mock.timers.tick(1)
  assert.deepEqual(batches, [3])
  buffer.add([report])
  t.mock.timers.tick(19)
  assert.deepEqual(batches, [3])
  t.mock.timers.tick(1)
  assert.deepEqual(batches, [3, 1])
})

test('a full batch is recorded at once, the rest on request', async (t) => {
  const { buffer, batches } = openBuffer(t)
  buffer.add(Array.from({ length: 250 }, () => report))
  assert.deepEqual(batches, [250])
  buffer.add([report])
  await buffer.settled()
  assert.deepEqual(batches, [250, 1])
})
