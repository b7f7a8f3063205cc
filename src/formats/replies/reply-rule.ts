/**
 * Rules on replies of remote servers, in a session and in a bounce. Rules on text are in
 * `text-rules.ts` and `provider-rules.ts`, rules on codes in `code-rules.ts`. `enhanced` contains only
 * "subject.detail": the first digit is always the reply's own.
 */

import { HOUR_MS, MINUTE_MS } from '../../base/clock.ts'
import type { BounceReason, ReplyClass, SiteAction, Stage } from './reply.ts'

export type ReplyRule = {
  readonly class: ReplyClass
  readonly reason: BounceReason
  readonly text?: RegExp
  /** Like `text`, but matches the original text with its addresses and codes. */
  readonly raw?: RegExp
  /** "subject.detail" of the enhanced code; `none`: the reply has no enhanced code. */
  readonly enhanced?: readonly string[]
  readonly codes?: readonly number[]
  /** First digit of the reply. */
  readonly digit?: 4 | 5
  readonly stages?: readonly Stage[]
  /** The command that the reply is to: the stage in session, or the command in a late report. */
  readonly commands?: readonly Stage[]
  /** The rule does not apply to replies to these commands. */
  readonly exceptCommands?: readonly Stage[]
  /** The rule does not apply with these values of "subject.detail". */
  readonly unless?: readonly string[]
  /** Overrides the class. */
  readonly isStrike?: boolean
  /** The provider: matches the MX host's name or the recipient's domain. */
  readonly mx?: RegExp
  /** The rule applies only if the reporting system belongs to another organisation. */
  readonly isForeign?: true
  readonly retryAfterMs?: number
  readonly site?: SiteAction
  /** Overrides the class. */
  readonly isRetried?: boolean
}

/** Stages before MAIL. */
export const BEFORE_MAIL: readonly Stage[] = ['connect', 'greeting', 'ehlo']
/** Stages before RCPT: a refusal concerns this server, not the recipient. */
export const BEFORE_RECIPIENT: readonly Stage[] = [...BEFORE_MAIL, 'starttls', 'auth', 'mail']

type ClassMeaning = {
  /** A 5yz of this class in session is retried. */
  readonly isRetried: boolean
  readonly retryAfterMs: number | null
  readonly site: SiteAction
  readonly isCounted: boolean
}

const REFUSED: ClassMeaning = {
  isRetried: false,
  retryAfterMs: null,
  site: 'none',
  isCounted: true,
}

/** The meaning of each class; a rule's own values override it. */
export const CLASS_MEANINGS: Readonly<Record<ReplyClass, ClassMeaning>> = {
  accepted: { ...REFUSED, isCounted: false },
  hard: REFUSED,
  disabled: REFUSED,
  quota: REFUSED,
  too_fast: { ...REFUSED, isRetried: true, retryAfterMs: HOUR_MS },
  greylist: { ...REFUSED, retryAfterMs: HOUR_MS / 12 },
  throttle: { isRetried: true, retryAfterMs: HOUR_MS / 6, site: 'throttle', isCounted: false },
  connections: {
    isRetried: true,
    retryAfterMs: 2 * MINUTE_MS,
    site: 'fewer connections',
    isCounted: false,
  },
  session: { isRetried: true, retryAfterMs: MINUTE_MS, site: 'reconnect', isCounted: false },
  block: { isRetried: true, retryAfterMs: HOUR_MS, site: 'block', isCounted: true },
  policy: REFUSED,
  content: REFUSED,
  size: REFUSED,
  syntax: REFUSED,
  network: { ...REFUSED, site: 'slow' },
  dns: REFUSED,
  unknown: REFUSED,
}

/** A pattern that matches if any of the given patterns does. */
export function anyOf(...patterns: RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join('|'))
}
