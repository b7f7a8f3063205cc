import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crashRepeatedly } from '../../e2e/crash/crash-repeatedly.ts'

test('F1: twenty kills at random moments lose nothing that was acknowledged', async (t) => {
  const options = { kills: 20, sendMs: 1_500, fewest: 50 }
  const { acknowledged, duplicates, kills } = await crashRepeatedly(t, options)
  console.log(`${acknowledged} acknowledged, ${duplicates} arrived twice, ${kills} kills`)
  assert.ok(acknowledged >= 1_000)
})
