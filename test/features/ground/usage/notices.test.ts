import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DAY_MS } from '../../../../src/base/clock.ts'
import type { UsageLimits } from '../../../../src/features/ground/usage/categories.ts'
import { countAlways } from '../../../../src/features/ground/usage/count.ts'
import { cancelEmails } from '../../../../src/features/mail/messages/queue/operate.ts'
import { setLimits, showLimits } from '../../../../src/features/tenancy/billing/limits.ts'
import type { TestCore, TestProject } from '../../../core.ts'
import { follow, marksOf, noticesOf, openLimited, setColumns, withStripe } from './usage.ts'

const MONTH_END = Date.UTC(2026, 11, 1)
const NONE: UsageLimits = { transactional: null, campaigns: null, workflows: null, inbound: null }

const set = (core: TestCore, project: TestProject, limits: Partial<UsageLimits>) =>
  setLimits(core, { projectId: project.id, userId: project.ownerId }, { ...NONE, ...limits })

const of = (percent: number, limit: number, used: number) => ({
  ...{ category: 'transactional', percent, limit, used },
})

describe('members are told', () => {
  it('at 80% and at 100%, once each, also of sends at a time', async (t) => {
    const { core, project, send } = await openLimited(t, { limitTransactional: 10 })
    await Promise.all(Array.from({ length: 7 }, () => send(1)))
    assert.deepEqual(await noticesOf(core), [])
    await Promise.allSettled(Array.from({ length: 20 }, () => send(1)))
    assert.deepEqual(await noticesOf(core), [of(80, 10, 8), of(100, 10, 10)])
    await assert.rejects(send(1))
    assert.equal((await noticesOf(core)).length, 2)
    assert.equal((await marksOf(core, project.id)).length, 2)
  })

  it('once, although failures are given back and the mark is crossed again', async (t) => {
    const { core, send } = await openLimited(t, { limitTransactional: 5 })
    const accepted = await send(4)
    await cancelEmails(
      core,
      accepted.map(({ id }) => id),
    )
    await follow(core)
    await send(4)
    assert.deepEqual(await noticesOf(core), [of(80, 5, 4)])
  })

  it('of the higher mark alone, when one request crosses both', async (t) => {
    const { core, project, send } = await openLimited(t, { limitTransactional: 5 })
    const accepted = await send(5)
    assert.deepEqual(await noticesOf(core), [of(100, 5, 5)])
    await cancelEmails(
      core,
      accepted.map(({ id }) => id),
    )
    await follow(core)
    await send(4)
    assert.deepEqual(await noticesOf(core), [of(100, 5, 5)])
    assert.equal((await marksOf(core, project.id)).length, 2)
  })

  it('again in the next month, and of another limit', async (t) => {
    const { core, project, send } = await openLimited(t, { limitTransactional: 5 })
    await send(4)
    await set(core, project, { transactional: 10 })
    await send(3)
    assert.equal((await noticesOf(core)).length, 1)
    await send(1)
    await set(core, project, { transactional: 5 })
    await set(core, project, { transactional: 10 })
    core.clock.now = MONTH_END
    await send(8)
    assert.deepEqual(await noticesOf(core), [
      of(80, 5, 4),
      of(80, 10, 8),
      of(100, 5, 8),
      of(80, 10, 8),
    ])
  })

  it('three times a day at most, however often the limit changes', async (t) => {
    const { core, project, send } = await openLimited(t)
    await send(30)
    for (let limit = 1; limit <= 20; limit += 1) await set(core, project, { transactional: limit })
    assert.deepEqual(await noticesOf(core), [of(100, 1, 30), of(100, 2, 30), of(100, 3, 30)])
    assert.equal((await marksOf(core, project.id)).length, 6)
    await set(core, project, { transactional: 35 })
    assert.equal((await noticesOf(core)).length, 3, 'its lower mark was remembered three times')
    core.clock.now += DAY_MS
    await set(core, project, { transactional: 21 })
    assert.deepEqual((await noticesOf(core)).slice(3), [of(100, 21, 30)])
  })

  it('by a limit that is set below the use', async (t) => {
    const { core, project, send } = await openLimited(t)
    await send(9)
    const view = await set(core, project, { transactional: 10 })
    assert.deepEqual(view.transactional, {
      ...{ limit: 10, usage: 9, percentage: 90, isWarning: true, isBlocked: false },
    })
    await set(core, project, { transactional: 3 })
    assert.deepEqual(await noticesOf(core), [of(80, 10, 9), of(100, 3, 9)])
    const { transactional } = await showLimits(core, project.id)
    assert.deepEqual(transactional, {
      ...{ limit: 3, usage: 9, percentage: 300, isWarning: true, isBlocked: true },
    })
    await assert.rejects(send(1), { code: 'BILLING_LIMIT_EXCEEDED' })
  })

  it('of received mail, which is not refused', async (t) => {
    const { core, project } = await openLimited(t, { limitInbound: 5 })
    const { id: projectId } = project
    const receive = () =>
      core.store.write((tx) =>
        countAlways(core, tx, { projectId, category: 'inbound', count: 1, at: core.now() }),
      )
    for (let count = 0; count < 7; count += 1) await receive()
    assert.deepEqual(
      (await noticesOf(core)).map(({ category, percent }) => [category, percent]),
      [
        ['inbound', 80],
        ['inbound', 100],
      ],
    )
    assert.equal((await showLimits(core, projectId)).inbound.usage, 7)
  })
})

describe('the limits of a project', () => {
  it('never show 100 percent before they are reached', async (t) => {
    const { core, project } = await openLimited(t, { limitTransactional: 1_000_000_000 })
    const count = (count: number) =>
      core.store.write((tx) =>
        countAlways(core, tx, {
          ...{ projectId: project.id, category: 'transactional', count, at: core.now() },
        }),
      )
    await count(999_999_999)
    assert.equal((await showLimits(core, project.id)).transactional.percentage, 99.9)
    await count(1)
    const { percentage, isBlocked } = (await showLimits(core, project.id)).transactional
    assert.deepEqual([percentage, isBlocked], [100, true])
  })

  it('show the shared one on all four categories, and the nearest one', async (t) => {
    const { core, project, send } = await openLimited(t, {}, { configure: withStripe(10) })
    await send(4)
    const shared = { limit: 10, usage: 4, percentage: 40, isWarning: false, isBlocked: false }
    assert.deepEqual(await showLimits(core, project.id), {
      ...{ workflows: shared, campaigns: shared, transactional: shared, inbound: shared },
      currency: null,
    })
    await setColumns(core, project.id, { limitTransactional: 5 })
    const { transactional, campaigns } = await showLimits(core, project.id)
    assert.deepEqual(campaigns, shared)
    assert.deepEqual([transactional.limit, transactional.isWarning], [5, true])
  })

  it('cannot be set without a subscription on a server with Stripe', async (t) => {
    const { core, project } = await openLimited(t, {}, { configure: withStripe() })
    await assert.rejects(set(core, project, { transactional: 1_000_000 }), { code: 'BAD_REQUEST' })
    await setColumns(core, project.id, { subscription: 'sub_1', customer: 'cus_1' })
    const view = await set(core, project, { transactional: 1_000_000 })
    assert.equal(view.transactional.limit, 1_000_000)
    assert.equal(view.campaigns.limit, null)
  })
})
