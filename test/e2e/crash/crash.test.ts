import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crashRepeatedly } from './crash-repeatedly.ts'

test('F1: nothing acknowledged is lost when the server is killed under load', async (t) => {
  const { acknowledged, duplicates, kills } = await crashRepeatedly(t, { kills: 2, sendMs: 250 })
  t.diagnostic(`${acknowledged} acknowledged, ${duplicates} arrived twice, ${kills} kills`)
  assert.ok(acknowledged > 0)
})
