import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { AppError } from '../../../src/base/errors.ts'
import { retryWhileUnwritable } from '../../../src/store/write/writability.ts'

const unwritable = new AppError('DATABASE_ERROR', 'The database cannot be used at the moment.')

/** Throws the given errors one after the other, then succeeds. */
function failing(...errors: unknown[]) {
  const calls = { count: 0 }
  const act = async () => {
    const error = errors[calls.count]
    calls.count += 1
    if (error !== undefined) throw error
  }
  return { act, calls }
}

describe('retryWhileUnwritable', () => {
  it('tries again after each wait until the write succeeds', async () => {
    const { act, calls } = failing(unwritable, unwritable)
    let waits = 0
    await retryWhileUnwritable(act, async () => {
      waits += 1
      return true
    })
    assert.deepEqual([calls.count, waits], [3, 2])
  })

  it('throws any other error at once', async () => {
    const fault = new TypeError('a fault of ours')
    const { act, calls } = failing(unwritable, fault)
    await assert.rejects(
      retryWhileUnwritable(act, async () => true),
      fault,
    )
    assert.equal(calls.count, 2)
  })

  it('throws the last error once the wait ends the tries', async () => {
    const { act, calls } = failing(unwritable, unwritable)
    await assert.rejects(
      retryWhileUnwritable(act, async () => false),
      unwritable,
    )
    assert.equal(calls.count, 1)
  })
})
