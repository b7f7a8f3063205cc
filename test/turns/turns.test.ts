import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../src/base/errors.ts'
import { goOn, runFor, type WorkOwner } from '../../src/turns/owner.ts'
import { createTurns, type TurnsOptions } from '../../src/turns/turns.ts'
import { fakeClient } from './fake-client.ts'

/** Turns whose work begins by itself, takes as long as the test says, and ends when it says so. */
function open(options: Partial<TurnsOptions> = {}) {
  let now = 0
  const turns = createTurns({
    ...{ atOnce: 1, waitingPerProject: 10, waiting: 100, to: 'here', retryAfterSeconds: 2 },
    clock: () => now,
    ...options,
  })
  const begun: string[] = []
  const ends = new Map<string, PromiseWithResolvers<string>>()
  const work = (name: string) => () => {
    const end = Promise.withResolvers<string>()
    begun.push(name)
    ends.set(name, end)
    return end.promise
  }
  const ask = (name: string, owner: Partial<WorkOwner> = {}) =>
    runFor({ key: name.charAt(0), isJob: false, ...owner }, () => turns.take(work(name)))
  const end = async (name: string, tookMs = 10) => {
    now += tookMs
    ends.get(name)?.resolve(name)
    ends.delete(name)
    await new Promise(setImmediate)
  }
  /** Ends what runs until nothing waits; returns the order of all. */
  const endAll = async (tookMs?: number) => {
    for (let index = 0; index < begun.length; index += 1) await end(begun[index] ?? '', tookMs)
    return begun
  }
  return { turns, ask, end, endAll, begun }
}

const hasCode = (code: string) => (error: unknown) =>
  error instanceof AppError && error.code === code && error.details?.retryAfter === 2

test('S31: a project that comes anew is next, however much others have waiting', async () => {
  const { ask, end, endAll, begun } = open({ waitingPerProject: 200, waiting: 1_000 })
  const all = Array.from({ length: 9 }, (_, project) =>
    Array.from({ length: 50 }, (_, index) => ask(`${project}-${index}`)),
  ).flat()
  for (let turn = 0; turn < 20; turn += 1) await end(begun[turn] ?? '', 1_000)
  const other = ask('x-1')
  const before = begun.length
  await end(begun.at(-1) ?? '')
  assert.deepEqual(begun.slice(before), ['x-1'])
  await endAll()
  await Promise.all([...all, other])
})

test('S29: work that has changed something waits, and is not refused', async () => {
  const { ask, endAll } = open({ waitingPerProject: 1, waiting: 2 })
  const all = ['a1', 'a2'].map((name) => ask(name))
  await assert.rejects(ask('a3'), hasCode('RATE_LIMIT_EXCEEDED'))
  const owner: WorkOwner = { key: 'a', isJob: false }
  runFor(owner, goOn)
  all.push(ask('a4', owner))
  assert.deepEqual(await endAll(), ['a1', 'a2', 'a4'])
  await Promise.all(all)
})

test('projects take turns by the time that they use, and each line is first in, first out', async () => {
  const { ask, end, endAll, begun } = open()
  const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'b3'].map((name) => ask(name))
  // A turn of a takes as long as three of b.
  for (const [name, tookMs] of [
    ['a1', 30],
    ['b1', 10],
    ['b2', 10],
    ['b3', 10],
  ] as const) {
    await end(name, tookMs)
  }
  assert.deepEqual(begun, ['a1', 'b1', 'b2', 'b3', 'a2'])
  assert.deepEqual(await endAll(), ['a1', 'b1', 'b2', 'b3', 'a2', 'a3'])
  await Promise.all(all)
})

test('a project has no more places than its share, so that slow work leaves the others one', async () => {
  const { ask, endAll, begun } = open({ atOnce: 2, atOncePerProject: 1 })
  const all = ['a1', 'a2', 'a3'].map((name) => ask(name))
  assert.deepEqual(begun, ['a1'])
  all.push(ask('b1'))
  assert.deepEqual(begun, ['a1', 'b1'], 'beside the slow work of a')
  await endAll()
  await Promise.all(all)
})

test('a full line refuses its project, and full lines refuse everybody', async () => {
  const { ask, endAll, turns } = open()
  const kept = [ask('a running')]
  for (let project = 0; project < 10; project += 1) {
    for (let index = 0; index < 10; index += 1) kept.push(ask(`${project}-${index}`))
    if (project < 9) {
      await assert.rejects(ask(`${project} refused`), hasCode('RATE_LIMIT_EXCEEDED'))
    }
  }
  assert.equal(turns.waiting(), 100)
  const refused = await ask('x').catch((error: AppError) => error)
  assert.ok(refused instanceof AppError && hasCode('EXTERNAL_SERVICE_ERROR')(refused))
  assert.deepEqual([refused.status, refused.isOverload], [503, true])
  await endAll()
  await Promise.all(kept)
  const later = ask('x')
  await endAll()
  await later
})

test('who leaves gives up its place in the line, and running work keeps the turn of its project', async () => {
  const { ask, end, begun, endAll, turns } = open()
  const clients = Array.from({ length: 11 }, () => fakeClient())
  const abandoned = clients.map((client, index) => ask(`a${index}`, { client }))
  const refused = abandoned
    .slice(1)
    .map((each) => assert.rejects(each, { code: 'REQUEST_TIMEOUT' }))
  for (const client of clients) client.leave()
  await Promise.all(refused)
  assert.equal(turns.waiting(), 0)
  const next = [ask('a-next'), ask('b1')]
  assert.deepEqual(begun, ['a0'], 'the abandoned work still runs')
  await end('a0')
  assert.deepEqual(begun, ['a0', 'b1'])
  await endAll()
  await Promise.all([abandoned[0], ...next])
  assert.deepEqual(
    clients.map((client) => client.listeners()),
    clients.map(() => 0),
  )
})

test('work of a client that has left before does not wait', async () => {
  const { ask, endAll, begun } = open()
  const client = fakeClient()
  client.leave()
  const first = ask('a1')
  await assert.rejects(ask('a2', { client }), { code: 'REQUEST_TIMEOUT' })
  await endAll()
  await first
  assert.deepEqual(begun, ['a1'])
})

test('jobs and the server itself are never refused, but wait their turn', async () => {
  const { ask, turns, endAll } = open({ waitingPerProject: 0, waiting: 0 })
  const kept = [ask('a1'), ask('a2', { isJob: true }), turns.take(async () => 'server')]
  await assert.rejects(ask('a3'), hasCode('RATE_LIMIT_EXCEEDED'))
  await endAll()
  assert.deepEqual(await Promise.all(kept), ['a1', 'a2', 'server'])
})

test('a request that has had a turn is not refused later', async () => {
  const { turns, ask, endAll } = open({ waitingPerProject: 1 })
  const request = runFor({ key: 'a', isJob: false }, async () => {
    await turns.take(async () => undefined)
    const others = [ask('a1'), ask('a2')]
    const second = turns.take(async () => 'second')
    await endAll()
    await Promise.all(others)
    return second
  })
  assert.equal(await request, 'second')
})

test('failing work gives its place to the next', async () => {
  const { turns } = open()
  const failing = assert.rejects(
    turns.take(async () => Promise.reject(new Error('broken'))),
    /broken/,
  )
  assert.equal(await turns.take(async () => 'next'), 'next')
  await failing
})

test('stop refuses what waits and what comes, and lets running work end', async () => {
  const { ask, end, turns } = open()
  const running = ask('a1')
  const waiting = assert.rejects(ask('a2'), /stopped/)
  turns.stop(new Error('stopped'))
  await waiting
  await assert.rejects(ask('b1'), /stopped/)
  await end('a1')
  assert.equal(await running, 'a1')
})
