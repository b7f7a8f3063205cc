import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findClosest } from '../../../src/config/layers/closest.ts'

describe('the closest name', () => {
  it('is the one with the fewest changes', () => {
    const names = ['http.listen', 'inbound.listen', 'submission.listen', 'log.level']
    assert.equal(findClosest('htp.listen', names), 'http.listen')
    assert.equal(findClosest('inbound_listen', names), 'inbound.listen')
    assert.equal(findClosest('log.levle', names), 'log.level')
  })

  it('does not exist when all names are too different', () => {
    assert.equal(findClosest('something', ['http.listen', 'log.level']), undefined)
    assert.equal(findClosest('x', []), undefined)
    assert.equal(findClosest('cc', ['to', 'from']), undefined)
  })
})
