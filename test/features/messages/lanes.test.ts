import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLanes } from '../../../src/features/messages/lanes.ts'
import type { QueueClass } from '../../../src/store/schema.ts'

const lane = (domain: string, queueClass: QueueClass = 1, projectId = 'p') => ({
  domain,
  queueClass,
  projectId,
})
const names = (lanes: Iterable<{ domain: string }>) => [...lanes].map(({ domain }) => domain)

test('transactional lanes come before workflow before campaign lanes', () => {
  const lanes = createLanes()
  lanes.note(lane('campaign.test', 10), 0)
  lanes.note(lane('workflow.test', 5), 0)
  lanes.note(lane('transactional.test', 1), 0)
  assert.deepEqual(names(lanes.takeDue(0, 10)), [
    'transactional.test',
    'workflow.test',
    'campaign.test',
  ])
})

test('lanes of one class take turns when a pass visits only some of them', () => {
  const lanes = createLanes()
  for (const domain of ['a', 'b', 'c']) lanes.note(lane(domain), 0)
  assert.deepEqual(names(lanes.takeDue(0, 2)), ['a', 'b'])
  assert.deepEqual(names(lanes.takeDue(0, 2)), ['c', 'a'])
})

test('a lane is due at its earliest email, and not before', () => {
  const lanes = createLanes()
  lanes.note(lane('a'), 500)
  lanes.note(lane('a'), 300)
  lanes.note(lane('a'), 900)
  assert.deepEqual(names(lanes.takeDue(299, 10)), [])
  assert.equal(lanes.nextDueAt(), 300)
  assert.deepEqual(names(lanes.takeDue(300, 10)), ['a'])
})

test('a lane that was found empty is forgotten, one with later mail is kept', () => {
  const lanes = createLanes()
  lanes.note(lane('a'), 0)
  lanes.settle(lane('a'), 800)
  assert.equal(lanes.nextDueAt(), 800)
  lanes.settle(lane('a'), null)
  assert.equal(lanes.nextDueAt(), undefined)
})

test('the same domain is one lane for each project', () => {
  const lanes = createLanes()
  lanes.note(lane('a', 1, 'p'), 0)
  lanes.note(lane('a', 1, 'q'), 0)
  assert.deepEqual(
    [...lanes.takeDue(0, 10)].map(({ projectId }) => projectId),
    ['p', 'q'],
  )
})
