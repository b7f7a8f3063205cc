import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { MINUTE_MS } from '../../../../src/base/clock.ts'
import { AppError } from '../../../../src/base/errors.ts'
import { startHitWriter } from '../../../../src/features/mail/tracking/hit-writer.ts'
import type { Store } from '../../../../src/store/store.ts'
import { pause } from '../../../pause.ts'
import { click, LATER, link, open, openTrackedSender } from './tracked-sender.ts'

/** Nothing comes to its end before the stop. */
const long = { groupMs: 3_600_000 }

/** A store whose writes are refused while `isFull`. */
function fillable(store: Store) {
  const state = { isFull: true, writes: 0 }
  const write: Store['write'] = (fn) => {
    state.writes += 1
    if (!state.isFull) return store.write(fn)
    return Promise.reject(new AppError('DATABASE_ERROR', 'The disk is full.'))
  }
  return { state, store: { ...store, write } }
}

describe('the hit log', () => {
  it('writes waiting hits at a stop', async (t) => {
    const { core, deliver, email } = await openTrackedSender(t)
    const hits = startHitWriter(core, long)
    const id = await deliver()
    hits.add(open(id))
    hits.add(click(id, link, LATER + MINUTE_MS))
    assert.deepEqual(hits.counts(), { waiting: 2, lost: 0 })
    assert.equal((await email(id)).opens, 0)
    await hits.stop()
    const { opens, clicks, status } = await email(id)
    assert.deepEqual([opens, clicks, status], [1, 1, 'CLICKED'])
    assert.deepEqual(hits.counts(), { waiting: 0, lost: 0 })
  })

  it('writes many groups in few transactions', async (t) => {
    const { core, deliver, email } = await openTrackedSender(t)
    const { state, store } = fillable(core.store)
    state.isFull = false
    const hits = startHitWriter({ ...core, store }, { groupMs: 0 })
    const ids = await Promise.all(Array.from({ length: 120 }, () => deliver()))
    for (const id of ids) hits.add(open(id))
    while (hits.counts().waiting > 0) await pause()
    assert.equal(state.writes, 3)
    for (const id of ids) assert.equal((await email(id)).opens, 1)
    await hits.stop()
  })

  it('detects machines in all hits of a second together', async (t) => {
    const { core, deliver, email, told } = await openTrackedSender(t)
    const hits = startHitWriter(core, long)
    const id = await deliver()
    for (const path of ['/1', '/2', '/3', '/4']) hits.add(click(id, link + path))
    await hits.stop()
    const { clicks, machineClicks } = await email(id)
    assert.deepEqual([clicks, machineClicks], [0, 4])
    assert.deepEqual(await told(id), [])
  })

  it('keeps hits while the database cannot write, and writes them once', async (t) => {
    const { core, deliver, email, told } = await openTrackedSender(t)
    const { state, store } = fillable(core.store)
    const hits = startHitWriter({ ...core, store }, { groupMs: 0, retryMs: 5 })
    const id = await deliver()
    hits.add(open(id))
    while (state.writes < 3) await pause()
    hits.add(open(id, LATER + MINUTE_MS))
    assert.deepEqual(hits.counts(), { waiting: 2, lost: 0 })
    state.isFull = false
    while (hits.counts().waiting > 0) await pause()
    assert.equal((await email(id)).opens, 2)
    assert.equal((await told(id)).length, 2)
    await hits.stop()
  })

  it('is limited: the oldest groups are dropped and counted', async (t) => {
    const { core, deliver, email } = await openTrackedSender(t)
    const { state, store } = fillable(core.store)
    const errors: unknown[] = []
    const log = { ...core.log, error: (facts: unknown) => errors.push(facts) }
    const deps = { ...core, store, log: log as unknown as typeof core.log }
    const hits = startHitWriter(deps, { ...long, maxWaiting: 3 })
    const ids = await Promise.all(Array.from({ length: 5 }, () => deliver()))
    for (const id of ids) hits.add(open(id))
    assert.deepEqual(hits.counts(), { waiting: 3, lost: 2 })
    assert.equal(errors.length, 1)
    state.isFull = false
    await hits.stop()
    const opens = (await Promise.all(ids.map(email))).map((row) => row.opens)
    assert.deepEqual(opens, [0, 0, 1, 1, 1])
  })

  it('drops the oldest groups, too, between two tries of a database that cannot write', async (t) => {
    const { core, deliver, email } = await openTrackedSender(t)
    const { state, store } = fillable(core.store)
    const hits = startHitWriter({ ...core, store }, { groupMs: 0, retryMs: 5, maxWaiting: 3 })
    const ids = await Promise.all(Array.from({ length: 5 }, () => deliver()))
    for (const id of ids.slice(0, 3)) hits.add(open(id))
    while (state.writes < 3) await pause()
    for (const id of ids.slice(3)) hits.add(open(id))
    assert.deepEqual(hits.counts(), { waiting: 3, lost: 2 })
    state.isFull = false
    while (hits.counts().waiting > 0) await pause()
    const opens = (await Promise.all(ids.map(email))).map((row) => row.opens)
    assert.deepEqual(opens, [0, 0, 1, 1, 1])
    await hits.stop()
  })

  it('accepts no more hits than its limit while all waiting ones are being written', async (t) => {
    const { core, deliver } = await openTrackedSender(t)
    const gate = Promise.withResolvers<never>()
    const called = Promise.withResolvers<void>()
    const write = () => {
      called.resolve()
      return gate.promise
    }
    const store = { ...core.store, write } as Store
    const hits = startHitWriter({ ...core, store }, { groupMs: 0, maxWaiting: 1 })
    const id = await deliver()
    hits.add(open(id))
    await called.promise
    hits.add(open(id))
    hits.add(open(id))
    const { waiting, lost } = hits.counts()
    assert.deepEqual([waiting, lost], [1, 2])
    gate.reject(new Error('a fault'))
    await hits.stop()
    assert.deepEqual(hits.counts(), { waiting: 0, lost: 3 })
  })

  it('finishes its stop when the database cannot write, and logs the lost hits', async (t) => {
    const { core, deliver } = await openTrackedSender(t)
    const hits = startHitWriter({ ...core, store: fillable(core.store).store }, { groupMs: 0 })
    hits.add(open(await deliver()))
    await hits.stop()
    assert.deepEqual(hits.counts(), { waiting: 0, lost: 1 })
  })

  it('loses only the group that cannot be written', async (t) => {
    const { core, deliver, email } = await openTrackedSender(t)
    const hits = startHitWriter(core, long)
    const ids = [await deliver(), await deliver(), await deliver()] as const
    hits.add(open(ids[0]))
    hits.add(click(ids[1], 1n as unknown as string))
    hits.add(open(ids[2]))
    await hits.stop()
    const rows = await Promise.all(ids.map(email))
    assert.deepEqual(
      rows.map(({ opens, clicks }) => [opens, clicks]),
      [
        [1, 0],
        [0, 0],
        [1, 0],
      ],
    )
    assert.deepEqual(hits.counts(), { waiting: 0, lost: 1 })
  })
})
