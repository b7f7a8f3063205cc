import assert from 'node:assert/strict'
import { it } from 'node:test'
import { dropBatch } from '../../../src/features/billing/metering/drop.ts'
import { meteringBatches } from '../../../src/store/schema/billing.ts'
import { openBilled } from './billed.ts'

it('a batch that is dropped in a group that runs again is counted once', async (t) => {
  const billed = await openBilled(t)
  const { core, deps } = billed
  const shop = await billed.subscribe()
  const ids = await billed.send(shop, 3)
  const [batch] = await billed.batches()
  const dropping = dropBatch(deps, { id: batch!.id, error: 'a test' })
  const failing = core.store.write(async (tx) => {
    await tx.update(meteringBatches).set({ credits: 0 })
    throw new RangeError('after a write')
  })
  await assert.rejects(failing, /after a write/)
  await dropping
  await dropBatch(deps, { id: batch!.id, error: 'it has ended' })
  assert.equal((await billed.batches())[0]?.state, 'dropped')
  assert.equal(billed.lines.length, 2, 'the closure ran twice')
  for (const line of billed.lines) assert.deepEqual(line.emails, ids)
  const count = (name: Parameters<typeof core.counters.lines>[0]) =>
    core.counters.lines(name).map(({ count }) => count)
  assert.deepEqual(count('pillarbox_metering_batches_total'), [1])
  assert.deepEqual(count('pillarbox_emails_not_charged_total'), [3])
})
