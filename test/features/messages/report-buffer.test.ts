import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createReportBuffer } from '../../../src/features/messages/report-buffer.ts'
import type { DeliveryReport } from '../../../src/outbound/outbound.ts'

const report: DeliveryReport = { emailId: 'x', kind: 'returned', site: 'x', retryAt: null }

/** A buffer, when each of its batches was recorded, and how to await the next one. */
function openBuffer() {
  const batches: { size: number; at: number }[] = []
  let next = Promise.withResolvers<void>()
  const buffer = createReportBuffer(async (reports) => {
    batches.push({ size: reports.length, at: performance.now() })
    next.resolve()
    next = Promise.withResolvers<void>()
  })
  return { buffer, batches, next: () => next.promise }
}

test('reports of one moment are recorded together, those of a busy time every 20 ms', async () => {
  const { buffer, batches, next } = openBuffer()
  buffer.add([report])
  buffer.add([report, report])
  await next()
  buffer.add([report])
  await next()
  assert.deepEqual(
    batches.map(({ size }) => size),
    [3, 1],
  )
  const [first, second] = batches
  assert.ok((second?.at ?? 0) - (first?.at ?? 0) >= 19)
})

test('many reports are recorded at once, and what is left when somebody asks', async () => {
  const { buffer, batches } = openBuffer()
  buffer.add(Array.from({ length: 250 }, () => report))
  assert.deepEqual(
    batches.map(({ size }) => size),
    [250],
  )
  buffer.add([report])
  await buffer.settled()
  assert.equal(batches.length, 2)
})
