/** Records reports that emails were not delivered, many by few statements. */
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import type { UsageDeps } from '../../../ground/usage/count.ts'
import { logOutcome } from './final-state.ts'
import {
  countIfFailed,
  type EmailAndReport,
  factsOf,
  isOver,
  listReportedEmails,
  type ReportOf,
  shownReport,
} from './reported-email.ts'
import { suppressReportedBounces } from './suppress-bounced.ts'
import { bounceByReports, insertReports, type ReportedBounce } from './write-report.ts'

type Deps = UsageDeps & Pick<Base, 'counters' | 'log'>
type Bounce = ReportOf<'bounce'>

/**
 * Returns for each whether it changed anything: of several about an email, only the first does. The events of all
 * bounces, in the order of the reports, come before those of the contacts that they unsubscribe.
 */
export async function recordBounces(
  deps: Deps,
  tx: Tx,
  { reports, at }: { reports: readonly Bounce[]; at: number },
): Promise<boolean[]> {
  const ids = reports.map(({ emailId }) => emailId)
  const known = await listReportedEmails(tx, ids)
  const bounces: EmailAndReport<Bounce>[] = []
  const changed = reports.map((report) => {
    const email = known.get(report.emailId)
    known.delete(report.emailId)
    if (email === undefined || isOver(email)) return false
    return bounces.push({ email, report: shownReport(email, report), at }) > 0
  })
  if (bounces.length > 0) await write(deps, tx, bounces)
  return changed
}

async function write(deps: Deps, tx: Tx, bounces: readonly EmailAndReport<Bounce>[]) {
  for (const bounce of bounces) await countIfFailed(deps, tx, bounce)
  await bounceByReports(tx, bounces.map(toBounce))
  await insertReports(tx, bounces.map(toResult))
  const refusals = bounces.map(({ email, report: { verdict, diagnostic: source }, at }) => {
    return { email, verdict, source, at }
  })
  await suppressReportedBounces(tx, refusals)
  tx.afterCommit(() => {
    for (const bounce of bounces) observe(deps, bounce)
  })
}

function toBounce({ email, report, at }: EmailAndReport<Bounce>): ReportedBounce {
  const bounceType = report.verdict.isHard ? 'Permanent' : 'Undetermined'
  return { email, at, error: report.diagnostic, bounceType }
}

function toResult({ email, report, at }: EmailAndReport<Bounce>) {
  const result = 'reported-bounced' as const
  return { emailId: email.id, at, result, class: report.verdict.class, ...factsOf(report) }
}

function observe(deps: Deps, { email, report }: EmailAndReport<Bounce>): void {
  const { verdict, diagnostic: reason, reply = null } = report
  const type = verdict.isHard ? 'hard' : 'soft'
  deps.counters.add('pillarbox_bounces_total', { source: 'report', type })
  const why = { class: verdict.class, reply, reason }
  logOutcome(deps, { email, outcome: 'bounced', ...why, attempts: email.attemptCount })
}
