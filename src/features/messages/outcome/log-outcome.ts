/**
 * Logs the outcome of an email and its first deferral, and counts every outcome and deferral. Call it
 * when the outcome is durable.
 */
import { maskAddresses } from '../../../log.ts'
import type { Email } from '../../../store/schema/messages.ts'
import type { Base } from '../../base.ts'
import type { ReportedReply } from './report-row.ts'

type Codes = Pick<ReportedReply, 'code' | 'enhancedCode'>

export type LoggedOutcome = {
  email: Pick<Email, 'id' | 'projectId' | 'recipient'>
  outcome: Extract<
    Email['state'],
    'delivered' | 'relayed' | 'bounced' | 'failed' | 'suppressed' | 'deferred'
  >
  /** The class of the deciding reply, as `queue show` prints it. */
  class?: string | null
  site?: string | null
  reply?: Codes | null
  /** The number of attempts so far. */
  attempts: number
  /** The duration of the deciding attempt. */
  durationMs?: number
  /** Why the email was not delivered. */
  reason?: string | null
}

const MAX_REASON_LENGTH = 200

export function logOutcome(
  { log, counters }: Pick<Base, 'log' | 'counters'>,
  logged: LoggedOutcome,
): void {
  const { outcome, attempts } = logged
  const className = logged.class ?? 'none'
  if (outcome === 'deferred') {
    counters.add('pillarbox_email_deferrals_total', { class: className })
    if (attempts > 1) return
  } else counters.add('pillarbox_email_outcomes_total', { outcome, class: className })
  log.info(factsOf(logged), `email ${outcome}`)
}

function factsOf({ email, site, reply, attempts, durationMs, reason, ...logged }: LoggedOutcome) {
  return {
    email: email.id,
    project: email.projectId,
    to: email.recipient,
    site: site ?? undefined,
    class: logged.class ?? undefined,
    code: reply ? codeOf(reply) : undefined,
    attempts,
    durationMs: durationMs === undefined ? undefined : Math.round(durationMs),
    reason: reason ? maskAddresses(reason.slice(0, MAX_REASON_LENGTH)) : undefined,
  }
}

/** `550 5.1.1` */
function codeOf({ code, enhancedCode }: Codes): string | undefined {
  const known = [code, enhancedCode].filter((part) => part !== null)
  return known.length === 0 ? undefined : known.join(' ')
}
