/** Domains that DNS denies although they accepted mail before: a recheck precedes suppressions. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { DAY_MS, HOUR_MS } from '../../../../../src/base/clock.ts'
import type { Core } from '../../../../../src/core/core.ts'
import {
  listHeld,
  recheckDomains,
} from '../../../../../src/features/mail/suppressions/held-suppressions.ts'
import { undoSuppressions } from '../../../../../src/features/mail/suppressions/undo-suppressions.ts'
import type { DnsAnswer, MxRecord } from '../../../../../src/outbound/dns/answer.ts'
import { suppressions } from '../../../../../src/store/schema/suppressions.ts'
import { START } from '../../../../core.ts'
import { noSuchDomain, openBounces, people, statesOf } from '../bounces.ts'

const hard = { kind: 'hard' } as const
const delivered = { kind: 'delivered' } as const

type Mx = 'nxdomain' | 'null' | 'failed' | 'there'

/** `answers`: the DNS answers by domain; the test changes them. */
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
  const sender = await openBounces(t, () => ({ resolver }))
  const recheckAfter = async (afterMs: number) => {
    sender.clock.now += afterMs
    return recheckDomains(sender.core)
  }
  return { ...sender, answers, asked, recheckAfter }
}

test('a domain that accepted mail before is rechecked before addresses are suppressed', async (t) => {
  const sender = await open(t)
  await sender.end(['old@shop.test'], delivered)
  await sender.end(['ann@shop.test', 'bob@shop.test', 'eve@never.test'], noSuchDomain)
  assert.deepEqual(await statesOf(sender), { delivered: 1, bounced: 3 })
  assert.deepEqual(await sender.listed(), ['eve@never.test'])
  assert.deepEqual(await sender.subscribed(), ['old@shop.test', 'ann@shop.test', 'bob@shop.test'])
  assert.deepEqual(sender.core.health.reasons(), [])
  const { data } = await listHeld(sender.core, { limit: 10 })
  assert.deepEqual(
    data.map(({ cause, dueAt }) => [cause, dueAt]),
    Array(2).fill(['domain', '2026-11-22T12:00:00.000Z']),
  )
  assert.equal(await sender.recheckAfter(23 * HOUR_MS), 0)
  assert.deepEqual(sender.asked, [])
  assert.equal(await sender.recheckAfter(HOUR_MS), 1)
  assert.deepEqual(sender.asked, ['shop.test'])
  assert.deepEqual(await sender.held(), [])
  assert.deepEqual((await sender.listed()).sort(), [
    'ann@shop.test',
    'bob@shop.test',
    'eve@never.test',
  ])
  assert.deepEqual(await sender.subscribed(), ['old@shop.test'])
  const rows = await sender.core.store.read.select().from(suppressions)
  assert.ok(rows.every(({ reason }) => reason === 'HARD_BOUNCE'))
})

test('a domain whose mail was deferred before is rechecked as well', async (t) => {
  const sender = await open(t)
  await sender.end(['ann@grey.test'], { kind: 'deferred', change: { host: null } })
  await sender.end(['bob@grey.test'], noSuchDomain)
  assert.deepEqual([await sender.listed(), await sender.held()], [[], ['bob@grey.test']])
})

test('a domain that exists again suppresses no address', async (t) => {
  const sender = await open(t)
  await sender.end(['old@shop.test'], delivered)
  await sender.end(['ann@shop.test'], noSuchDomain)
  sender.answers['shop.test'] = 'there'
  await sender.recheckAfter(DAY_MS)
  assert.deepEqual([await sender.listed(), await sender.held()], [[], []])
  assert.equal((await sender.subscribed()).length, 2)
})

test('a null MX at the recheck counts as a denial', async (t) => {
  const sender = await open(t)
  await sender.end(['old@shop.test'], delivered)
  await sender.end(['ann@shop.test'], noSuchDomain)
  sender.answers['shop.test'] = 'null'
  await sender.recheckAfter(DAY_MS)
  assert.deepEqual(await sender.listed(), ['ann@shop.test'])
})

test('a recheck without a response is repeated every hour, for a week at most', async (t) => {
  const sender = await open(t)
  await sender.end(['old@shop.test'], delivered)
  await sender.end(['ann@shop.test'], noSuchDomain)
  sender.answers['shop.test'] = 'failed'
  await sender.recheckAfter(DAY_MS)
  assert.equal(await sender.recheckAfter(HOUR_MS - 1), 0)
  assert.equal(await sender.recheckAfter(1), 1)
  assert.deepEqual([await sender.listed(), await sender.held()], [[], ['ann@shop.test']])
  await sender.recheckAfter(6 * DAY_MS)
  assert.deepEqual([await sender.listed(), await sender.held()], [[], []])
})

test('an address that has accepted mail meanwhile is dropped for any result of the recheck', async (t) => {
  const sender = await open(t)
  await sender.end(['ann@shop.test'], delivered)
  sender.clock.now += HOUR_MS
  await sender.end(['ann@shop.test'], noSuchDomain)
  sender.clock.now += HOUR_MS
  await sender.end(['ann@shop.test'], delivered)
  await sender.recheckAfter(DAY_MS)
  assert.deepEqual([await sender.listed(), await sender.held()], [[], []])
})

test('an address that a session refuses permanently is suppressed at once', async (t) => {
  const sender = await open(t)
  await sender.end(['old@shop.test'], delivered)
  await sender.end(['ann@shop.test'], noSuchDomain)
  await sender.end(['ann@shop.test'], hard)
  assert.deepEqual([await sender.listed(), await sender.held()], [['ann@shop.test'], []])
})

test('the recheck of a domain with many addresses respects the fuse', async (t) => {
  const sender = await open(t)
  await sender.end(['old@shop.test'], delivered)
  await sender.end(people(260, 'shop.test'), noSuchDomain)
  assert.equal((await sender.held()).length, 260)
  await sender.recheckAfter(DAY_MS)
  assert.deepEqual([(await sender.listed()).length, (await sender.held()).length], [50, 210])
  const { data } = await listHeld(sender.core, { limit: 300 })
  assert.ok(data.every(({ cause, dueAt }) => cause === 'fuse' && dueAt === null))
  assert.match(sender.core.health.reasons()[0]?.reason ?? '', /held: 210 /)
})

test('undo also drops addresses that wait for a recheck', async (t) => {
  const sender = await open(t)
  await sender.end(['old@shop.test'], delivered)
  await sender.end(['ann@shop.test'], noSuchDomain)
  assert.equal((await undoSuppressions(sender.core, { since: START })).dropped, 1)
  assert.deepEqual(await sender.held(), [])
})

test('modes other than direct do no recheck', async (t) => {
  const sender = await open(t)
  await sender.end(['old@shop.test'], delivered)
  await sender.end(['ann@shop.test'], noSuchDomain)
  const { config } = sender.core
  sender.core.config = { ...config, delivery: { ...config.delivery, mode: 'sandbox' } }
  assert.equal(await sender.recheckAfter(DAY_MS), 0)
  assert.deepEqual(sender.asked, [])
})
