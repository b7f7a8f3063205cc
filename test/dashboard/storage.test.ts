import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { clearTab, keep, readKept } from '../../src/dashboard/logic/storage.ts'

/** What the page finds under these names. */
function give(storage: () => unknown): void {
  for (const name of ['localStorage', 'sessionStorage']) {
    Object.defineProperty(globalThis, name, { get: storage, configurable: true })
  }
}

function refuse(): never {
  throw new DOMException('The user denied it.', 'SecurityError')
}

const before = ['localStorage', 'sessionStorage'].map(
  (name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const,
)
afterEach(() => {
  for (const [name, descriptor] of before) {
    if (descriptor === undefined) Reflect.deleteProperty(globalThis, name)
    else Object.defineProperty(globalThis, name, descriptor)
  }
})

describe('what a browser keeps', () => {
  it('stands in its storage', () => {
    const stored = new Map<string, string>()
    give(() => ({
      getItem: (key: string) => stored.get(key) ?? null,
      setItem: (key: string, text: string) => stored.set(key, text),
      removeItem: (key: string) => stored.delete(key),
    }))
    keep('a', 'one')
    assert.deepEqual([...stored], [['a', 'one']])
    assert.equal(readKept('a'), 'one')
    keep('a', undefined)
    assert.equal(stored.size, 0)
    assert.equal(readKept('a'), null)
  })

  it('stands in the memory of the page where the storage is refused', () => {
    give(refuse)
    assert.equal(readKept('b'), null)
    keep('b', 'one')
    assert.equal(readKept('b'), 'one')
    keep('b', undefined)
    assert.equal(readKept('b'), null)
    clearTab()
  })

  it('is the newest text where the storage is full, and an older one does not come back', () => {
    const stored = new Map([['c', 'old']])
    let isFull = true
    give(() => ({
      getItem: (key: string) => stored.get(key) ?? null,
      setItem: (key: string, text: string) => {
        if (isFull) throw new DOMException('No room.', 'QuotaExceededError')
        stored.set(key, text)
      },
      removeItem: (key: string) => stored.delete(key),
    }))
    keep('c', 'new')
    assert.equal(readKept('c'), 'new')
    isFull = false
    keep('c', 'newest')
    assert.equal(stored.get('c'), 'newest')
    assert.equal(readKept('c'), 'newest')
  })
})
