import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  addressIn,
  chosenPlace,
  createMatch,
  isSearchable,
  namesThing,
  nextPlace,
  parseRecent,
  withRecent,
} from '../../src/dashboard/logic/palette.ts'
import { MAX_SEARCH_LENGTH } from '../../src/records/limits.ts'

const ENTRIES = [
  { id: 'overview', title: 'Overview', detail: 'page' },
  { id: 'emails', title: 'Emails', detail: 'page' },
  { id: 'dark', title: 'Theme: Dark', detail: 'action' },
  { id: 'light', title: 'Theme: Light', detail: 'action' },
  { id: 'other', title: 'Switch to Überland', detail: 'action' },
]
const idsFor = (text: string, recent: string[] = []) => {
  return createMatch(ENTRIES)(text, recent).map(({ id }) => id)
}

describe('the entries of the palette', () => {
  it('are all there without a text, those used last first', () => {
    assert.deepEqual(idsFor(''), ['overview', 'emails', 'dark', 'light', 'other'])
    assert.deepEqual(idsFor(' ', ['dark', 'emails']), [
      ...['dark', 'emails', 'overview', 'light', 'other'],
    ])
  })

  it('match by parts, in any order, without accents and with one wrong letter', () => {
    assert.deepEqual(idsFor('mail'), ['emails'])
    assert.deepEqual(idsFor('dark theme'), ['dark'])
    assert.deepEqual(idsFor('uberland'), ['other'])
    assert.deepEqual(idsFor('overveiw'), ['overview'])
    assert.deepEqual(idsFor('zzz'), [])
  })

  it('stand in the order of their last use, after those that begin with the text', () => {
    assert.deepEqual(idsFor('theme'), ['dark', 'light'])
    assert.deepEqual(idsFor('eme', ['light']), ['light', 'dark'])
    assert.deepEqual(idsFor('over', ['other']), ['overview'])
    assert.deepEqual(idsFor('action', ['other', 'light']), ['other', 'light', 'dark'])
  })

  it('survive texts that are no words', () => {
    for (const text of ['(', '[a', '\\', '*', '%', '"', '\u0000', '💌', 'a'.repeat(5_000)]) {
      assert.ok(Array.isArray(idsFor(text)), text)
    }
  })

  it('are read once, however many texts are typed', () => {
    let reads = 0
    const entry = {
      ...{ id: 'a', detail: 'action' },
      get title() {
        reads += 1
        return 'Switch to A'
      },
    }
    const match = createMatch(Array.from({ length: 2_000 }, () => entry))
    const before = reads
    for (const text of ['s', 'sw', 'switch', 'switch to a', 'e e e e e e e']) {
      assert.ok(match(text, []).length <= 12)
    }
    assert.equal(reads, before)
  })
})

it('arrows go round the list, and begin at its ends', () => {
  const steps = [
    [-1, 1, 0],
    [-1, -1, 2],
    [0, -1, 2],
    [2, 1, 0],
    [0, 1, 1],
  ] as const
  for (const [from, step, to] of steps) assert.equal(nextPlace(from, step, 3), to)
  assert.equal(nextPlace(-1, 1, 0), -1)
})

describe('the chosen entry', () => {
  const rows = (...ids: string[]) => ids.map((id) => ({ id }))
  const done = { isLooking: false, isNamed: false }

  it('is the first one until the person goes to another, which it stays wherever that stands', () => {
    assert.equal(chosenPlace(rows('a', 'b'), undefined, done), 0)
    assert.equal(chosenPlace(rows('a', 'b'), 'b', done), 1)
    assert.equal(chosenPlace(rows('hit', 'hit 2', 'a', 'b'), 'b', done), 3)
    assert.equal(chosenPlace(rows('a'), 'b', done), 0)
  })

  it('is none while what the text names is looked for, so that Enter opens nothing else', () => {
    const looking = { isLooking: true, isNamed: true }
    assert.equal(chosenPlace(rows('suppress'), undefined, looking), -1)
    assert.equal(chosenPlace(rows('suppress'), 'suppress', looking), 0)
    assert.equal(chosenPlace(rows('a'), undefined, { isLooking: true, isNamed: false }), 0)
    assert.equal(chosenPlace([], undefined, done), -1)
  })
})

it('the last entries are kept once each, eight at most, and read whatever the storage holds', () => {
  assert.deepEqual(withRecent(['a', 'b'], 'b'), ['b', 'a'])
  assert.equal(withRecent([...'abcdefgh'], 'z').length, 8)
  assert.deepEqual(parseRecent('["a",1,"b"]'), ['a', 'b'])
  for (const stored of [null, '', '{"a":1}', 'null', '7']) assert.deepEqual(parseRecent(stored), [])
})

it('the server looks for texts of two characters and more, up to its own limit', () => {
  const texts = ['', ' a ', 'ab', 'a'.repeat(MAX_SEARCH_LENGTH), 'a'.repeat(MAX_SEARCH_LENGTH + 1)]
  assert.deepEqual(texts.map(isSearchable), [false, false, true, true, false])
})

it('an address, an id and a Message-ID name a thing; words do not', () => {
  const id = '0199a7c0-0000-7000-8000-000000000003'
  for (const text of ['ann@example.org', ` ${id} `, `<${id}@example.test>`, 'ann@']) {
    assert.ok(namesThing(text), text)
  }
  for (const text of ['overview', 'suppress ann@example.org', '0199a7c0']) {
    assert.ok(!namesThing(text), text)
  }
})

it('the address in a text is found, and a Message-ID is none', () => {
  for (const text of ['ann@example.org', 'suppress ann@example.org', '"Ann" <ann@example.org>']) {
    assert.equal(addressIn(text), 'ann@example.org', text)
  }
  for (const text of ['ann', 'ann@', 'ann@example', 'a@b@example.org', '<1@example.org>', '@x.y']) {
    assert.equal(addressIn(text), undefined, text)
  }
})
