import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  escapeControls,
  formatFields,
  formatTable,
  formatTime,
  shorten,
} from '../../../src/cli/engine/text.ts'
import { anyCharacter } from '../../any-character.ts'

describe('text for a terminal', () => {
  it('shows control and direction characters as escapes', () => {
    const cases: [string, string][] = [
      ['\x1b]0;owned\x07', '\\x1b]0;owned\\x07'],
      ['a\r\nb\tc', 'a\\x0d\\x0ab\\x09c'],
      ['\x9b31m', '\\x9b31m'],
      ['abc\u202ecba', 'abc\\u{202e}cba'],
      ['\u2028\ufeff\u200b', '\\u{2028}\\u{feff}\\u{200b}'],
      ['\ud800x', '\\u{d800}x'],
      ['Grüße 🎉 日本', 'Grüße 🎉 日本'],
    ]
    for (const [text, escaped] of cases) assert.equal(escapeControls(text), escaped)
  })

  it('keeps every text inside its cell', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        assert.doesNotMatch(escapeControls(text), /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u)
        assert.equal(formatTable(['A', 'B'], [[text, 'x']], '').split('\n').length, 2)
      }),
      { numRuns: 200 },
    )
  })

  it('aligns cells below their heads, with wide characters too', () => {
    const rows = [
      ['日本', 'x'],
      ['abc', 'y'],
    ]
    assert.equal(formatTable(['A', 'B'], rows, 'none'), 'A     B\n日本  x\nabc   y')
    assert.equal(formatTable(['A'], [], 'none'), 'none')
  })

  it('leaves out fields that are null', () => {
    assert.equal(formatFields({ a: '1', long: '2', no: null }), '  a     1\n  long  2')
  })

  it('writes times in UTC and shortens by characters', () => {
    assert.equal(formatTime(0), '1970-01-01 00:00:00Z')
    assert.equal(formatTime(null), null)
    assert.equal(shorten('🎉🎉🎉', 2), '🎉…')
    assert.equal(shorten('abc', 3), 'abc')
  })
})
