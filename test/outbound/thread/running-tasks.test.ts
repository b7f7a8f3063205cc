import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SmtpSession } from '../../../src/outbound/smtp/session.ts'
import { createRunningTasks } from '../../../src/outbound/thread/begun-tasks.ts'

test('a moment after a withdrawal the sessions that wait to write a message are closed', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const tasks = createRunningTasks(() => 0)
  const closed: string[] = []
  const begin = (task: number, name: string) => {
    const running = tasks.begin(task)
    running.withdrawal.session = { close: () => closed.push(name) } as unknown as SmtpSession
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

test('finish withdraws all tasks, and waits for the replies to messages only', async () => {
  const tasks = createRunningTasks(() => 0)
  await tasks.finish()
  const opening = tasks.begin(1)
  opening.current.step = 'greeting'
  await tasks.finish()
  tasks.begin(2).current.step = 'final-dot'
  tasks.begin(3).current.step = 'message'
  let isFinished = false
  const finished = tasks.finish().then(() => {
    isFinished = true
  })
  assert.equal(opening.withdrawal.isAsked, true)
  tasks.end(2)
  await Promise.resolve()
  assert.equal(isFinished, false)
  tasks.end(3)
  await finished
})
