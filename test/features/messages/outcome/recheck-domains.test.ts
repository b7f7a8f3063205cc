/** Domains that DNS denies although there was somebody: a second look before anybody is lost. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Core } from '../../../../src/features/core.ts'
import { recheckDomains } from '../../../../src/features/messages/outcome/recheck-domains.ts'
import { listHeld } from '../../../../src/features/suppressions/held.ts'
import { undoSuppressions } from '../../../../src/features/suppressions/undo.ts'
import type { DnsAnswer, MxRecord } from '../../../../src/outbound/dns/resolver.ts'
import { suppressions } from '../../../../src/store/schema/suppressions.ts'
import { noSuchDomain, openBounces, people, statesOf } from '../bounces.ts'
import { START } from '../desk.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const hard = { kind: 'hard' } as const
const delivered = { kind: 'delivered' } as const

type Mx = 'nxdomain' | 'null' | 'failed' | 'there'

/** `answers`: what DNS says of a domain; the test changes them. */
async function open(t: TestContext) {
  const answers: Record<string, Mx> = {}
  const asked: string[] = []
  const mx = async (name: string): Promise<DnsAnswer<MxRecord>> => {
    asked.push(name)
    const expiresAt = 0
    switch (answers[name] ?? 'nxdomain') {
      case 'there':
        return { kind: 'found', records: [{ preference: 1, host: 'mx.test' }], expiresAt }
      case 'null':
        return { kind: 'found', records: [{ preference: 0, host: '' }], expiresAt }
      case 'failed':
        return { kind: 'failed', error: 'SERVFAIL', expiresAt }
      case 'nxdomain':
        return { kind: 'nxdomain', expiresAt }
    }
  }
  const addresses = async () => ({ kind: 'found', records: ['192.0.2.1'], expiresAt: 0 }) as const
  const resolver = { mx, a: addresses, aaaa: addresses } as unknown as Core['resolver']
  const desk = await openBounces(t, () => ({ resolver }))
  const look = async (afterMs: number) => {
    desk.clock.now += afterMs
    return recheckDomains(desk.core)
  }
  return { ...desk, answers, asked, look }
}

test('a domain that took mail before is asked for again before anybody is suppressed', async (t) => {
  const desk = await open(t)
  await desk.end(['old@shop.test'], delivered)
  await desk.end(['ann@shop.test', 'bob@shop.test', 'eve@never.test'], noSuchDomain)
  assert.deepEqual(await statesOf(desk), { delivered: 1, bounced: 3 })
  assert.deepEqual(await desk.listed(), ['eve@never.test'])
  assert.deepEqual(await desk.subscribed(), ['old@shop.test', 'ann@shop.test', 'bob@shop.test'])
  assert.deepEqual(desk.core.health.reasons(), [])
  const { data } = await listHeld(desk.core, { limit: 10 })
  assert.deepEqual(
    data.map(({ cause, dueAt }) => [cause, dueAt]),
    Array(2).fill(['domain', '2026-11-22T12:00:00.000Z']),
  )
  assert.equal(await desk.look(23 * HOUR), 0)
  assert.deepEqual(desk.asked, [])
  assert.equal(await desk.look(HOUR), 1)
  assert.deepEqual(desk.asked, ['shop.test'])
  assert.deepEqual(await desk.held(), [])
  assert.deepEqual((await desk.listed()).sort(), [
    'ann@shop.test',
    'bob@shop.test',
    'eve@never.test',
  ])
  assert.deepEqual(await desk.subscribed(), ['old@shop.test'])
  const rows = await desk.core.store.read.select().from(suppressions)
  assert.ok(rows.every(({ reason }) => reason === 'HARD_BOUNCE'))
})

test('so is a domain whose mail was deferred', async (t) => {
  const desk = await open(t)
  await desk.end(['ann@grey.test'], { kind: 'deferred', change: { host: null } })
  await desk.end(['bob@grey.test'], noSuchDomain)
  assert.deepEqual([await desk.listed(), await desk.held()], [[], ['bob@grey.test']])
})

test('a domain that is there again condemns nobody', async (t) => {
  const desk = await open(t)
  await desk.end(['old@shop.test'], delivered)
  await desk.end(['ann@shop.test'], noSuchDomain)
  desk.answers['shop.test'] = 'there'
  await desk.look(DAY)
  assert.deepEqual([await desk.listed(), await desk.held()], [[], []])
  assert.equal((await desk.subscribed()).length, 2)
})

test('a null MX on the second look counts as a denial', async (t) => {
  const desk = await open(t)
  await desk.end(['old@shop.test'], delivered)
  await desk.end(['ann@shop.test'], noSuchDomain)
  desk.answers['shop.test'] = 'null'
  await desk.look(DAY)
  assert.deepEqual(await desk.listed(), ['ann@shop.test'])
})

test('where nobody can say, the look is repeated every hour, for a week at most', async (t) => {
  const desk = await open(t)
  await desk.end(['old@shop.test'], delivered)
  await desk.end(['ann@shop.test'], noSuchDomain)
  desk.answers['shop.test'] = 'failed'
  await desk.look(DAY)
  assert.equal(await desk.look(HOUR - 1), 0)
  assert.equal(await desk.look(1), 1)
  assert.deepEqual([await desk.listed(), await desk.held()], [[], ['ann@shop.test']])
  await desk.look(6 * DAY)
  assert.deepEqual([await desk.listed(), await desk.held()], [[], []])
})

test('an address that took mail meanwhile is let go, whatever the second look says', async (t) => {
  const desk = await open(t)
  await desk.end(['ann@shop.test'], delivered)
  desk.clock.now += HOUR
  await desk.end(['ann@shop.test'], noSuchDomain)
  desk.clock.now += HOUR
  await desk.end(['ann@shop.test'], delivered)
  await desk.look(DAY)
  assert.deepEqual([await desk.listed(), await desk.held()], [[], []])
})

test('what a session refuses for good meanwhile is suppressed at once', async (t) => {
  const desk = await open(t)
  await desk.end(['old@shop.test'], delivered)
  await desk.end(['ann@shop.test'], noSuchDomain)
  await desk.end(['ann@shop.test'], hard)
  assert.deepEqual([await desk.listed(), await desk.held()], [['ann@shop.test'], []])
})

test('the second look at a domain of very many goes through the fuse', async (t) => {
  const desk = await open(t)
  await desk.end(['old@shop.test'], delivered)
  await desk.end(people(260, 'shop.test'), noSuchDomain)
  assert.equal((await desk.held()).length, 260)
  await desk.look(DAY)
  assert.deepEqual([(await desk.listed()).length, (await desk.held()).length], [50, 210])
  const { data } = await listHeld(desk.core, { limit: 300 })
  assert.ok(data.every(({ cause, dueAt }) => cause === 'fuse' && dueAt === null))
  assert.match(desk.core.health.reasons()[0]?.reason ?? '', /held: 210 /)
})

test('undo drops what waits for a second look, too', async (t) => {
  const desk = await open(t)
  await desk.end(['old@shop.test'], delivered)
  await desk.end(['ann@shop.test'], noSuchDomain)
  assert.equal((await undoSuppressions(desk.core, { since: START })).dropped, 1)
  assert.deepEqual(await desk.held(), [])
})

test('in other modes than direct nobody is asked', async (t) => {
  const desk = await open(t)
  await desk.end(['old@shop.test'], delivered)
  await desk.end(['ann@shop.test'], noSuchDomain)
  const { config } = desk.core
  desk.core.config = { ...config, delivery: { ...config.delivery, mode: 'sandbox' } }
  assert.equal(await desk.look(DAY), 0)
  assert.deepEqual(desk.asked, [])
})
