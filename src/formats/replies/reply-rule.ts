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
  /** Like `text`, but matches the original text, which still has its addresses and codes. */
  readonly raw?: RegExp
  /**
   * The rule applies only to these values of "subject.detail" in the enhanced code; `none`: a reply
   * without an enhanced code.
   */
  readonly enhanced?: readonly string[]
  readonly codes?: readonly number[]
  /** The rule applies only to replies with this first digit. */
  readonly digit?: 4 | 5
  readonly stages?: readonly Stage[]
  /**
   * The rule applies only to replies to these commands: the stage in session, or the command that a
   * late report names.
   */
  readonly commands?: readonly Stage[]
  /** The rule does not apply to replies to these commands. */
  readonly exceptCommands?: readonly Stage[]
  /** The rule does not apply with these values of "subject.detail". */
  readonly unless?: readonly string[]
  /** Overrides whether the class counts as a strike. */
  readonly isStrike?: boolean
  /**
   * The provider that the rule is for: matches the name of the MX host or the recipient's domain.
   */
  readonly mx?: RegExp
  /** The rule applies only if the reporting system belongs to another organisation. */
  readonly isForeign?: true
  readonly retryAfterMs?: number
  readonly site?: SiteAction
  /** Overrides whether the class is retried after a 5yz in session. */
  readonly isRetried?: boolean
}

/** The stages before MAIL. */
export const BEFORE_MAIL: readonly Stage[] = ['connect', 'greeting', 'ehlo']
/** The stages before RCPT, at which a refusal concerns this server and not the recipient. */
export const BEFORE_RECIPIENT: readonly Stage[] = [...BEFORE_MAIL, 'starttls', 'auth', 'mail']

type ClassMeaning = {
  /** Whether a 5yz of this class in session is retried. */
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

/** The meaning of each class; values that a rule has itself override it. */
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

/** Joins patterns into one that matches where any of them does. */
export function anyOf(...patterns: RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join('|'))
}
