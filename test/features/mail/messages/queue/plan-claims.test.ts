import assert from 'node:assert/strict'
import { test } from 'node:test'
import { planClaims } from '../../../../../src/features/mail/messages/queue/claim.ts'
import type { QueueLane } from '../../../../../src/features/mail/messages/queue/notifier.ts'

type Deps = Parameters<typeof planClaims>[0]

type Room = {
  siteOf?(domain: string): string
  capacity?(site: string): number
  projectCapacity?(projectId: string): number
  lacksConnection?(site: string): boolean
  starvedCapacity?(): number
}

function plan(lanes: readonly QueueLane[], room: Room = {}, hasBacklog = true) {
  const outbound = {
    siteOf: (domain: string) => domain,
    capacity: () => 1_000,
    projectCapacity: () => 1_000,
    lacksConnection: () => false,
    ...room,
  }
  const throttle = { emailsPerSecond: null }
  const due = lanes.map((lane) => ({ lane, hasBacklog }))
  const { claims } = planClaims({ outbound, throttle } as unknown as Deps, due)
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

test('few sites are begun that must wait for a connection, and their domains count once', () => {
  const room: Room = {
    siteOf: (domain) => (domain.startsWith('d1') ? 'shared.test' : domain),
    lacksConnection: (site) => site !== 'open.test',
    starvedCapacity: () => 3,
    capacity: () => 5,
  }
  const due = [...lanes(12), lane('open.test'), ...lanes(20).map(({ domain }) => lane(domain, 'b'))]
  const planned = plan(due, room).map(([domain]) => domain)
  const own = ['d0.test', 'd1.test', 'd2.test', 'd10.test', 'd11.test', 'open.test']
  assert.deepEqual(planned.slice(0, 6), own)
  // The sites that the first project has begun cost the other one nothing.
  const others = ['d0.test', 'd1.test', 'd2.test', 'd3.test', 'd4.test', 'd5.test']
  assert.deepEqual(planned.slice(6), others)
})

test('how many sites may be begun is asked once for each project and class', () => {
  let asked = 0
  const starvedCapacity = () => {
    asked += 1
    return 0
  }
  assert.deepEqual(plan(lanes(50), { lacksConnection: () => true, starvedCapacity }), [])
  assert.equal(asked, 1)
})

test('a plan names the lanes that it has considered, with those of full projects and sites', () => {
  const consider = (capacity: number) => {
    const due = lanes(9).map((one, at) => ({
      lane: { ...one, projectId: at === 0 ? 'full' : 'a' },
      hasBacklog: true,
    }))
    const outbound = {
      siteOf: (domain: string) => domain,
      capacity: (site: string) => (site === 'd1.test' ? 0 : capacity),
      projectCapacity: (projectId: string) => (projectId === 'full' ? 0 : 1_000),
      lacksConnection: () => false,
    }
    const throttle = { emailsPerSecond: null }
    return planClaims({ outbound, throttle } as unknown as Deps, due).considered.length
  }
  assert.equal(consider(100), 6)
  assert.equal(consider(1), 9)
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
