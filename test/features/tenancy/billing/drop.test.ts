import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { CounterName } from '../../../../src/base/metric-texts.ts'
import { drop, dropBatch } from '../../../../src/features/tenancy/billing/metering/drop.ts'
import { countedLines } from '../../../counted-lines.ts'
import { openBilled } from './billed.ts'

it('a batch whose first drop is rolled back is logged again and counted once', async (t) => {
  const billed = await openBilled(t)
  const { core, deps } = billed
  const shop = await billed.subscribe()
  const ids = await billed.send(shop, 3)
  const [batch] = await billed.batches()
  const failing = core.store.write(async (tx) => {
    await drop(deps, tx, { id: batch!.id, error: 'a test' })
    throw new RangeError('after a write')
  })
  await assert.rejects(failing, /after a write/)
  assert.equal((await billed.batches())[0]?.state, batch?.state)
  await dropBatch(deps, { id: batch!.id, error: 'a test' })
  await dropBatch(deps, { id: batch!.id, error: 'it has ended' })
  assert.equal((await billed.batches())[0]?.state, 'dropped')
  assert.equal(billed.lines.length, 2)
  for (const line of billed.lines) assert.deepEqual(line.emails, ids)
  const count = (name: CounterName) => countedLines(core, name).map(({ count }) => count)
  assert.deepEqual(count('pillarbox_metering_batches_total'), [1])
  assert.deepEqual(count('pillarbox_emails_not_charged_total'), [3])
})
