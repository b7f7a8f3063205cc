import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type ConnectionHolder,
  chooseReclaim,
  type StarvingSite,
} from '../../../src/outbound/sites/starved-sites.ts'
import { DEFAULT_TIMEOUTS } from '../../../src/outbound/smtp/commands.ts'

const holder = (site: string, change: Partial<ConnectionHolder> = {}): ConnectionHolder => ({
  site,
  connections: 1,
  isLowering: false,
  silentSince: null,
  cuts: 0,
  servedSince: null,
  isSameServer: false,
  ...change,
})
const urgent: StarvingSite = { since: 100_000, isUrgent: true, now: 100_000 }
const bulk: StarvingSite = { ...urgent, isUrgent: false }
const silentFor = (ms: number) => ({ silentSince: urgent.now - ms })

test('the site with the most connections gives up one', () => {
  const holders = [holder('a', { connections: 2 }), holder('b', { connections: 6 }), holder('c')]
  assert.deepEqual(chooseReclaim(holders, bulk), { site: 'b', connections: 5, isCut: false })
})

test('the last connection of a site is taken only after a while, sooner for urgent mail', () => {
  const holders = [holder('first'), holder('second')]
  const first = { site: 'first', connections: 0, isCut: false }
  for (const [starving, waitMs] of [
    [bulk, 5_000],
    [urgent, 500],
  ] as const) {
    const after = (ms: number) => ({ ...starving, now: starving.since + ms })
    assert.equal(chooseReclaim(holders, after(waitMs)), null)
    assert.deepEqual(chooseReclaim(holders, after(waitMs + 1)), first)
  }
})

test('a site that is giving up a connection is not asked again', () => {
  const holders = [
    holder('a', { connections: 9, isLowering: true }),
    holder('b', { connections: 2 }),
  ]
  assert.deepEqual(chooseReclaim(holders, bulk)?.site, 'b')
  assert.equal(chooseReclaim(holders.slice(0, 1), bulk), null)
})

test('the longest silent session is closed, after a second for urgent mail', () => {
  const holders = [
    holder('short', silentFor(1_500)),
    holder('long', silentFor(2_000)),
    holder('fresh', silentFor(900)),
  ]
  assert.deepEqual(chooseReclaim(holders, urgent), {
    site: 'long',
    connections: 0,
    isCut: true,
  })
  assert.equal(chooseReclaim([holder('fresh', silentFor(900))], urgent), null)
  assert.equal(chooseReclaim(holders, bulk), null)
  assert.equal(chooseReclaim([holder('a', silentFor(30_000))], bulk)?.isCut, true)
})

test('a silent site is cut even if it was asked to give up its connection', () => {
  const stuck = holder('stuck', { ...silentFor(5_000), isLowering: true })
  assert.equal(chooseReclaim([stuck], urgent)?.isCut, true)
})

test('a server that greets late has eight times as long each time it was cut', () => {
  const cutTwice = (ms: number) => [holder('late', { ...silentFor(ms), cuts: 2 })]
  assert.equal(chooseReclaim(cutTwice(63_999), urgent), null)
  assert.equal(chooseReclaim(cutTwice(64_000), urgent)?.isCut, true)
  const often = [holder('late', { ...silentFor(360_000), cuts: 50 })]
  assert.equal(chooseReclaim(often, urgent)?.isCut, true)
})

test('a server that was cut often gets the time limit of a session', () => {
  const { connect, greeting } = DEFAULT_TIMEOUTS
  const often = [holder('never', { ...silentFor(connect + greeting + 1_000), cuts: 50 })]
  assert.equal(chooseReclaim(often, urgent), null)
})

test('names at one server do not cut each other', () => {
  const holders = [holder('a', { ...silentFor(200_000), isSameServer: true })]
  assert.equal(chooseReclaim(holders, { ...urgent, since: 0 }), null)
})

test('bulk mail takes the last connection of the site that has had one longest, after a second', () => {
  const waiting = { ...bulk, since: bulk.now - 6_000 }
  const held = (site: string, ms: number) => holder(site, { servedSince: bulk.now - ms })
  assert.equal(chooseReclaim([held('a', 999)], waiting), null)
  const holders = [held('a', 1_000), held('b', 3_000), held('c', 2_000)]
  assert.deepEqual(chooseReclaim(holders, waiting), {
    site: 'b',
    connections: 0,
    isCut: false,
  })
  const now = { ...waiting, isUrgent: true }
  assert.equal(chooseReclaim([held('a', 10)], now)?.site, 'a')
})
