/** What `pillarbox doctor` finds. */
import assert from 'node:assert/strict'
import type { CheckResult } from '../../../src/features/operation/doctor/check.ts'
import { PATIENCE_MS } from '../../patience.ts'
import type { Machine } from './machine.ts'

/** A new run of the server. The command gives a busy one only two seconds to answer, and is made again. */
export async function makeChecks(machine: Pick<Machine, 'attempt'>): Promise<CheckResult[]> {
  const giveUpAt = performance.now() + PATIENCE_MS
  for (;;) {
    const { by, checks } = await runDoctor(machine)
    if (by === 'server') return checks
    assert.ok(performance.now() < giveUpAt, `made by the ${by}`)
  }
}

async function runDoctor(machine: Pick<Machine, 'attempt'>) {
  const { status, out, err } = await machine.attempt(['doctor', '--json'])
  assert.ok(status === 0 || status === 1, err)
  const { by, checks } = JSON.parse(out) as { by: string; checks: CheckResult[] }
  const hasFailed = checks.some((one) => one.status === 'failed')
  assert.equal(status, hasFailed ? 1 : 0)
  return { by, checks }
}

export function faultsIn(checks: readonly CheckResult[]): CheckResult[] {
  return checks.filter(({ status }) => status === 'warning' || status === 'failed')
}

/** The first run without a fault: the server notices some repairs a moment later. */
export async function untilGreen(machine: Pick<Machine, 'attempt'>): Promise<CheckResult[]> {
  for (const giveUpAt = performance.now() + PATIENCE_MS; ; ) {
    const checks = await makeChecks(machine)
    const faults = faultsIn(checks)
    if (faults.length === 0) return checks
    if (performance.now() > giveUpAt) assert.fail(JSON.stringify(faults))
  }
}
