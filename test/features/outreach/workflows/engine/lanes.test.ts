import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createWorkflowLanes } from '../../../../../src/features/outreach/workflows/engine/engine.ts'

const lane = (projectId: string, workflowId: string) => ({ projectId, workflowId })

test('projects take turns, and so do the workflows of a project', () => {
  const lanes = createWorkflowLanes()
  const all = [lane('a', 'a1'), lane('a', 'a2'), lane('a', 'a3'), lane('b', 'b1')]
  for (const each of all) lanes.addDueAt(each, 0)
  const taken: string[] = []
  for (let turn = 0; turn < 8; turn += 1) {
    const next = lanes.take(1)
    if (next === undefined) break
    taken.push(next.workflowId)
    lanes.addDueAt(next, 0)
  }
  assert.deepEqual(taken, ['a1', 'b1', 'a2', 'b1', 'a3', 'b1', 'a1', 'b1'])
})

test('a workflow is taken when it is due, once, at its earliest time', () => {
  const lanes = createWorkflowLanes()
  lanes.addDueAt(lane('a', 'a1'), 100)
  lanes.addDueAt(lane('a', 'a1'), 50)
  lanes.addDueAt(lane('a', 'a1'), 70)
  assert.equal(lanes.nextDueAt(), 50)
  assert.equal(lanes.take(49), undefined)
  assert.deepEqual(lanes.take(50), lane('a', 'a1'))
  assert.equal(lanes.take(1_000), undefined)
  assert.equal(lanes.nextDueAt(), undefined)
})

test('ten thousand workflows that sleep are not looked at', () => {
  const lanes = createWorkflowLanes()
  for (let number = 0; number < 10_000; number += 1) {
    lanes.addDueAt(lane('sleepers', `w${number}`), 1_000 + number)
  }
  lanes.addDueAt(lane('b', 'b1'), 10)
  assert.deepEqual(lanes.take(20), lane('b', 'b1'))
  assert.equal(lanes.take(20), undefined)
  assert.equal(lanes.nextDueAt(), 1_000)
})
