import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { QueueLane } from '../../../../src/features/messages/queue/notifier.ts'
import { planClaims } from '../../../../src/features/messages/queue/plan-claims.ts'

type Deps = Parameters<typeof planClaims>[0]

type Room = {
  siteOf?(domain: string): string
  capacity?(site: string): number
  projectCapacity?(projectId: string): number
  mayBegin?(site: string): boolean
}

function plan(lanes: readonly QueueLane[], room: Room = {}, hasBacklog = true) {
  const outbound = {
    siteOf: (domain: string) => domain,
    capacity: () => 1_000,
    projectCapacity: () => 1_000,
    mayBegin: () => true,
    ...room,
  }
  const throttle = { emailsPerSecond: null }
  const due = lanes.map((lane) => ({ lane, hasBacklog }))
  const claims = planClaims({ outbound, throttle } as unknown as Deps, due)
  return claims.map(({ lane, limit }) => [lane.domain, limit])
}

const lane = (domain: string, projectId = 'a'): QueueLane => ({ queueClass: 1, domain, projectId })
const lanes = (count: number) => Array.from({ length: count }, (_, index) => lane(`d${index}.test`))

test('one transaction claims from a hundred lanes at most, the most urgent ones', () => {
  const planned = plan(lanes(400), { capacity: () => 1 })
  assert.equal(planned.length, 100)
  assert.deepEqual(planned.at(-1), ['d99.test', 1])
})

test('one transaction claims 400 emails at most', () => {
  const planned = plan(lanes(6))
  assert.deepEqual(
    planned.map(([, limit]) => limit),
    [100, 100, 100, 100],
  )
})

test('a lane without a known backlog leaves the transaction to others', () => {
  assert.deepEqual(
    plan(lanes(400), {}, false),
    lanes(20).map(({ domain }) => [domain, 20]),
  )
})

test('nothing is claimed for a site that may not begin, and it takes no capacity of others', () => {
  const mayBegin = (site: string) => site !== 'new.test'
  const due = [lane('new.test'), lane('open.test')]
  assert.deepEqual(plan(due, { mayBegin }), [['open.test', 100]])
})

test('lanes of one site share its capacity', () => {
  const room = { siteOf: () => 'big.test', capacity: () => 5 }
  assert.deepEqual(plan([lane('x.test'), lane('y.test'), lane('z.test')], room), [
    ['x.test', 2],
    ['y.test', 2],
    ['z.test', 1],
  ])
})

test('lanes of a project without capacity are skipped and take no capacity of a site', () => {
  const asked: string[] = []
  const siteOf = (domain: string) => {
    asked.push(domain)
    return 'big.test'
  }
  const projectCapacity = (projectId: string) => (projectId === 'full' ? 0 : 10)
  const due = [lane('x.test', 'full'), lane('y.test', 'full'), lane('z.test')]
  assert.deepEqual(plan(due, { siteOf, projectCapacity, capacity: () => 6 }), [['z.test', 6]])
  assert.deepEqual(asked, ['z.test'])
})

test('projects share a site equally, however many domains there each of them has', () => {
  const room = { siteOf: () => 'big.test', capacity: () => 40 }
  const many = ['a', 'b', 'c', 'd'].map((name) => lane(`${name}.test`, 'many'))
  const [first, ...others] = many
  const due = [first, lane('x.test', 'one'), ...others].filter((one) => one !== undefined)
  assert.deepEqual(plan(due, room), [
    ['a.test', 5],
    ['x.test', 18],
    ['b.test', 6],
    ['c.test', 6],
    ['d.test', 5],
  ])
})
