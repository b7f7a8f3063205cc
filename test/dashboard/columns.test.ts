import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { withMoved, withShown } from '../../src/dashboard/logic/column-moves.ts'
import {
  arrange,
  readArrangement,
  usual,
  widthsWithin,
  withWidth,
  writeArrangement,
} from '../../src/dashboard/logic/columns.ts'

const columns = [
  { key: 'to' },
  { key: 'subject', isFixed: true },
  { key: 'state' },
  { key: 'attempts', isExtra: true },
]

describe('the columns of a list', () => {
  it('are the usual ones until somebody changes them', () => {
    assert.deepEqual(readArrangement(null, columns), usual(columns))
    assert.deepEqual(usual(columns), { shown: ['to', 'subject', 'state'], widths: {} })
    assert.deepEqual(arrange(columns, usual(columns)), columns.slice(0, 3))
  })

  it('are shown, hidden, moved and widened, and kept so', () => {
    const shown = withShown(usual(columns), 'attempts', true)
    const moved = withMoved(withShown(shown, 'to', false), 'attempts', -1)
    const changed = withWidth(moved, 'state', 120.4)
    assert.deepEqual(changed, { shown: ['subject', 'attempts', 'state'], widths: { state: 120 } })
    assert.deepEqual(readArrangement(writeArrangement(changed), columns), changed)
    assert.deepEqual(
      arrange(columns, changed).map(({ key }) => key),
      ['subject', 'attempts', 'state'],
    )
  })

  it('stay at the ends, and within bounds', () => {
    const first = usual(columns)
    assert.equal(withMoved(first, 'to', -1), first)
    assert.equal(withMoved(first, 'attempts', 1), first)
    assert.deepEqual(withMoved(first, 'to', 9).shown, ['subject', 'state', 'to'])
    assert.equal(withWidth(first, 'to', -5).widths.to, 64)
    assert.equal(withWidth(first, 'to', 9_999).widths.to, 640)
  })

  it('ignore a kept text that is broken or of another version', () => {
    const broken = [
      '',
      '{',
      'null',
      '7',
      '[]',
      '{"version":2,"shown":["to"],"widths":{}}',
      '{"version":1,"shown":"to","widths":{}}',
      '{"version":1,"shown":[1],"widths":{}}',
      '{"version":1,"shown":["to"],"widths":{"to":"wide"}}',
      '{"version":1,"shown":["to"]}',
    ]
    for (const text of broken)
      assert.deepEqual(readArrangement(text, columns), usual(columns), text)
  })

  it('leave out columns that do not exist, and never the one that opens the row', () => {
    const text = '{"version":1,"shown":["gone","state","state"],"widths":{"gone":90,"to":1}}'
    assert.deepEqual(readArrangement(text, columns), {
      shown: ['subject', 'state'],
      widths: { to: 64 },
    })
  })

  it('never make the table wider than its place', () => {
    const wide = withWidth(withWidth(usual(columns), 'to', 300), 'state', 600)
    assert.deepEqual(widthsWithin(wide, 1_200), { to: 300, state: 600 })
    assert.deepEqual(widthsWithin(wide, 546), { to: 150, state: 300 })
    assert.deepEqual(widthsWithin(wide, 50), { to: 0, state: 0 })
    assert.deepEqual(widthsWithin(usual(columns), 50), {})
  })
})
