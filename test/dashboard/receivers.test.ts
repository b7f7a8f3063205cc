import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReceiverStanding } from '../../src/dashboard/logic/answer.ts'
import { listReceiverRows } from '../../src/dashboard/logic/receivers.ts'

const provider = (name: string, sent: number) => ({
  ...{ provider: name, sent, delivered: sent / 2, opened: sent / 4 },
})

const standing = (receiver: string, state: ReceiverStanding['state']): ReceiverStanding => ({
  ...{ receiver, state, waiting: 4, affected: state === 'open' ? 0 : 4, domains: [] },
  ...{ messagesPerMinute: null, until: null, reply: null },
})

test('receivers beyond the limit are one row, with their rates together', () => {
  const providers = [provider('Gmail', 100), provider('GMX', 8), provider('Other', 4)]
  const { rows, further } = listReceiverRows(providers, [], 1)
  assert.deepEqual(rows, [{ name: 'Gmail', sent: 100, deliveryRate: 50, openRate: 25, now: null }])
  assert.deepEqual(further, { count: 2, sent: 12, deliveryRate: 50, openRate: 25 })
})

test('a receiver that holds mail back is never left out', () => {
  const slow = standing('GMX', 'slowed')
  const new_ = standing('Posteo', 'closed')
  const providers = [provider('Gmail', 100), provider('GMX', 8)]
  const { rows, further } = listReceiverRows(providers, [slow, new_, standing('Gmail', 'open')], 1)
  assert.deepEqual(
    rows.map(({ name, now }) => [name, now]),
    [
      ['Gmail', null],
      ['GMX', slow],
      ['Posteo', new_],
    ],
  )
  assert.equal(rows[2]?.deliveryRate, undefined)
  assert.equal(further, undefined)
})

test('without the states, what each receiver does is unknown', () => {
  const { rows } = listReceiverRows([provider('Gmail', 1)], undefined, 5)
  assert.equal(rows[0]?.now, undefined)
})
