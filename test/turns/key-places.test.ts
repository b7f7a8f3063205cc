import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKeyPlaces, type KeyPlaces } from '../../src/turns/key-places.ts'

/** Takes places while there are some for the key. Returns what gives them back. */
function takeAll(places: KeyPlaces, key: string): (() => void)[] {
  const given: (() => void)[] = []
  while (!places.isKeyFull(key) && !places.isFull()) given.push(places.take(key))
  return given
}

test('the places of a key do not depend on other keys', () => {
  const places = createKeyPlaces({ perKey: 2, all: 10 })
  const [release] = takeAll(places, 'one')
  assert.equal(takeAll(places, 'two').length, 2)
  assert.ok(places.isKeyFull('one') && !places.isFull())
  release?.()
  assert.ok(!places.isKeyFull('one') && places.isKeyFull('two'))
})

test('all keys together have so many places', () => {
  const places = createKeyPlaces({ perKey: 2, all: 3 })
  const given = ['one', 'two', 'three'].map((key) => places.take(key))
  assert.ok(places.isFull() && !places.isKeyFull('four'))
  given[0]?.()
  assert.ok(!places.isFull())
})

test('some places are kept for those who may take all', () => {
  const places = createKeyPlaces({ perKey: 5, all: 5 })
  places.take('one')
  places.take('one')
  assert.ok(!places.isFull(2))
  places.take('one')
  assert.ok(places.isFull(2) && !places.isFull(1) && !places.isFull())
})

test('a place that is given back twice is free once', () => {
  const places = createKeyPlaces({ perKey: 2, all: 2 })
  const [release] = takeAll(places, 'one')
  release?.()
  release?.()
  assert.equal(takeAll(places, 'one').length, 1)
})

test('without a limit of all, only that of the key counts', () => {
  const places = createKeyPlaces({ perKey: 1 })
  for (let count = 0; count < 10_000; count += 1) places.take(`key ${count}`)
  assert.ok(!places.isFull() && places.isKeyFull('key 9999') && !places.isKeyFull('other'))
})
