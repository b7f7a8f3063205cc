import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findClosest } from '../../../src/config/layers/closest.ts'

describe('the closest name', () => {
  it('is the one that takes the fewest changes', () => {
    const names = ['http.listen', 'inbound.listen', 'submission.listen', 'log.level']
    assert.equal(findClosest('htp.listen', names), 'http.listen')
    assert.equal(findClosest('inbound_listen', names), 'inbound.listen')
    assert.equal(findClosest('log.levle', names), 'log.level')
  })

  it('is none when they are all too different', () => {
    assert.equal(findClosest('something', ['http.listen', 'log.level']), undefined)
    assert.equal(findClosest('x', []), undefined)
    assert.equal(findClosest('cc', ['to', 'from']), undefined)
  })
})
