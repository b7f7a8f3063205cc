/**
 * Runs the checks side by side. A check that hangs or fails by itself holds up no other: after the limit
 * of the whole run it is a warning. An outcome that only follows from another check that is not ok is
 * skipped, so that one fault is named once.
 */
import { SECOND_MS } from '../../../base/clock.ts'
import { describeError } from '../../../base/errors.ts'
import { createProbes, withinLimit } from '../../../outbound/probe/probes.ts'
import { readSpace } from '../../../store/files/disk.ts'
import type { Base } from '../../ground/base.ts'
import {
  type Check,
  type CheckContext,
  type CheckOutcome,
  type CheckResult,
  skipped,
  toCheckResult,
  warning,
} from './check.ts'
import type { DoctorDeps } from './deps.ts'
import { dmarcCheck } from './dmarc.ts'
import { dkimCheck, returnPathCheck } from './domain-records.ts'
import { blocklistsCheck, reverseDnsCheck, smtpEgressCheck } from './egress.ts'
import { createFacts } from './facts.ts'
import { baseUrlCheck, certificatesCheck, oneClickCheck, starttlsCheck } from './listeners.ts'
import {
  backupCheck,
  clockCheck,
  diskSpaceCheck,
  inodesCheck,
  oldestDueCheck,
  walCheck,
} from './machine.ts'
import { spfCheck } from './spf.ts'

type CommandDeps = Pick<Base, 'config' | 'keyring' | 'store' | 'resolver' | 'now' | 'log'> &
  Pick<DoctorDeps, 'findLastBackup'>

/** A run of all checks; its instants are in epoch ms. */
export type CheckRun = { startedAt: number; finishedAt: number; checks: CheckResult[] }

/** Returns the worst status of a run. A skipped check counts as ok. */
export function worstOf({ checks }: Pick<CheckRun, 'checks'>): 'ok' | 'warning' | 'failed' {
  const has = (status: CheckResult['status']) => checks.some((one) => one.status === status)
  if (has('failed')) return 'failed'
  return has('warning') ? 'warning' : 'ok'
}

/** All checks, in the order in which they are shown. */
export const CHECKS: readonly Check[] = [
  ...[smtpEgressCheck, reverseDnsCheck, spfCheck, dkimCheck, dmarcCheck, returnPathCheck],
  ...[starttlsCheck, certificatesCheck, blocklistsCheck, baseUrlCheck, oneClickCheck, clockCheck],
  ...[diskSpaceCheck, inodesCheck, walCheck, oldestDueCheck, backupCheck],
]

const RUN_MS = 60 * SECOND_MS

type Judged = { id: Check['id']; outcome: CheckOutcome }

/**
 * Runs the checks. Never rejects, even if a check throws. `limitMs`: the time limit of the whole
 * run.
 */
export async function runChecks(
  deps: DoctorDeps,
  { limitMs = RUN_MS, checks = CHECKS } = {},
): Promise<CheckRun> {
  const startedAt = deps.now()
  const context: CheckContext = { ...deps, facts: createFacts(deps) }
  const judged = await Promise.all(checks.map((check) => runCheck(check, context, limitMs)))
  const results = withoutConsequences(judged).map(({ id, outcome }) => toCheckResult(id, outcome))
  return { startedAt, finishedAt: deps.now(), checks: results }
}

async function runCheck(check: Check, context: CheckContext, limitMs: number): Promise<Judged> {
  const fix = 'Run it again: pillarbox doctor. If this lasts, report it.'
  const late = () => warning(`the check did not end within ${limitMs / SECOND_MS} s`, fix)
  try {
    return { id: check.id, outcome: await withinLimit(check.run(context), limitMs, late) }
  } catch (error) {
    context.log.error({ error, check: check.id }, 'a check could not be made')
    return { id: check.id, outcome: warning(`the check failed: ${describeError(error)}`, fix) }
  }
}

function withoutConsequences(judged: readonly Judged[]): Judged[] {
  const isBad = ({ outcome }: Judged) => outcome.status === 'failed' || outcome.status === 'warning'
  const bad = new Set(judged.filter(isBad).map(({ id }) => id))
  return judged.map((one) => {
    const { follows = [], evidence } = one.outcome
    const cause = follows.find((id) => bad.has(id))
    if (cause === undefined || !isBad(one)) return one
    return { id: one.id, outcome: skipped(`follows from ${cause}: ${evidence}`) }
  })
}

/** Runs the checks in a command, without a server or beside one that does not answer. */
export function runWithoutServer(deps: CommandDeps): Promise<CheckRun> {
  const probes = createProbes({ resolver: deps.resolver, now: deps.now })
  return runChecks({ ...deps, probes, readSpace, server: null })
}
