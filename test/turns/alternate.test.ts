import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alternate } from '../../src/turns/alternate.ts'

test('S31: the items of one project stand between those of the others, each project in its order', () => {
  const keyOf = (item: string) => item.charAt(0)
  const items = ['a1', 'a2', 'a3', 'b1', 'a4', 'c1', 'c2']
  assert.deepEqual(alternate(items, keyOf), ['a1', 'b1', 'c1', 'a2', 'c2', 'a3', 'a4'])
  assert.deepEqual(alternate([], keyOf), [])
})
