import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isSearchable, rankEntries, withRecent } from '../../src/dashboard/logic/palette.ts'

const ENTRIES = [
  { id: 'overview', title: 'Overview', detail: 'page' },
  { id: 'emails', title: 'Emails', detail: 'page' },
  { id: 'dark', title: 'Theme: Dark', detail: 'action' },
  { id: 'other', title: 'Switch to Überland', detail: 'action' },
]
const idsFor = (text: string, recent: string[] = []) => {
  return rankEntries(ENTRIES, text, recent).map(({ id }) => id)
}

describe('the entries of the palette', () => {
  it('are all there without a text, those used last first', () => {
    assert.deepEqual(idsFor(''), ['overview', 'emails', 'dark', 'other'])
    assert.deepEqual(idsFor(' ', ['dark', 'emails']), ['dark', 'emails', 'overview', 'other'])
  })

  it('match by parts, in any order, without accents and with one wrong letter', () => {
    assert.deepEqual(idsFor('mail'), ['emails'])
    assert.deepEqual(idsFor('dark theme'), ['dark'])
    assert.deepEqual(idsFor('uberland'), ['other'])
    assert.deepEqual(idsFor('overveiw'), ['overview'])
    assert.deepEqual(idsFor('zzz'), [])
  })

  it('survive texts that are no words', () => {
    for (const text of ['(', '[a', '\\', '*', '%', '"', '\u0000', '💌', 'a'.repeat(5_000)]) {
      assert.ok(Array.isArray(idsFor(text)), text)
    }
  })
})

it('the last entries are kept once each, eight at most', () => {
  assert.deepEqual(withRecent(['a', 'b'], 'b'), ['b', 'a'])
  assert.equal(withRecent([...'abcdefgh'], 'z').length, 8)
})

it('the server looks for two characters and more', () => {
  assert.deepEqual(['', ' a ', 'ab'].map(isSearchable), [false, false, true])
})
