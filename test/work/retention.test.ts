import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { AREAS, createSchedule } from '../../src/core/areas.ts'
import { sql } from '../../src/store/drizzle.ts'
import { snsNotifications } from '../../src/store/schema/inbound.ts'
import { deleteExpired, oldRows, type Retention } from '../../src/work/retention.ts'
import { openTestCore } from '../core.ts'

const RETENTIONS = AREAS.flatMap(({ retentions }) => retentions)

describe('the retentions of the areas', () => {
  it('each have a job', async (t) => {
    const { cron, handlers } = createSchedule(await openTestCore(t))
    for (const { name, schedule } of RETENTIONS) {
      assert.equal(cron.find((entry) => entry.name === name)?.schedule, schedule)
      assert.ok(handlers[name])
    }
  })

  for (const { name, deletions } of RETENTIONS) {
    it(`find the old rows of ${name} by an index, and read no others`, async (t) => {
      const { store } = await openTestCore(t)
      for (const { statement, index } of deletions) {
        const text = statement.compiled().text.replaceAll('?', '1')
        const plan = await store.read.all<{ detail: string }>(sql.raw(`explain query plan ${text}`))
        const steps = plan.map(({ detail }) => detail).join('\n')
        assert.ok(steps.includes(index), `${index} is not used:\n${steps}`)
        // Rows in the order of their keys are in that of their age: a scan with a limit reads the oldest.
        const wrong = index === 'PRIMARY KEY' ? /TEMP B-TREE/ : /SCAN|TEMP B-TREE/
        assert.doesNotMatch(steps, wrong, steps)
      }
    })
  }
})

describe('a retention', () => {
  const rules: Retention = {
    name: 'delete-expired-notes',
    schedule: '0 0 * * *',
    keptMs: ({ bodyDays }) => bodyDays,
    deletions: [
      oldRows({
        ...{ table: 'sns_notifications', key: 'id', column: 'received_at' },
        index: 'sns_notifications_age',
      }),
    ],
    pace: { rows: 2, rest: 'none' },
  }

  async function open(t: Parameters<typeof openTestCore>[0]) {
    const core = await openTestCore(t)
    const { bodyDays } = core.config.retention
    const at = core.now()
    await core.store.write(async (tx) => {
      for (const [id, age] of Object.entries({ new: 0, young: bodyDays - 1, old: bodyDays })) {
        await tx.insert(snsNotifications).values({ id, receivedAt: at - age })
      }
      for (const id of ['a', 'b', 'c', 'd']) {
        await tx.insert(snsNotifications).values({ id, receivedAt: at - bodyDays - 1 })
      }
    })
    const limits: unknown[] = []
    const write: typeof core.store.write = (act, options) => {
      limits.push(options?.heavyFor)
      return core.store.write(act, options)
    }
    const ids = async () =>
      (await core.store.read.select({ id: snsNotifications.id }).from(snsNotifications)).map(
        ({ id }) => id,
      )
    return { core: { ...core, store: { ...core.store, write } }, writes: limits, ids }
  }

  it('deletes what is as old as it says, in batches, and keeps the rest', async (t) => {
    const { core, writes, ids } = await open(t)
    assert.equal(await deleteExpired(core, rules), 5)
    assert.deepEqual(writes, ['retention', 'retention', 'retention'])
    assert.deepEqual((await ids()).sort(), ['new', 'young'])
    assert.equal(await deleteExpired(core, rules), 0)
  })

  it('begins no batch once its signal has aborted', async (t) => {
    const { core, writes, ids } = await open(t)
    assert.equal(await deleteExpired(core, rules, AbortSignal.abort()), 0)
    assert.equal(writes.length, 0)
    assert.equal((await ids()).length, 7)
  })
})
