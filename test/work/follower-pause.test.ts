import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lingerFor, patienceFor } from '../../src/work/pace.ts'

const idle = { rows: 0, endedAt: Number.NEGATIVE_INFINITY }

test('a follower with little to do reacts after its own time', () => {
  assert.equal(lingerFor({ lingerMs: 10, at: 1_234.5, ...idle }), 10)
  assert.equal(lingerFor({ lingerMs: 10, at: 1_234.5, rows: 1, endedAt: 1_234 }), 10)
  // Many rows, but a while ago.
  assert.equal(lingerFor({ lingerMs: 20, at: 1_234.5, rows: 500, endedAt: 1_000 }), 20)
})

test('followers that linger, or have much to do, go on together', () => {
  const busy = { rows: 8, endedAt: 1_230 }
  const ends = [
    { lingerMs: 10, at: 1_231.2, ...busy },
    { lingerMs: 20, at: 1_238, ...busy },
    { lingerMs: 250, at: 1_049.9, ...idle },
    { lingerMs: 500, at: 799, ...busy },
  ].map((each) => each.at + lingerFor(each))
  for (const end of ends) assert.ok(end >= 1_250 && end < 1_251, `${end}`)
})

test('nobody lingers longer than its time, or a beat', () => {
  for (let at = 0; at < 200; at += 0.7) {
    const busy = lingerFor({ lingerMs: 10, at, rows: 100, endedAt: at })
    assert.ok(busy > 0 && busy <= 50, `${busy}`)
    const long = lingerFor({ lingerMs: 250, at, ...idle })
    assert.ok(long > 200 && long <= 250, `${long}`)
  }
})

test('a follower waits for the commit of another write if it lingers long, or has much to do', () => {
  assert.equal(patienceFor({ lingerMs: 20, rows: 7 }), 0)
  assert.ok(patienceFor({ lingerMs: 20, rows: 8 }) > 0)
  assert.ok(patienceFor({ lingerMs: 250, rows: 1 }) > 0)
  assert.equal(patienceFor({ lingerMs: 0, rows: 100 }), 0)
})
