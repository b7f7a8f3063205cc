import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { BILLING, deleteEnded } from '../../../../src/features/tenancy/billing/billing.ts'
import { sql } from '../../../../src/store/drizzle.ts'
import { meteringBatches } from '../../../../src/store/schema/billing.ts'
import { deleteExpired } from '../../../../src/work/retention.ts'
import { DAY_MS, MINUTE_MS, openBilled } from './billed.ts'

const STATES = ['charged', 'dropped', 'waiting'] as const

describe('the retention of batches', () => {
  it('deletes what ended 40 days ago, in short writes, and keeps what is open', async (t) => {
    const billed = await openBilled(t)
    const { core, pass } = billed
    const facts = { projectId: 'p', customer: 'cus_1', credits: 1, createdAt: 0, updatedAt: 0 }
    const at = core.clock.now
    await core.store.write(async (tx) => {
      for (let number = 0; number < 450; number += 1) {
        const state = STATES[number % 3]
        const occurredAt = at + number * MINUTE_MS
        await tx
          .insert(meteringBatches)
          .values({ ...facts, id: `batch ${number}`, state, occurredAt, emailIds: [] })
      }
    })
    pass(40 * DAY_MS + 447 * MINUTE_MS)
    let writes = 0
    const write: typeof core.store.write = (act, options) => {
      writes += 1
      return core.store.write(act, options)
    }
    await deleteExpired({ ...core, store: { ...core.store, write } }, BILLING)
    assert.ok(writes >= 3, `${writes} writes`)
    const left = await billed.batches()
    assert.deepEqual(
      new Set(left.map(({ state, id }) => (state === 'waiting' ? state : id))),
      new Set(['waiting', 'batch 447', 'batch 448']),
    )
    assert.equal(left.length, 152)
  })

  it('keeps what the summary of a minute to settle is compared with', async (t) => {
    const billed = await openBilled(t)
    const { core, pass } = billed
    const times = { occurredAt: core.clock.now, createdAt: 0, updatedAt: 0 }
    const facts = { projectId: 'p', credits: 1, emailIds: [], ...times }
    await core.store.write((tx) =>
      tx.insert(meteringBatches).values([
        { ...facts, id: 'a', customer: 'cus_1', state: 'settling' },
        { ...facts, id: 'b', customer: 'cus_1', state: 'dropped' },
        { ...facts, id: 'c', customer: 'cus_1', state: 'charged' },
        { ...facts, id: 'd', customer: 'cus_2', state: 'dropped' },
      ]),
    )
    pass(41 * DAY_MS)
    await deleteExpired(core, BILLING)
    assert.deepEqual((await billed.batches()).map(({ id }) => id).sort(), ['a', 'b', 'c'])
  })

  it('reads only what ended before', async (t) => {
    const { core } = await openBilled(t)
    const plan = await core.store.read.all<{ detail: string }>(
      sql.raw(`explain query plan ${deleteEnded.compiled().text.replaceAll('?', '1')}`),
    )
    const steps = plan.map(({ detail }) => detail).join('\n')
    assert.match(steps, /SEARCH ended USING INDEX metering_batches_ended \(occurred_at<\?\)/)
    assert.match(
      steps,
      /SEARCH open USING INDEX metering_batches_window \(customer=\? AND occurred_at>/,
    )
    assert.doesNotMatch(steps, /SCAN/)
  })
})
