import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBudgets, networkOf, type SiteFacts } from '../../../src/outbound/sites/budgets.ts'

const facts = (change: Partial<SiteFacts> = {}): SiteFacts => ({
  addresses: [],
  projectId: null,
  hasGreeted: true,
  standing: 'replied',
  isIdle: false,
  ...change,
})

/** Allocates up to `wanted` connections to the site. Returns how many it got. */
function fill(
  budgets: ReturnType<typeof createBudgets>,
  site: string,
  own: SiteFacts,
  wanted = 10,
) {
  let count = 0
  budgets.update(site, own, 0)
  while (count < wanted && budgets.capacity(site) > 0) budgets.update(site, own, ++count)
  return count
}

const sites = Array.from({ length: 300 }, (_, at) => `site${at}`)

test('sites at one address share the budget of one site', () => {
  const budgets = createBudgets({ maxConnections: 200, maxPerSite: 10 })
  const counts = sites.map((site) => fill(budgets, site, facts({ addresses: ['192.0.2.1'] }), 4))
  assert.deepEqual(counts.slice(0, 4), [4, 4, 2, 0])
  assert.equal(fill(budgets, 'other', facts({ addresses: ['198.51.100.1'] })), 10)
})

test('sites in one network share the budget of one site, for both families', () => {
  for (const address of [(at: number) => `192.0.2.${at}`, (at: number) => `2001:db8:1:${at}::25`]) {
    const budgets = createBudgets({ maxConnections: 200, maxPerSite: 10 })
    const counts = sites
      .slice(0, 20)
      .map((site, at) => fill(budgets, site, facts({ addresses: [address(at)] }), 1))
    assert.equal(sum(counts), 10)
  }
})

test('networks are /24 and /48, in any notation of an address', () => {
  assert.equal(networkOf('192.0.2.77'), '192.0.2.0/24')
  assert.equal(networkOf('2001:db8:12::1'), networkOf('2001:0db8:0012:ff::9'))
  assert.notEqual(networkOf('2001:db8:12::1'), networkOf('2001:db8:13::1'))
})

test('sites without a greeting have a quarter of all connections, silent ones half of that', () => {
  const budgets = createBudgets({ maxConnections: 200, maxPerSite: 10 })
  const silent = facts({ hasGreeted: false, standing: 'silent' })
  const unknown = facts({ hasGreeted: false, standing: 'new' })
  assert.equal(sum(sites.map((site) => fill(budgets, `silent ${site}`, silent, 1))), 25)
  assert.equal(sum(sites.map((site) => fill(budgets, `new ${site}`, unknown, 1))), 25)
  assert.equal(sum(sites.map((site) => fill(budgets, site, facts(), 1))), 150)
})

test('a greeting frees a connection for the next site', () => {
  const budgets = createBudgets({ maxConnections: 8, maxPerSite: 10 })
  const unknown = facts({ hasGreeted: false, standing: 'new' })
  assert.equal(fill(budgets, 'a', unknown), 2)
  assert.equal(fill(budgets, 'b', unknown), 0)
  assert.deepEqual([...(budgets.sharers('b') ?? [])], ['a', 'b'])
  budgets.update('a', { ...unknown, hasGreeted: true }, 2)
  assert.equal(budgets.capacity('b'), 2)
})

test('sites that never answered leave a quarter to those that have', () => {
  const budgets = createBudgets({ maxConnections: 40, maxPerSite: 10 })
  const greeted = facts({ standing: 'new' })
  assert.equal(sum(sites.map((site) => fill(budgets, site, greeted, 1))), 30)
  assert.equal(fill(budgets, 'replied', facts()), 10)
})

test('a project has three times as many connections as it leaves free', () => {
  const budgets = createBudgets({ maxConnections: 200, maxPerSite: 10 })
  const of = (projectId: string) =>
    sum(sites.map((site) => fill(budgets, `${projectId} ${site}`, facts({ projectId }), 1)))
  assert.equal(of('first'), 150)
  const second = of('second')
  assert.ok(second > 30 && second < 50)
  assert.ok(of('third') > 0)
})

test('connections of idle sites count as free, and the longest idle one releases its own first', () => {
  const budgets = createBudgets({ maxConnections: 8, maxPerSite: 4 })
  for (const site of ['a', 'b']) fill(budgets, site, facts({ projectId: 'p' }), 3)
  budgets.update('c', facts({ projectId: 'p' }), 0)
  assert.equal(budgets.capacity('c'), 0)
  for (const site of ['b', 'a']) budgets.update(site, facts({ isIdle: true }), 3)
  assert.equal(budgets.capacity('c'), 6)
  assert.equal(budgets.sharers('c'), undefined)
  assert.equal(budgets.findIdle('c', 2), undefined)
  assert.equal(budgets.findIdle('c', 3), 'b')
  budgets.update('b', facts({ isIdle: true }), 0)
  assert.equal(budgets.findIdle('c', 6), 'a')
})

test('only idle sites that share the lacking budget release connections', () => {
  const budgets = createBudgets({ maxConnections: 20, maxPerSite: 2 })
  const at = (address: string) => ({ addresses: [address] })
  budgets.update('elsewhere', facts({ ...at('198.51.100.1'), isIdle: true }), 2)
  budgets.update('neighbour', facts({ ...at('192.0.2.1'), isIdle: true }), 2)
  budgets.update('own', facts(at('192.0.2.2')), 0)
  assert.equal(budgets.findIdle('own', 1), 'neighbour')
})

test('a removed site holds no connections and leaves no data', () => {
  const budgets = createBudgets({ maxConnections: 200, maxPerSite: 10 })
  const own = facts({ addresses: ['192.0.2.1'], projectId: 'p', hasGreeted: false })
  for (let round = 0; round < 3; round++) {
    assert.equal(fill(budgets, 'a', own), 10)
    budgets.forget('a')
  }
})

test('the site with fewer connections comes first: by its server, then by its project', () => {
  const budgets = createBudgets({ maxConnections: 200, maxPerSite: 10 })
  const tarpit = facts({ addresses: ['192.0.2.1'], projectId: 'first' })
  budgets.update('tarpit', tarpit, 9)
  budgets.update('another of it', tarpit, 0)
  budgets.update('same project', facts({ addresses: ['192.0.2.2'], projectId: 'first' }), 0)
  budgets.update('other project', facts({ addresses: ['192.0.2.3'], projectId: 'second' }), 0)
  const ranked = ['another of it', 'same project', 'other project'].sort(
    (left, right) => budgets.rank(left) - budgets.rank(right),
  )
  assert.deepEqual(ranked, ['other project', 'same project', 'another of it'])
})

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}

test('a silent site shares the limit of silent sites first, also when its project has its share', () => {
  const budgets = createBudgets({ maxConnections: 16, maxPerSite: 10 })
  const silent = facts({ projectId: 'p', hasGreeted: false, standing: 'silent' })
  assert.deepEqual([fill(budgets, 'silent1', silent), fill(budgets, 'silent2', silent)], [2, 0])
  fill(budgets, 'busy1', facts({ projectId: 'p' }))
  fill(budgets, 'busy2', facts({ projectId: 'p' }))
  assert.equal(fill(budgets, 'busy3', facts({ projectId: 'p' })), 0)
  assert.deepEqual([...(budgets.sharers('silent2') ?? [])], ['silent1', 'silent2'])
  assert.equal(budgets.isLocallyFull('silent2'), true)
  assert.equal(budgets.isLocallyFull('busy3'), false)
})

test('the capacity of the pool is that of a site of the project without limits of its own', () => {
  const budgets = createBudgets({ maxConnections: 16, maxPerSite: 10 })
  const known = { hasGreeted: true, standing: 'replied' } as const
  const unknown = { hasGreeted: false, standing: 'new' } as const
  assert.equal(budgets.poolCapacity({ ...known, projectId: 'p' }), 16)
  assert.equal(budgets.poolCapacity({ ...unknown, projectId: 'p' }), 4)
  const busy = facts({ projectId: 'p', addresses: ['192.0.2.1'] })
  assert.equal(fill(budgets, 'busy', busy, 20), 10)
  assert.equal(budgets.isLocallyFull('busy'), true)
  assert.equal(budgets.poolCapacity({ ...known, projectId: 'p' }), 2)
  assert.equal(budgets.poolCapacity({ ...known, projectId: 'q' }), 6)
  budgets.update('busy', { ...busy, isIdle: true }, 10)
  assert.equal(budgets.poolCapacity({ ...known, projectId: 'q' }), 16)
})
