import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createExportSlots } from '../../../../src/features/people/import-export/export-slots.ts'

const full = { code: 'RATE_LIMIT_EXCEEDED', status: 429 }

test('the limit of a project does not depend on other projects', () => {
  const slots = createExportSlots({ perProject: 2, all: 10 })
  slots.take('one')
  const release = slots.take('one')
  assert.throws(() => slots.take('one'), { ...full, details: { limit: 2, retryAfter: 10 } })
  slots.take('two')
  release()
  slots.take('one')
  assert.throws(() => slots.take('one'), full)
})

test('the limit of the server covers all projects', () => {
  const slots = createExportSlots({ perProject: 2, all: 3 })
  const [release] = ['one', 'two', 'three'].map(slots.take)
  assert.throws(() => slots.take('four'), { ...full, details: { limit: 3, retryAfter: 10 } })
  release?.()
  slots.take('four')
  assert.throws(() => slots.take('five'), full)
})

test('releasing a slot twice frees one slot', () => {
  const slots = createExportSlots({ perProject: 2, all: 2 })
  const release = slots.take('one')
  slots.take('one')
  release()
  release()
  slots.take('one')
  assert.throws(() => slots.take('one'), full)
})

test('one export writes per turn of the event loop, in the order of the calls', async () => {
  const slots = createExportSlots()
  const seen: string[] = []
  let loops = 0
  let isOver = false
  const count = () => {
    loops += 1
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  const at = new Map<string, number>()
  const work = async (name: string) => {
    for (let round = 0; round < 3; round += 1) {
      await slots.nextTurn()
      seen.push(name)
      at.set(`${name}${round}`, loops)
    }
  }
  await Promise.all(['a', 'b', 'c'].map(work))
  isOver = true
  assert.deepEqual(seen.slice(0, 3), ['a', 'b', 'c'])
  assert.deepEqual(seen.toSorted().join(''), 'aaabbbccc')
  assert.equal(new Set(at.values()).size, 9)
})
