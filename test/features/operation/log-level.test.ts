import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createLog } from '../../../src/base/log.ts'
import { createLogLevel } from '../../../src/features/operation/log-level.ts'
import { START } from '../../core.ts'

function openLevel(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const lines: string[] = []
  const log = createLog('info', { write: (line: string) => lines.push(JSON.parse(line).msg) })
  const control = createLogLevel({ log, now: () => START })
  t.after(control.stop)
  return { log, lines, control, pass: (ms: number) => t.mock.timers.tick(ms) }
}

test('a level holds for its time, then the configured one holds again', (t) => {
  const { log, control, pass } = openLevel(t)
  assert.deepEqual(control.show(), { level: 'info', configured: 'info', until: null })
  const until = START + 60_000
  assert.deepEqual(control.set('debug', 60_000), { level: 'debug', configured: 'info', until })
  pass(59_999)
  assert.equal(log.level, 'debug')
  pass(1)
  assert.deepEqual(control.show(), { level: 'info', configured: 'info', until: null })
})

test('a second change replaces the first, whose end changes nothing', (t) => {
  const { log, control, pass } = openLevel(t)
  control.set('debug', 1_000)
  control.set('warn', 5_000)
  pass(4_999)
  assert.equal(log.level, 'warn')
  pass(1)
  assert.equal(log.level, 'info')
})

test('the configured level ends a change at once and has no end of its own', (t) => {
  const { lines, control, pass } = openLevel(t)
  control.set('debug', 1_000)
  assert.equal(control.set('info', 9_000).until, null)
  const before = [...lines]
  pass(10_000)
  assert.deepEqual(lines, before)
  assert.deepEqual(lines, [
    'the level of the log changes',
    'the log has its configured level again',
  ])
})
