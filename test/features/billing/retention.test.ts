import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { deleteExpiredBilling } from '../../../src/features/billing/retention.ts'
import { meteringBatches } from '../../../src/store/schema/billing.ts'
import { DAY_MS, MINUTE_MS, openBilled } from './billed.ts'

describe('the retention of batches', () => {
  it('deletes what was charged 40 days ago, in short writes, and keeps what was not', async (t) => {
    const billed = await openBilled(t)
    const { core, pass } = billed
    const facts = { projectId: 'p', customer: 'cus_1', credits: 1, createdAt: 0, updatedAt: 0 }
    const at = core.clock.now
    await core.store.write(async (tx) => {
      for (let number = 0; number < 450; number += 1) {
        const state = number % 3 === 0 ? 'dropped' : 'charged'
        const occurredAt = at + number * MINUTE_MS
        await tx
          .insert(meteringBatches)
          .values({ ...facts, id: `batch ${number}`, state, occurredAt, emailIds: [] })
      }
    })
    pass(40 * DAY_MS + 448 * MINUTE_MS)
    let writes = 0
    const write: typeof core.store.write = (act, options) => {
      writes += 1
      return core.store.write(act, options)
    }
    await deleteExpiredBilling({ ...core, store: { ...core.store, write } })
    assert.ok(writes >= 3, `${writes} writes`)
    const left = await billed.batches()
    assert.deepEqual(
      new Set(left.map(({ state, id }) => (state === 'charged' ? id : state))),
      new Set(['dropped', 'batch 448', 'batch 449']),
    )
    assert.equal(left.length, 152)
  })
})
