/** The service's messages to systemd, with a `systemd-notify` that writes down its arguments. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { silentLog } from '../../../src/base/log.ts'
import {
  createServiceNotifier,
  feedWatchdog,
  reportServiceState,
  type Writes,
} from '../../../src/cli/systemd/service-state.ts'
import { makeFolder } from '../../config/config-folder.ts'
import { eventually } from '../../e2e/program.ts'

/** A folder with the program, and the lines that it wrote: one for each call. */
function fakeProgram(status = 0) {
  const folder = makeFolder()
  const file = path.join(folder, 'calls')
  const text = `#!/bin/sh\necho "$NOTIFY_SOCKET|$*" >> ${file}\nexit ${status}\n`
  writeFileSync(path.join(folder, 'systemd-notify'), text, { mode: 0o755 })
  const calls = () => (existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [])
  const untilCalls = (count: number) =>
    eventually(() => (calls().length >= count ? calls() : undefined))
  return { env: { PATH: `${folder}:/usr/bin:/bin`, NOTIFY_SOCKET: '/run/n' }, calls, untilCalls }
}

function watch(t: TestContext, env: NodeJS.ProcessEnv, writes: () => Writes) {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const sent: string[] = []
  const notifier = { send: (...assignments: string[]) => void sent.push(...assignments) }
  t.after(feedWatchdog({ env, notifier, writes }))
  return sent
}

test('the server tells systemd that it migrates, serves and stops', async () => {
  const program = fakeProgram()
  const service = reportServiceState(program.env, silentLog())
  service.migrating({ number: 2, last: 5, elapsedMs: 7_400 })
  await program.untilCalls(1)
  const ready = { event: 'ready', http: 'http://127.0.0.1:8080', mode: 'direct' } as const
  service.ready({ ready, writes: () => ({ committed: 0, waiting: 0 }) })
  await program.untilCalls(2)
  service.stopping()
  assert.deepEqual(await program.untilCalls(3), [
    '/run/n|EXTEND_TIMEOUT_USEC=120000000 STATUS=migrating the database: step 2 of 5, 7 s so far',
    '/run/n|READY=1 STATUS=serving http://127.0.0.1:8080 in direct mode',
    '/run/n|STOPPING=1 STATUS=stopping',
  ])
  service.close()
})

test('without NOTIFY_SOCKET nothing is started', async () => {
  const program = fakeProgram()
  const notifier = createServiceNotifier({ env: { PATH: program.env.PATH }, log: silentLog() })
  notifier.send('READY=1')
  const other = createServiceNotifier({ env: program.env, log: silentLog() })
  other.send('STATUS=second')
  assert.deepEqual(await program.untilCalls(1), ['/run/n|STATUS=second'])
})

test('a process that cannot be started at all is logged, and does not end the server', () => {
  const warnings: unknown[] = []
  const log = { warn: (fields: unknown) => void warnings.push(fields) } as never
  // E2BIG, which Node throws, as it throws ENOMEM.
  const env = { NOTIFY_SOCKET: '/run/n', PATH: '/bin:'.repeat(100_000) }
  const notifier = createServiceNotifier({ env, log })
  notifier.send('WATCHDOG=1')
  notifier.send('WATCHDOG=1')
  assert.deepEqual(warnings, [{ error: 'spawn E2BIG' }])
})

test('a missing program and a program that fails are logged once', async () => {
  const failing = fakeProgram(1)
  const missing = { PATH: makeFolder(), NOTIFY_SOCKET: '/run/n' }
  for (const env of [failing.env, missing]) {
    const warnings: unknown[][] = []
    const log = { warn: (...line: unknown[]) => void warnings.push(line) }
    const notifier = createServiceNotifier({ env, log })
    notifier.send('READY=1')
    await eventually(() => (warnings.length > 0 ? true : undefined))
    notifier.send('READY=1')
    if (env === failing.env) await failing.untilCalls(2)
    assert.equal(warnings.length, 1)
    assert.match(String(warnings[0]?.[1]), /systemd does not learn the state/)
  }
})

test('the watchdog is fed while nothing waits or commits are made, and a stuck writer starves it', (t) => {
  const writes = { committed: 0, waiting: 0 }
  const sent = watch(t, { WATCHDOG_USEC: '3000000' }, () => ({ ...writes }))
  const look = () => {
    sent.splice(0)
    t.mock.timers.tick(1_000)
    return sent
  }
  assert.deepEqual(look(), ['WATCHDOG=1'])
  Object.assign(writes, { committed: 1, waiting: 3 })
  assert.deepEqual(look(), ['WATCHDOG=1'])
  assert.deepEqual(look(), [])
  assert.deepEqual(look(), [])
  writes.committed = 2
  assert.deepEqual(look(), ['WATCHDOG=1'])
  writes.waiting = 0
  assert.deepEqual(look(), ['WATCHDOG=1'])
})

test('a watchdog of another process, or none, is not fed', (t) => {
  const idle = () => ({ committed: 0, waiting: 0 })
  for (const env of [{}, { WATCHDOG_USEC: '0' }, { WATCHDOG_USEC: '3000000', WATCHDOG_PID: '1' }]) {
    const sent = watch(t, env, idle)
    t.mock.timers.tick(10_000)
    assert.deepEqual(sent, [])
    t.mock.timers.reset()
  }
})
