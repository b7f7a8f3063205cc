import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDueWorkflows } from '../../../../../src/features/outreach/workflows/engine/engine.ts'

const key = (projectId: string, workflowId: string) => ({ projectId, workflowId })

test('projects take turns, and so do the workflows of a project', () => {
  const due = createDueWorkflows()
  const all = [key('a', 'a1'), key('a', 'a2'), key('a', 'a3'), key('b', 'b1')]
  for (const each of all) due.addDueAt(each, 0)
  const taken: string[] = []
  for (let turn = 0; turn < 8; turn += 1) {
    const next = due.take(1)
    if (next === undefined) break
    taken.push(next.workflowId)
    due.addDueAt(next, 0)
  }
  assert.deepEqual(taken, ['a1', 'b1', 'a2', 'b1', 'a3', 'b1', 'a1', 'b1'])
})

test('a workflow is taken when it is due, once, at its earliest time', () => {
  const due = createDueWorkflows()
  due.addDueAt(key('a', 'a1'), 100)
  due.addDueAt(key('a', 'a1'), 50)
  due.addDueAt(key('a', 'a1'), 70)
  assert.equal(due.nextDueAt(), 50)
  assert.equal(due.take(49), undefined)
  assert.deepEqual(due.take(50), key('a', 'a1'))
  assert.equal(due.take(1_000), undefined)
  assert.equal(due.nextDueAt(), undefined)
})

test('ten thousand workflows that sleep are not looked at', () => {
  const due = createDueWorkflows()
  for (let number = 0; number < 10_000; number += 1) {
    due.addDueAt(key('sleepers', `w${number}`), 1_000 + number)
  }
  due.addDueAt(key('b', 'b1'), 10)
  assert.deepEqual(due.take(20), key('b', 'b1'))
  assert.equal(due.take(20), undefined)
  assert.equal(due.nextDueAt(), 1_000)
})
