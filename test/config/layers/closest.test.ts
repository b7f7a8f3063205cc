import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findClosest, findNearest, newEffort } from '../../../src/config/layers/closest.ts'

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

  it('is not compared with names of another length', () => {
    const compared: string[] = []
    const plain = (name: string) => {
      compared.push(name)
      return name
    }
    const names = ['a', 'abcdef', 'abcdefghij', 'x'.repeat(1_000)]
    assert.equal(findNearest('abcde', names, { limitOf: () => 2, plain }), 'abcdef')
    assert.deepEqual(compared, ['abcdef'])
  })

  it('is sought until the effort of a request is spent', () => {
    const effort = newEffort()
    const names = Array.from({ length: 1_000 }, (_, index) => `${'ab'.repeat(20)}${index}`)
    const found = Array.from({ length: 1_000 }, (_, index) => {
      const before = effort.pairs
      const meant = findClosest(`${'ba'.repeat(20)}${index}`, names, effort)
      return { meant, pairs: before - effort.pairs }
    })
    assert.ok(effort.pairs <= 0 && effort.pairs > -100)
    assert.notEqual(found[0]?.meant, undefined)
    assert.deepEqual(found.at(-1), { meant: undefined, pairs: 0 })
  })
})
