import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  isUnfiltered,
  readState,
  toggled,
  writeState,
} from '../../src/dashboard/logic/url-state.ts'

const fields = {
  q: { kind: 'text' },
  state: { kind: 'list', values: ['deferred', 'bounced', 'opened'] },
  source: { kind: 'one', values: ['CAMPAIGN', 'WORKFLOW'] },
  from: { kind: 'date' },
} as const

const none = { q: '', state: [], source: '', from: '' }

describe('the filter in the address', () => {
  it('comes back as it was written', () => {
    const state = {
      q: 'a+b@c',
      state: ['bounced', 'opened'],
      source: 'CAMPAIGN',
      from: '2026-11-30',
    }
    const query = writeState(fields, state)
    assert.equal(query, '?q=a%2Bb%40c&state=bounced,opened&source=CAMPAIGN&from=2026-11-30')
    assert.deepEqual(readState(fields, query), state)
  })

  it('is empty without a filter', () => {
    assert.equal(writeState(fields, none), '')
    assert.deepEqual(readState(fields, ''), none)
    assert.ok(isUnfiltered<typeof fields>(none))
    assert.equal(isUnfiltered<typeof fields>({ ...none, state: ['opened'] }), false)
  })

  it('leaves out what cannot be', () => {
    const query = '?state=opened,lost,deferred&source=x&from=2026-13-40&other=1'
    assert.deepEqual(readState(fields, query), { ...none, state: ['deferred', 'opened'] })
  })

  it('keeps other names of the address', () => {
    assert.equal(writeState(fields, { ...none, q: 'x' }, '?tab=mail&q=old'), '?tab=mail&q=x')
  })

  it('adds a value of a list, and removes it', () => {
    assert.deepEqual(toggled(['a'], 'b'), ['a', 'b'])
    assert.deepEqual(toggled(['a', 'b'], 'a'), ['b'])
  })
})
