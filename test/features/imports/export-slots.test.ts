import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createExportSlots } from '../../../src/features/imports/export-slots.ts'

const full = { code: 'RATE_LIMIT_EXCEEDED', status: 429 }

test('a project has so many exports open, whatever others have', () => {
  const room = createExportSlots({ perProject: 2, all: 10 })
  room.enter('one')
  const leave = room.enter('one')
  assert.throws(() => room.enter('one'), { ...full, details: { limit: 2, retryAfter: 10 } })
  room.enter('two')
  leave()
  room.enter('one')
  assert.throws(() => room.enter('one'), full)
})

test('the server has so many exports open, whosever they are', () => {
  const room = createExportSlots({ perProject: 2, all: 3 })
  const [leave] = ['one', 'two', 'three'].map(room.enter)
  assert.throws(() => room.enter('four'), { ...full, details: { limit: 3, retryAfter: 10 } })
  leave?.()
  room.enter('four')
  assert.throws(() => room.enter('five'), full)
})

test('whoever leaves twice gives back one place', () => {
  const room = createExportSlots({ perProject: 2, all: 2 })
  const leave = room.enter('one')
  room.enter('one')
  leave()
  leave()
  room.enter('one')
  assert.throws(() => room.enter('one'), full)
})

test('one has its turn in each turn of the event loop, in the order of asking', async () => {
  const room = createExportSlots()
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
      await room.turn()
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
