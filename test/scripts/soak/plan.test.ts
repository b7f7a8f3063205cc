import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readOptions } from '../../../scripts/soak/options.ts'
import { type Disruption, makePlan } from '../../../scripts/soak/plan/plan.ts'

const KINDS_OF_TRAFFIC = 25

function countOf(disruptions: readonly Disruption[], kind: string): number {
  return disruptions.filter((disruption) => disruption.kind === kind).length
}

describe('the plan of a soak', () => {
  it('is the same for the same seed, and another one for another seed', () => {
    const plan = makePlan({ seed: 5, minutes: 2 })
    assert.deepEqual(makePlan({ seed: 5, minutes: 2 }), plan)
    assert.notDeepEqual(makePlan({ seed: 6, minutes: 2 }), plan)
  })

  it('kills at least 20 times in 20 minutes, and three times in two', () => {
    for (const seed of [1, 2, 3]) {
      assert.ok(countOf(makePlan({ seed, minutes: 20 }).disruptions, 'kill') >= 20)
      assert.ok(countOf(makePlan({ seed, minutes: 2 }).disruptions, 'kill') >= 3)
    }
  })

  it('has traffic of every kind, and disruptions of every kind before the calm', () => {
    const { operations, disruptions, calmAt, loadMs } = makePlan({ seed: 9, minutes: 20 })
    assert.equal(new Set(operations.map(({ kind }) => kind)).size, KINDS_OF_TRAFFIC)
    assert.equal(new Set(disruptions.map(({ kind }) => kind)).size, 8)
    for (const disruption of disruptions) {
      const end = 'forMs' in disruption ? disruption.at + disruption.forMs : disruption.at
      assert.ok(end <= calmAt, `${disruption.kind} lasts into the calm`)
    }
    assert.ok(operations.some(({ at }) => at > calmAt && at <= loadMs))
    assert.equal(new Set(operations.map(({ number }) => number)).size, operations.length)
  })
})

describe('the options of a soak', () => {
  it('are two minutes and a seed of their own by default', () => {
    const { minutes, seed, executable, isKept } = readOptions([])
    assert.deepEqual([minutes, executable, isKept], [2, undefined, false])
    assert.ok(Number.isInteger(seed) && seed > 0)
  })

  it('refuses a length or a seed that is no number', () => {
    assert.throws(() => readOptions(['--minutes', 'many']), /--minutes must be a number/)
    assert.throws(() => readOptions(['--seed', '0']), /--seed must be an integer/)
  })
})
