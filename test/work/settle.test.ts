import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { settleInPasses } from '../../src/work/settle.ts'

describe('settling', () => {
  it('gives units turns until a pass moves nothing', async () => {
    const left = new Map([
      ['long', 5],
      ['short', 1],
    ])
    const turns: string[] = []
    const move = async (unit: string) => {
      turns.push(unit)
      const moved = Math.min(2, left.get(unit) ?? 0)
      left.set(unit, (left.get(unit) ?? 0) - moved)
      return moved
    }
    const list = async () => [...left].filter(([, count]) => count > 0).map(([unit]) => unit)
    assert.equal(await settleInPasses({ list, move }, undefined), 6)
    assert.deepEqual(turns, ['long', 'short', 'long', 'long'])
  })

  it('ends with its signal between two units', async () => {
    const stopping = new AbortController()
    const turns: string[] = []
    const move = async (unit: string) => {
      turns.push(unit)
      stopping.abort()
      return 1
    }
    const list = async () => ['a', 'b']
    assert.equal(await settleInPasses({ list, move }, stopping.signal), 1)
    assert.deepEqual(turns, ['a'])
  })

  it('ends with the error of a unit', async () => {
    const move = async () => {
      throw new Error('no room')
    }
    await assert.rejects(settleInPasses({ list: async () => ['a'], move }, undefined), /no room/)
  })
})
