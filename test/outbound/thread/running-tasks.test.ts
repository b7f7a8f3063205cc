import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Session } from '../../../src/outbound/smtp/session.ts'
import { createRunningTasks } from '../../../src/outbound/thread/running-tasks.ts'

test('a moment after a withdrawal the sessions that wait to write a message are closed', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const tasks = createRunningTasks(() => 0)
  const closed: string[] = []
  const begin = (task: number, name: string) => {
    const running = tasks.begin(task)
    running.withdrawal.session = { close: () => closed.push(name) } as unknown as Session
    return running
  }
  begin(1, 'mail').current.step = 'mail'
  begin(2, 'data').current.step = 'data'
  begin(3, 'written').current.step = 'message'
  begin(4, 'opening').current.step = 'greeting'
  const other = begin(5, 'other')
  other.current.step = 'mail'
  begin(6, 'ended').current.step = 'mail'
  const late = begin(7, 'written meanwhile')
  late.current.step = 'rcpt'
  tasks.withdraw(new Set([1, 2, 3, 4, 6, 7]))
  tasks.end(6)
  begin(6, 'another task').current.step = 'mail'
  t.mock.timers.tick(299)
  assert.deepEqual(closed, [])
  late.current.step = 'final-dot'
  t.mock.timers.tick(1)
  assert.deepEqual(closed, ['mail', 'data'])
  assert.equal(other.withdrawal.isAsked, false)
})

test('settle resolves once no task runs', async () => {
  const tasks = createRunningTasks(() => 0)
  await tasks.settle()
  tasks.begin(1)
  tasks.begin(2)
  let isSettled = false
  const settled = tasks.settle().then(() => {
    isSettled = true
  })
  tasks.end(1)
  await Promise.resolve()
  assert.equal(isSettled, false)
  tasks.end(2)
  await settled
})
