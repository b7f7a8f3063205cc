import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { HOUR_MS, MINUTE_MS } from '../../../../src/base/clock.ts'
import { createHealth } from '../../../../src/base/health.ts'
import type { CheckResult, CheckStatus } from '../../../../src/features/operation/doctor/check.ts'
import { createDoctor } from '../../../../src/features/operation/doctor/doctor.ts'
import type { CheckRun } from '../../../../src/features/operation/doctor/run-checks.ts'

const LISTENERS = {
  http: { host: '127.0.0.1', port: 8080, isTls: false },
  ...{ inbound: [], submission: [] },
}

type Line = { level: string; check: string }

/** A doctor whose runs end when the test says so. */
function openDoctor(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const clock = { now: 1_000 * HOUR_MS }
  const health = createHealth()
  const lines: Line[] = []
  const logger = (level: string) => (facts: { check: string }) =>
    void lines.push({ level, check: facts.check })
  const log = { error: logger('error'), warn: logger('warn'), info: logger('info') }
  const ends: ((status: CheckStatus) => void)[] = []
  const run = () =>
    new Promise<CheckRun>((resolve) => {
      const startedAt = clock.now
      ends.push((status) => resolve({ startedAt, finishedAt: clock.now, checks: [result(status)] }))
    })
  const deps = { now: () => clock.now, log, health } as unknown as Parameters<
    typeof createDoctor
  >[0]
  const doctor = createDoctor(deps, run)
  const runAs = async (status: CheckStatus) => {
    const done = doctor.run(0)
    ends.at(-1)?.(status)
    await done
  }
  return { clock, doctor, ends, health, lines, runAs }
}

function result(status: CheckStatus): CheckResult {
  return { id: 'spf', status, evidence: 'seen', fix: status === 'ok' ? null : 'paste this' }
}

test('the checks run a minute after the start, and then every hour', async (t) => {
  const { doctor, ends } = openDoctor(t)
  doctor.start(LISTENERS)
  t.mock.timers.tick(MINUTE_MS - 1)
  assert.equal(ends.length, 0)
  t.mock.timers.tick(1)
  assert.equal(ends.length, 1)
  ends[0]?.('ok')
  await doctor.run()
  await new Promise(setImmediate)
  t.mock.timers.tick(HOUR_MS)
  assert.equal(ends.length, 2)
  doctor.stop()
  ends[1]?.('failed')
  await new Promise(setImmediate)
  t.mock.timers.tick(2 * HOUR_MS)
  assert.equal(ends.length, 2)
})

test('requests at the same time share one run, and the next is a minute away', async (t) => {
  const { clock, doctor, ends, runAs } = openDoctor(t)
  const [one, other] = [doctor.run(0), doctor.run(0)]
  assert.equal(ends.length, 1)
  ends[0]?.('ok')
  assert.equal(await one, await other)
  clock.now += MINUTE_MS - 1
  assert.equal(await doctor.run(0), await one)
  clock.now += 1
  await runAs('ok')
  assert.equal(ends.length, 2)
})

test('without a wish for a fresh run the last one of this hour is enough', async (t) => {
  const { clock, doctor, ends, runAs } = openDoctor(t)
  await runAs('ok')
  clock.now += HOUR_MS - 1
  await doctor.run()
  assert.equal(ends.length, 1)
  clock.now += 1
  void doctor.run()
  assert.equal(ends.length, 2)
})

test('a clock that was set back does not make a run valid for longer', async (t) => {
  const { clock, doctor, ends, runAs } = openDoctor(t)
  await runAs('ok')
  clock.now -= HOUR_MS
  void doctor.run()
  assert.equal(ends.length, 2)
})

test('a command gets a run that began after its question', async (t) => {
  const { clock, doctor, ends, runAs } = openDoctor(t)
  await runAs('ok')
  clock.now += 5
  const since = clock.now
  assert.equal(doctor.runSince(since), null)
  assert.equal(doctor.runSince(since), null)
  assert.equal(ends.length, 2)
  ends[1]?.('ok')
  await new Promise(setImmediate)
  assert.equal(doctor.runSince(since)?.startedAt, since)
})

test('a check that gets worse or well is logged once, and only a failure degrades health', async (t) => {
  const { clock, health, lines, runAs } = openDoctor(t)
  const story: [CheckStatus, level: string | null, isDegraded: boolean][] = [
    ['ok', null, false],
    ['warning', 'warn', false],
    ['failed', 'error', true],
    ['failed', null, true],
    ['skipped', 'info', false],
    ['failed', 'error', true],
    ['ok', 'info', false],
    ['ok', null, false],
  ]
  for (const [status, level, isDegraded] of story) {
    lines.length = 0
    clock.now += HOUR_MS
    await runAs(status)
    assert.deepEqual(lines, level === null ? [] : [{ level, check: 'spf' }], status)
    const reasons = health.reasons()
    assert.equal(reasons.length, isDegraded ? 1 : 0)
    if (isDegraded) assert.match(reasons[0]?.reason ?? '', /have failed: spf\./)
  }
})

test('a run that ends after the stop is not logged', async (t) => {
  const { doctor, ends, health, lines } = openDoctor(t)
  const running = doctor.run()
  doctor.stop()
  ends[0]?.('failed')
  await running
  assert.deepEqual([lines, health.reasons(), doctor.last()], [[], [], undefined])
})
