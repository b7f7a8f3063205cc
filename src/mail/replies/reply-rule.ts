/**
 * What a rule on a remote server's answer can say: DELIVERY's table as data, for replies in session
 * and for late bounces alike. The rules on words stand in `text-rules.ts`, those on codes in
 * `code-rules.ts`. `enhanced` holds "subject.detail": the class digit is the reply's own, which
 * bounds the verdict.
 */

import type { BounceReason, ReplyClass, SiteAction, Stage } from './reply.ts'

export type ReplyRule = {
  readonly class: ReplyClass
  readonly reason: BounceReason
  readonly text?: RegExp
  /** As `text`, of the words as they came: addresses and codes are in them. */
  readonly raw?: RegExp
  /** "subject.detail" of the enhanced code; `none` for a reply without. */
  readonly enhanced?: readonly string[]
  readonly codes?: readonly number[]
  /** First digit of the reply. */
  readonly digit?: 4 | 5
  readonly stages?: readonly Stage[]
  /** What the server answered to: the stage in session, the command that a late report tells. */
  readonly commands?: readonly Stage[]
  /** Not where it answered to one of these. */
  readonly exceptCommands?: readonly Stage[]
  /** "subject.detail" that speaks against the rule. */
  readonly unless?: readonly string[]
  /** As that of a class; it stands before it. */
  readonly isStrike?: boolean
  /** The MX host's name or the recipient's domain: the provider. */
  readonly mx?: RegExp
  /** Only where the recipient's domain is not the own one of who reports. */
  readonly isForeign?: true
  readonly retryAfterMs?: number
  readonly site?: SiteAction
  /** As that of a class; it stands before it. */
  readonly isRetried?: boolean
}

const hour = 3_600_000
/** Before the server has heard of a message. */
export const BEFORE_MAIL: readonly Stage[] = ['connect', 'greeting', 'ehlo']
/** Before it has heard of a recipient: what it says is about us. */
export const BEFORE_RECIPIENT: readonly Stage[] = [...BEFORE_MAIL, 'starttls', 'auth', 'mail']

export type ClassMeaning = {
  /** A 5yz of this class in session is tried again. */
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

/** What a class means by itself; what a rule says of its own stands before it. */
export const CLASS_MEANINGS: Readonly<Record<ReplyClass, ClassMeaning>> = {
  accepted: { ...REFUSED, isCounted: false },
  hard: REFUSED,
  disabled: REFUSED,
  quota: REFUSED,
  too_fast: { ...REFUSED, isRetried: true, retryAfterMs: hour },
  greylist: { ...REFUSED, retryAfterMs: hour / 12 },
  throttle: { isRetried: true, retryAfterMs: hour / 6, site: 'throttle', isCounted: false },
  block: { isRetried: true, retryAfterMs: hour, site: 'block', isCounted: true },
  policy: REFUSED,
  content: REFUSED,
  size: REFUSED,
  syntax: REFUSED,
  network: { ...REFUSED, site: 'slow' },
  dns: REFUSED,
  unknown: REFUSED,
}
