import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { oldestRead } from '../../src/dashboard/logic/list-age.ts'

const rows = (...ids: string[]) => ids.map((id) => ({ id }))
const first = { data: rows('c', 'd'), readAt: 100 }
const second = { data: rows('e', 'f'), readAt: 200 }

describe('the time of a list', () => {
  it('is that of its oldest page', () => {
    assert.equal(oldestRead([second, first], { rows: [], at: 0 }), 100)
    assert.equal(oldestRead([], { rows: [], at: 300 }), 0)
  })

  it('is later for a page whose rows were all read again', () => {
    assert.equal(oldestRead([first], { rows: rows('b', 'c', 'd'), at: 300 }), 300)
    assert.equal(oldestRead([first, second], { rows: rows('c', 'd'), at: 300 }), 200)
    assert.equal(oldestRead([first, second], { rows: rows('b', 'c'), at: 300 }), 100)
  })

  it('is that of the last look where there are no rows', () => {
    assert.equal(oldestRead([{ data: [], readAt: 100 }], { rows: [], at: 300 }), 300)
  })
})
