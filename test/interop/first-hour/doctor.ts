/** What `pillarbox doctor` finds. */
import assert from 'node:assert/strict'
import type { CheckResult } from '../../../src/features/doctor/outcome.ts'
import type { Machine } from './machine.ts'

const MAX_TRIES = 10

/** A new run of the server. */
export async function makeChecks(machine: Pick<Machine, 'attempt'>): Promise<CheckResult[]> {
  const { status, out, err } = await machine.attempt(['doctor', '--json'])
  assert.ok(status === 0 || status === 1, err)
  const { by, checks } = JSON.parse(out) as { by: string; checks: CheckResult[] }
  assert.equal(by, 'server')
  const hasFailed = checks.some((one) => one.status === 'failed')
  assert.equal(status, hasFailed ? 1 : 0)
  return checks
}

export function faultsIn(checks: readonly CheckResult[]): CheckResult[] {
  return checks.filter(({ status }) => status === 'warning' || status === 'failed')
}

/** The first run without a fault: the server notices some repairs a moment later. */
export async function untilGreen(machine: Pick<Machine, 'attempt'>): Promise<CheckResult[]> {
  for (let tries = 1; ; tries += 1) {
    const checks = await makeChecks(machine)
    const faults = faultsIn(checks)
    if (faults.length === 0) return checks
    if (tries === MAX_TRIES) assert.fail(JSON.stringify(faults))
  }
}
