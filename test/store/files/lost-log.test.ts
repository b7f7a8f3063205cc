import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../src/base/log.ts'
import { createLostLogCopy } from '../../../src/store/files/database-files.ts'

type Found = { busy: number; log: number; checkpointed: number }

/** A connection whose checkpoints find this, one after another; the pages that each call reports. */
function copyWith(found: (Found | Error | 'transaction')[]): (number | 'error')[][] {
  let reported: (number | 'error')[] = []
  const log = Object.assign(Object.create(silentLog()), {
    warn: ({ pages }: { pages: number }) => reported.push(pages),
    error: () => reported.push('error'),
  })
  let round = 0
  const copy = createLostLogCopy(
    {
      isInTransaction: () => found[round] === 'transaction',
      run: () => {
        const result = found[round]
        if (result instanceof Error) throw result
        assert.notEqual(result, 'transaction')
        return [result]
      },
    },
    log,
  )
  return found.map((_, index) => {
    round = index
    reported = []
    copy()
    return reported
  })
}

test('a lost log counts as copied when all its pages are in the database, and is told once', () => {
  const busy = { busy: 1, log: -1, checkpointed: -1 }
  const half = { busy: 0, log: 7, checkpointed: 3 }
  const whole = { busy: 0, log: 7, checkpointed: 7 }
  const longer = { busy: 0, log: 9, checkpointed: 9 }
  assert.deepEqual(
    copyWith(['transaction', busy, half, new Error('full'), whole, whole, busy, longer]),
    [[], [], [], ['error'], [7], [], [], [9]],
  )
})

test('a lost log without pages counts as copied', () => {
  const empty = { busy: 0, log: 0, checkpointed: 0 }
  assert.deepEqual(copyWith([empty, empty]), [[0], []])
})
