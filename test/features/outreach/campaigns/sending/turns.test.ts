import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import type { Condition } from '../../../../../src/features/ground/conditions/condition.ts'
import type { ActiveCampaign } from '../../../../../src/features/outreach/campaigns/sending/active.ts'
import { createExpansion } from '../../../../../src/features/outreach/campaigns/sending/expansion.ts'
import { startCampaigns } from '../../../../../src/features/outreach/campaigns/sending/loop.ts'
import { planSending } from '../../../../../src/features/outreach/campaigns/sending/plan.ts'
import { sendCampaign } from '../../../../../src/features/outreach/campaigns/sending/send.ts'
import { eq, sql } from '../../../../../src/store/drizzle.ts'
import { campaigns } from '../../../../../src/store/schema/campaigns.ts'
import type { Store } from '../../../../../src/store/store.ts'
import type { TestCore } from '../../../../core.ts'
import {
  addCampaign,
  addContacts,
  emailsOf,
  loadProgress,
  openSendingCore,
  people,
  runUntil,
} from './campaign.ts'

function filtered(field: string, operator: string, value: unknown) {
  const audienceCondition = { logic: 'AND', groups: [{ filters: [{ field, operator, value }] }] }
  return { audienceType: 'FILTERED', audienceCondition } as {
    audienceType: 'FILTERED'
    audienceCondition: Condition
  }
}

async function loadActive(core: TestCore, id: string): Promise<ActiveCampaign> {
  return { ...(await loadProgress(core, id)), id, type: 'MARKETING', maxPerHour: null }
}

/** `advance` waits until the next contacts have been read, if it has to. */
function openExpansion(core: TestCore, id: string) {
  let wake: (() => void) | undefined
  const expansion = createExpansion(core, { wake: () => wake?.(), isStopping: () => false })
  async function advance(limit = Number.POSITIVE_INFINITY) {
    const { promise, resolve } = Promise.withResolvers<void>()
    wake = resolve
    const turn = await expansion.advance(await loadActive(core, id), limit)
    if (turn.isReading) await promise
    return turn
  }
  return { advance }
}

test('a due campaign whose writes fail is tried again once a second', async (t) => {
  const { core, project } = await openSendingCore(t)
  await addContacts(core, project.id, people(3))
  const due = { status: 'SCHEDULED', scheduledFor: core.now() - 1_000 } as const
  const id = await addCampaign(core, project.id, due)
  let failures = 0
  let passedMs = 0
  const store: Store = {
    ...core.store,
    write: (fn, options) => {
      if (failures > passedMs / 1_000) throw new Error('tried again before the second was over')
      if (failures === 3) return core.store.write(fn, options)
      failures += 1
      throw new Error('database or disk is full')
    },
  }
  const errors: unknown[] = []
  const log = { ...core.log, error: (line: unknown) => errors.push(line) } as TestCore['log']
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const ticking = setInterval(() => {
    passedMs += 100
    t.mock.timers.tick(100)
  }, 2)
  t.after(() => clearInterval(ticking))
  await runUntil({ ...core, store, log }, async () => (await emailsOf(core, id)).length === 3)
  assert.equal(failures, 3)
  assert.equal(errors.length, 3)
})

test('a stop ends the making of emails after the transaction at hand', async (t) => {
  const { core, project } = await openSendingCore(t)
  await addContacts(core, project.id, people(500))
  const id = await addCampaign(core, project.id)
  await sendCampaign(core, { projectId: project.id, id })
  const { promise, resolve } = Promise.withResolvers<void>()
  let writes = 0
  const store: Store = {
    ...core.store,
    write: (fn, options) => {
      writes += 1
      void loop.stop().then(resolve)
      return core.store.write(fn, options)
    },
  }
  const loop = startCampaigns({ ...core, store })
  await promise
  const { length } = await emailsOf(core, id)
  assert.deepEqual([writes, length > 0], [1, true])
  await runUntil(core, async () => (await emailsOf(core, id)).length === 500)
})

test('on a full disk no due campaign is started', async (t) => {
  const { core, project } = await openSendingCore(t)
  await addContacts(core, project.id, people(3))
  const due = { status: 'SCHEDULED', scheduledFor: core.now() } as const
  const id = await addCampaign(core, project.id, due)
  let looks = 0
  const disk = { ...core.disk, isLow: () => ++looks < 3 }
  const store: Store = {
    ...core.store,
    write: (fn, options) => {
      assert.ok(looks >= 3, 'written on a full disk')
      return core.store.write(fn, options)
    },
  }
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const ticking = setInterval(() => t.mock.timers.tick(1_000), 5)
  t.after(() => clearInterval(ticking))
  const errors: unknown[] = []
  const log = { ...core.log, error: (line: unknown) => errors.push(line) } as TestCore['log']
  await runUntil({ ...core, disk, store, log }, async () => (await emailsOf(core, id)).length === 3)
  assert.deepEqual(errors, [])
})

test('a slow audience stops no other campaign', async (t) => {
  const { core, project } = await openSendingCore(t)
  await addContacts(core, project.id, people(1_500))
  const slow = await addCampaign(core, project.id, filtered('email', 'notContains', 'slowest'))
  const fast = await addCampaign(core, project.id)
  await sendCampaign(core, { projectId: project.id, id: slow })
  core.clock.now += 1
  await sendCampaign(core, { projectId: project.id, id: fast })
  const due = { status: 'SCHEDULED', scheduledFor: core.now() + 1 } as const
  const later = await addCampaign(core, project.id, due)
  const gate = Promise.withResolvers<void>()
  const scan = new Proxy(core.store.scan, {
    get: (reader, key) => {
      if (key !== 'values') return Reflect.get(reader, key)
      return async (query: Parameters<typeof reader.values>[0]) => {
        if (inspect(query, { depth: 30 }).includes('slowest')) await gate.promise
        return reader.values(query)
      }
    },
  })
  await runUntil({ ...core, store: { ...core.store, scan } }, async () => {
    core.clock.now += 1
    const made = await Promise.all([fast, later].map((id) => emailsOf(core, id)))
    return made.every(({ length }) => length === 1_500)
  })
  assert.equal((await emailsOf(core, slow)).length, 0)
  gate.resolve()
  await runUntil(core, async () => (await emailsOf(core, slow)).length === 1_500)
})

test('contacts that were read long ago are read again before their emails are made', async (t) => {
  const { core, project } = await openSendingCore(t)
  let ms = 0
  t.mock.method(performance, 'now', () => ms)
  const vip = { name: 'old', vip: true }
  await addContacts(
    core,
    project.id,
    Array.from({ length: 10 }, (_, index) => ({ address: `p${index}@x.test`, data: vip })),
  )
  const id = await addCampaign(core, project.id, filtered('data.vip', 'equals', true))
  await sendCampaign(core, { projectId: project.id, id })
  const { advance } = openExpansion(core, id)
  assert.deepEqual(await advance(2), { inserted: 0, isReading: true, isFull: false })
  assert.deepEqual(await advance(2), { inserted: 2, isReading: false, isFull: true })
  await core.store.write((tx) =>
    tx.run(sql`update contacts set data = '{"name":"new","vip":false}' where number > 3`),
  )
  ms = 11_000
  assert.deepEqual(await advance(10), { inserted: 0, isReading: false, isFull: false })
  assert.deepEqual(await advance(10), { inserted: 0, isReading: true, isFull: false })
  assert.deepEqual(await advance(10), { inserted: 1, isReading: false, isFull: false })
  const rows = await emailsOf(core, id)
  assert.deepEqual(
    rows.map(({ recipient }) => recipient),
    ['p0@x.test', 'p1@x.test', 'p2@x.test'],
  )
  assert.notEqual((await loadActive(core, id)).expandedAt, null)
})

test('a reading that begins again goes on in stretches of the size that fitted', async (t) => {
  const { core, project } = await openSendingCore(t)
  let ms = 0
  t.mock.method(performance, 'now', () => ms)
  await addContacts(core, project.id, people(200))
  const id = await addCampaign(core, project.id)
  await sendCampaign(core, { projectId: project.id, id })
  const sizes: number[] = []
  let made = 0
  const write: Store['write'] = async (fn, options) => {
    const result = await core.store.write(fn, options)
    const { cursor } = await loadActive(core, id)
    sizes.push(cursor - made)
    made = cursor
    return result
  }
  const { advance } = openExpansion({ ...core, store: { ...core.store, write } }, id)
  await advance()
  await advance()
  // Ten fit even if each contact has 64 KB of data. The first page has 50 contacts.
  assert.deepEqual(sizes, [10, 40])
  ms = 11_000
  await advance()
  await advance()
  await advance()
  assert.ok((sizes[2] ?? 0) >= 50, `${sizes}`)
})

test('the text of a campaign that sends is parsed once', async (t) => {
  const { core, project } = await openSendingCore(t)
  const id = await addCampaign(core, project.id, { status: 'SENDING' })
  const plan = await planSending(core, { projectId: project.id, id })
  assert.ok('isKept' in plan)
  await core.store.write((tx) =>
    tx.update(campaigns).set({ body: '{{ other }}' }).where(eq(campaigns.id, id)),
  )
  const next = await planSending(core, { projectId: project.id, id }, plan.isKept)
  assert.ok('isKept' in next)
  assert.deepEqual(['name', 'locale', 'other'].map(next.isKept), [true, true, false])
})

test('the queue visits the emails of a paused site when that may be tried', async (t) => {
  const { core, project } = await openSendingCore(t)
  await addContacts(core, project.id, [{ address: 'a@rests.test' }, { address: 'b@open.test' }])
  const id = await addCampaign(core, project.id)
  await sendCampaign(core, { projectId: project.id, id })
  const until = core.now() + 60_000
  const outbound = {
    ...core.outbound,
    siteOf: (domain: string) => domain,
    pauseOf: (site: string) => (site === 'rests.test' ? { until, reason: 'busy' } : null),
  }
  const visits: unknown[] = []
  core.queueNotifier.listen((notice) => {
    if (typeof notice === 'object') visits.push([notice.domain, notice.dueAt])
  })
  const { advance } = openExpansion({ ...core, outbound }, id)
  await advance()
  await advance()
  assert.deepEqual(visits, [
    ['rests.test', until],
    ['open.test', core.now()],
  ])
  // They are due all the same, and go when the pause ends earlier.
  const rows = await emailsOf(core, id)
  assert.deepEqual(
    rows.map(({ state, dueAt }) => [state, dueAt]),
    [
      ['queued', core.now()],
      ['queued', core.now()],
    ],
  )
})
