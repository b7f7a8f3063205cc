import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import type { CheckResult } from '../../src/features/operation/doctor/check.ts'
import { makeFolder } from '../config/config-folder.ts'
import { eventually, startProgram } from '../e2e/program.ts'

type Printed = { status: string; by: string; checks: CheckResult[] }

const statusOf = ({ checks }: Printed, id: string) => checks.find((one) => one.id === id)?.status

test('doctor lets the running server check itself, prints every fix and ends with 1', async (t) => {
  const program = await startProgram({ PILLARBOX_INBOUND__LISTEN: '["127.0.0.1:0"]' })
  t.after(program.close)
  // A command does not wait long for a server that a busy machine keeps from its answer.
  const { status, printed } = await eventually(async () => {
    const { status, out } = await program.run('doctor', '--json')
    const printed = JSON.parse(out) as Printed
    return printed.by === 'server' ? { status, printed } : undefined
  })
  assert.deepEqual([status, printed.status], [1, 'failed'])
  // The DNS of this test knows nothing of the server.
  assert.equal(statusOf(printed, 'reverse_dns'), 'failed')
  assert.equal(statusOf(printed, 'starttls'), 'warning')
  assert.equal(statusOf(printed, 'database'), undefined)
  const text = await program.run('doctor')
  assert.equal(text.status, 1)
  assert.match(text.out, /^STATUS +CHECK +SEEN\n/)
  assert.match(
    text.out,
    /^return_path: failed\n.+\n {2}to repair it:\n {4}bounce\.mail\.example\.test\. IN MX/m,
  )
  const health = (await program.call('GET', '/health')).body as { reasons: { cause: string }[] }
  assert.ok(health.reasons.some(({ cause }) => cause === 'checks'))
  const answer = await program.call('GET', '/health/checks')
  assert.equal(answer.status, 503)
})

test('doctor without a server makes the checks that need none, and --full reads the database', async (t) => {
  const program = await startProgram()
  t.after(program.close)
  await program.stop()
  const { out } = await program.run('doctor', '--full', '--json')
  const printed = JSON.parse(out) as Printed
  assert.equal(printed.by, 'command')
  assert.equal(statusOf(printed, 'oldest_due'), 'skipped')
  assert.equal(statusOf(printed, 'wal'), 'ok')
  assert.equal(statusOf(printed, 'database'), 'ok')
  const text = await program.run('doctor')
  assert.match(text.out, /^No server runs: /)
  const file = path.join(makeFolder(), 'other.toml')
  writeFileSync(file, '')
  const named = await program.run('--config', file, 'doctor')
  assert.ok(
    named.out.includes(`to repair it:\n    pillarbox --config ${file} backup FILE`),
    named.out,
  )
})

test('a sandbox has no fault, and the exit status is 0', async (t) => {
  const program = await startProgram({ PILLARBOX_DELIVERY__MODE: 'sandbox' })
  t.after(program.close)
  const { status, out } = await program.run('doctor', '--json')
  const printed = JSON.parse(out) as Printed
  const bad = printed.checks.filter((one) => one.status === 'failed')
  assert.deepEqual([status, bad], [0, []])
})
