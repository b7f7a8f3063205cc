import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { formatDuration, parseDuration } from '../../../src/config/values/durations.ts'

describe('durations', () => {
  it('are read in each unit', () => {
    const cases: [string, number][] = [
      ['500ms', 500],
      ['1s', 1000],
      ['5m', 300_000],
      ['2h', 7_200_000],
      ['3d', 259_200_000],
      ['0s', 0],
    ]
    for (const [text, durationMs] of cases) assert.equal(parseDuration(text), durationMs)
  })

  it('are refused in any other form', () => {
    for (const text of ['', '5', 'm', '5 m', '-5m', '1.5h', '5M', '5min', '1h30m', ' 5m', '5m\n']) {
      assert.equal(parseDuration(text), undefined, text)
    }
  })

  it('are written so that they read back the same', () => {
    fc.assert(
      fc.property(fc.nat(999_999_999), (durationMs) => {
        assert.equal(parseDuration(formatDuration(durationMs)), durationMs)
      }),
      { numRuns: 200 },
    )
    assert.equal(formatDuration(5_400_000), '90m')
  })
})
