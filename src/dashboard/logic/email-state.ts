/** The state of an email in one word: what its status and its state in the queue say together. */
import type { Tone } from './tone.ts'

export const EMAIL_STATES = [
  'waiting',
  'sending',
  'deferred',
  'held',
  'paused',
  'relayed',
  'delivered',
  'opened',
  'clicked',
  'bounced',
  'complained',
  'failed',
  'cancelled',
  'suppressed',
  'received',
] as const

export type EmailState = (typeof EMAIL_STATES)[number]

/** An email, in so far as its state is looked at. */
export type Stated = { status: string; state: string; reasonCode?: string | null }

const BY_STATUS: Readonly<Record<string, EmailState>> = {
  SENDING: 'sending',
  SENT: 'relayed',
  DELIVERED: 'delivered',
  RECEIVED: 'received',
  OPENED: 'opened',
  CLICKED: 'clicked',
  BOUNCED: 'bounced',
  COMPLAINED: 'complained',
  SUPPRESSED: 'suppressed',
}

const WAITING: readonly string[] = ['deferred', 'held', 'paused']

export function stateOf({ status, state, reasonCode }: Stated): EmailState {
  if (status === 'FAILED') return reasonCode === 'cancelled' ? 'cancelled' : 'failed'
  if (status === 'PENDING' && WAITING.includes(state)) return state as EmailState
  return BY_STATUS[status] ?? 'waiting'
}

const TONES: Readonly<Record<EmailState, Tone>> = {
  waiting: 'live',
  sending: 'live',
  deferred: 'warn',
  held: 'warn',
  paused: 'warn',
  relayed: 'good',
  delivered: 'good',
  opened: 'good',
  clicked: 'good',
  bounced: 'bad',
  complained: 'bad',
  failed: 'bad',
  cancelled: 'off',
  suppressed: 'off',
  received: 'good',
}

export function toneOf(state: EmailState): Tone {
  return TONES[state]
}

/** Whether the email still has its delivery before it. */
export function isWaiting(state: EmailState): boolean {
  return ['waiting', 'sending', 'deferred', 'held', 'paused'].includes(state)
}

/** Whether the email failed because its receiver did not take it in time. */
export function isExpired(state: EmailState, reasonCode: string | null): boolean {
  return state === 'failed' && (reasonCode === 'given_up' || reasonCode === 'given_up_untried')
}
