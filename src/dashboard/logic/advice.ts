/** What an email waits for, and whether somebody must act: the sentence below the answer. */
import type { EmailState } from './email-state.ts'
import type { EmailText } from './reason.ts'

export type AdviceFacts = {
  state: EmailState
  reasonCode: string | null
  /** The class of the last reply; null without one. */
  replyClass: string | null
}

const BY_REASON: Readonly<Record<string, EmailText>> = {
  restored: 'act.operator',
  domain_held: 'act.operator',
  project_held: 'act.owner',
  campaign_paused: 'act.resume',
  sender_unverified: 'act.verify',
  no_server: 'act.start',
  server_stopped: 'act.start',
  suppressed: 'act.lift',
  suppression_lifted: 'act.sendAgain',
  given_up: 'act.again',
  given_up_untried: 'act.again',
  retry_scheduled: 'act.nothing',
  receiver_slowed: 'act.nothing',
  receiver_closed: 'act.nothing',
}

/** Classes of refusals that say nothing about the address. */
const NOT_THE_ADDRESS: readonly string[] = ['block', 'policy', 'content', 'size', 'syntax']
/** Classes of temporary replies that do not say that the address is fine. */
const DOUBTFUL: readonly string[] = [
  'hard',
  'disabled',
  'quota',
  'unknown',
  'dns',
  'policy',
  'block',
]

/** The text that says what to do; undefined for an email with which all is well. */
export function adviceFor(facts: AdviceFacts): EmailText | undefined {
  const { state, reasonCode, replyClass } = facts
  if (state === 'complained') return 'act.complaint'
  if (state === 'bounced') {
    return NOT_THE_ADDRESS.includes(replyClass ?? '') ? 'act.refused' : 'act.address'
  }
  const known = BY_REASON[reasonCode ?? '']
  if (known === 'act.nothing' && DOUBTFUL.includes(replyClass ?? '')) return 'act.wait'
  if (known !== undefined) return known
  if (state === 'suppressed') return 'act.lift'
  return ['waiting', 'sending', 'deferred'].includes(state) ? 'act.wait' : undefined
}
