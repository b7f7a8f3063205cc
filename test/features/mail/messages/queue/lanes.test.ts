import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { QueueClass } from '../../../../../src/base/queue-class.ts'
import {
  createLanes,
  type DueLane,
  type Lanes,
} from '../../../../../src/features/mail/messages/queue/lanes.ts'

const lane = (domain: string, queueClass: QueueClass = 1, projectId = 'p') => ({
  domain,
  queueClass,
  projectId,
})
/** Lists due lanes as the queue does, which moves them to the end. */
function visit(lanes: Lanes, now: number, max: number): DueLane[] {
  const due = lanes.listDue(now, max)
  lanes.markVisited(due)
  return due
}
const names = (due: readonly DueLane[]) => due.map(({ lane }) => lane.domain)

test('transactional lanes come before workflow before campaign lanes', () => {
  const lanes = createLanes()
  lanes.addDueAt(lane('campaign.test', 10), 0)
  lanes.addDueAt(lane('workflow.test', 5), 0)
  lanes.addDueAt(lane('transactional.test', 1), 0)
  const due = ['transactional.test', 'workflow.test', 'campaign.test']
  assert.deepEqual(names(visit(lanes, 0, 10)), due)
})

test('a visited lane moves behind the others', () => {
  const lanes = createLanes()
  for (const domain of ['a', 'b', 'c']) lanes.addDueAt(lane(domain), 0)
  const due = lanes.listDue(0, 10)
  assert.deepEqual(names(due), ['a', 'b', 'c'])
  lanes.markVisited(due.slice(0, 1))
  assert.deepEqual(names(lanes.listDue(0, 10)), ['b', 'c', 'a'])
  assert.deepEqual(names(lanes.listDue(0, 10)), ['b', 'c', 'a'])
})

test('more due lanes than one visit serves are served in turn', () => {
  const lanes = createLanes()
  for (const domain of ['a', 'b', 'c']) lanes.addDueAt(lane(domain), 0)
  assert.deepEqual(names(visit(lanes, 0, 2)), ['a', 'b'])
  assert.deepEqual(names(visit(lanes, 0, 2)), ['c', 'a'])
})

test('a lane that is still due after a claim is visited first, and others have visits, too', () => {
  const lanes = createLanes()
  for (const domain of ['a', 'b']) lanes.addDueAt(lane(domain), 0)
  for (let at = 0; at < 1_000; at++) lanes.addDueAt(lane(`small${at}`), 1)
  visit(lanes, 0, 10)
  lanes.markServed([lane('a'), lane('b')])
  const visits = Array.from({ length: 10 }, () => visit(lanes, 1, 6)).flat()
  const isBig = ({ lane }: DueLane) => ['a', 'b'].includes(lane.domain)
  assert.ok(visits.every((one) => one.hasBacklog === isBig(one)))
  assert.equal(visits.filter(isBig).length, 20)
  assert.equal(new Set(names(visits)).size, 42)
})

test('lanes with a backlog leave visits to the others, however many there are', () => {
  const lanes = createLanes()
  const full = Array.from({ length: 200 }, (_, at) => lane(`full${at}`))
  for (const one of full) lanes.addDueAt(one, 0)
  visit(lanes, 0, 200)
  lanes.markServed(full)
  for (let at = 0; at < 200; at++) lanes.addDueAt(lane(`small${at}`), 1)
  const counts = Array.from({ length: 4 }, () => {
    const visits = visit(lanes, 1, 100)
    return [visits.length, visits.filter(({ hasBacklog }) => hasBacklog).length]
  })
  assert.deepEqual(counts, Array(4).fill([100, 75]))
  const visits = Array.from({ length: 8 }, () => names(visit(lanes, 1, 100))).flat()
  assert.equal(new Set(visits).size, 400)
})

test('each group of lanes gets visits when there are more projects than visits', () => {
  const lanes = createLanes()
  const projects = Array.from({ length: 30 }, (_, at) => `p${at}`)
  for (const project of projects) lanes.addDueAt(lane('big', 1, project), 0)
  visit(lanes, 0, 30)
  lanes.markServed(projects.map((project) => lane('big', 1, project)))
  for (const project of projects) lanes.addDueAt(lane('small', 1, project), 1)
  const visits = Array.from({ length: 30 }, () => visit(lanes, 1, 10)).flat()
  const byName = Map.groupBy(visits, ({ lane }) => `${lane.domain} ${lane.projectId}`)
  assert.equal(byName.size, 60)
})

test('each group has its turns, however many of the listed lanes are visited', () => {
  for (const [projects, visited] of [
    [25, 20],
    [100, 5],
    [50, 25],
    [1, 4],
  ] as const) {
    const lanes = createLanes()
    const names = Array.from({ length: projects }, (_, at) => `p${at}`)
    const big = names.flatMap((project) =>
      [0, 1, 2, 3, 4].map((at) => lane(`big${at}`, 1, project)),
    )
    for (const one of big) lanes.addDueAt(one, 0)
    visit(lanes, 0, 1_000)
    lanes.markServed(big)
    for (const project of names)
      for (let at = 0; at < 20; at++) lanes.addDueAt(lane(`small${at}`, 1, project), 1)
    const counts = new Map<string, number>()
    for (let round = 0; round < (projects * 40) / visited; round++) {
      const considered = lanes.listDue(1, 100).slice(0, visited)
      lanes.markVisited(considered)
      for (const { lane, hasBacklog } of considered) {
        const group = `${lane.projectId} ${hasBacklog}`
        counts.set(group, (counts.get(group) ?? 0) + 1)
      }
    }
    assert.equal(counts.size, 2 * projects, `${projects} projects, ${visited} visits`)
    // Each project has 40 visits, one in four to a lane without a backlog.
    for (const [group, count] of counts) {
      const expected = group.endsWith('true') ? 30 : 10
      assert.ok(Math.abs(count - expected) <= 2, `${group}: ${count}`)
    }
  }
})

test('a lane that was emptied has no backlog', () => {
  const lanes = createLanes()
  lanes.addDueAt(lane('a'), 0)
  visit(lanes, 0, 10)
  lanes.markServed([lane('a')])
  lanes.addDueAt(lane('a'), 0)
  assert.deepEqual(
    visit(lanes, 0, 10).map(({ hasBacklog }) => hasBacklog),
    [true],
  )
  lanes.setDueAt(lane('a'), null)
  lanes.markServed([lane('a')])
  lanes.addDueAt(lane('a'), 0)
  assert.deepEqual(
    visit(lanes, 0, 10).map(({ hasBacklog }) => hasBacklog),
    [false],
  )
})

test('projects take turns within a class: none waits for all lanes of another', () => {
  const lanes = createLanes()
  for (let at = 0; at < 20_000; at++) lanes.addDueAt(lane(`bulk${at}.test`, 1, 'bulk'), 0)
  lanes.addDueAt(lane('good.test', 1, 'other'), 1)
  assert.deepEqual(names(visit(lanes, 1, 4)).slice(0, 3), ['bulk0.test', 'good.test', 'bulk1.test'])
  assert.ok(
    names(visit(lanes, 1, 4))
      .slice(0, 2)
      .includes('good.test'),
  )
})

test('a lane is due at its earliest email, and not before', () => {
  const lanes = createLanes()
  lanes.addDueAt(lane('a'), 500)
  lanes.addDueAt(lane('a'), 300)
  lanes.addDueAt(lane('a'), 900)
  assert.deepEqual(names(visit(lanes, 299, 10)), [])
  assert.equal(lanes.nextDueAt(), 300)
  assert.deepEqual(names(visit(lanes, 300, 10)), ['a'])
})

test('an empty lane is removed, a lane with later mail waits until it is due', () => {
  const lanes = createLanes()
  lanes.addDueAt(lane('a'), 0)
  visit(lanes, 0, 10)
  lanes.setDueAt(lane('a'), 800)
  assert.deepEqual(visit(lanes, 799, 10), [])
  assert.equal(lanes.nextDueAt(), 800)
  lanes.setDueAt(lane('a'), null)
  assert.equal(lanes.nextDueAt(), undefined)
  assert.deepEqual(visit(lanes, 1_000, 10), [])
})

test('the same domain is one lane for each project', () => {
  const lanes = createLanes()
  lanes.addDueAt(lane('a', 1, 'p'), 0)
  lanes.addDueAt(lane('a', 1, 'q'), 0)
  assert.deepEqual(
    visit(lanes, 0, 10).map(({ lane: { projectId } }) => projectId),
    ['p', 'q'],
  )
})

test('a hundred thousand waiting lanes do not delay a due one', () => {
  const lanes = createLanes()
  for (let index = 0; index < 100_000; index += 1) lanes.addDueAt(lane(`d${index}`), 60_000)
  lanes.addDueAt(lane('now'), 0)
  assert.deepEqual(names(visit(lanes, 0, 10)), ['now'])
})

test('the lanes of a project are known, due or not, in all classes', () => {
  const lanes = createLanes()
  lanes.addDueAt(lane('now.test'), 0)
  lanes.addDueAt(lane('later.test', 10), 1_000)
  lanes.addDueAt(lane('other.test', 1, 'q'), 0)
  lanes.addDueAt(lane('empty.test'), 0)
  lanes.setDueAt(lane('empty.test'), null)
  visit(lanes, 0, 10)
  assert.deepEqual([...lanes.ofProject('p')], [lane('now.test'), lane('later.test', 10)])
  assert.deepEqual([...lanes.ofProject('unknown')], [])
})
