/**
 * The meaning of a remote server's reply for the message, the recipient and the site. The rules are
 * data (`text-rules.ts`, `code-rules.ts`); this file sets their bounds. In session the first digit
 * decides: a 4yz is never final and never suppresses, regardless of its text; a 5yz is retried only if
 * its class or its rule says so. A late bounce (stage `late`) is always final, and its command counts
 * like a stage. Within these bounds text beats enhanced code, and enhanced code beats reply code.
 */
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../base/clock.ts'
import { type Match, matchReply } from './match-reply.ts'
import type { ReplyClass, ReplyContext, SiteAction, Verdict } from './reply.ts'
import { BEFORE_MAIL, CLASS_MEANINGS, type ReplyRule } from './reply-rule.ts'

/** A verdict and the part of the reply that decided it. */
export type Classification = { verdict: Verdict; basis: 'text' | 'enhanced' | 'code' | 'none' }

const MAX_HINT_MS = 6 * HOUR_MS

const ACCEPTED: Verdict = Object.freeze({
  isFinal: true,
  class: 'accepted',
  reason: 'delivered',
  isHard: false,
  isStrike: false,
  retryAfterMs: null,
  site: 'none',
  countsAsFailure: false,
})

/**
 * The verdict on a reply. At stage `late`, `code` 0 means that the report has no reply code; then the
 * enhanced code gives the first digit.
 */
export function classifyReply(input: ReplyContext): Verdict {
  return classifyWithBasis(input).verdict
}

/** As `classifyReply`, for a caller that chooses between several texts. */
export function classifyWithBasis(input: ReplyContext): Classification {
  const digit = firstDigit(input)
  if (digit < 4) return { verdict: ACCEPTED, basis: 'code' }
  const match = matchReply(input, digit)
  return { verdict: verdictOf(input, match), basis: basisOf(match.rule) }
}

function basisOf(rule: ReplyRule | undefined): Classification['basis'] {
  if (rule === undefined) return 'none'
  if (rule.text !== undefined || rule.raw !== undefined) return 'text'
  return rule.enhanced === undefined ? 'code' : 'enhanced'
}

/** The reason why an attempt ended without a decisive reply. */
export type LocalCause =
  | 'network'
  | 'tls'
  | 'dns'
  | 'loop'
  | 'unknown-host'
  | 'null-mx'
  | 'size'
  | 'smtputf8'
  | '8bit'

type LocalMeaning = Pick<Verdict, 'class' | 'reason'> & { isFinal: boolean; isHard?: boolean }

const LOCAL_MEANINGS: Readonly<Record<LocalCause, LocalMeaning>> = {
  network: { class: 'network', reason: 'networkerror', isFinal: false },
  tls: { class: 'network', reason: 'securityerror', isFinal: false },
  dns: { class: 'dns', reason: 'networkerror', isFinal: false },
  loop: { class: 'unknown', reason: 'networkerror', isFinal: true },
  'unknown-host': { class: 'hard', reason: 'hostunknown', isFinal: true, isHard: true },
  'null-mx': { class: 'hard', reason: 'hostunknown', isFinal: true, isHard: true },
  size: { class: 'size', reason: 'toobig', isFinal: true },
  smtputf8: { class: 'syntax', reason: 'contenterror', isFinal: true },
  '8bit': { class: 'syntax', reason: 'contenterror', isFinal: true },
}

/** The verdict without a reply: no connection, DNS, or an extension that the server lacks. */
export function classifyLocally(cause: LocalCause): Verdict {
  const { isHard = false, ...meaning } = LOCAL_MEANINGS[cause]
  const isNetwork = meaning.class === 'network'
  return {
    ...meaning,
    isHard,
    isStrike: false,
    retryAfterMs: null,
    site: isNetwork ? 'slow' : 'none',
    countsAsFailure: true,
  }
}

function firstDigit({ stage, reply }: ReplyContext): number {
  const digit = Math.floor(reply.code / 100)
  if (digit >= 2 && digit <= 5) return digit
  if (stage !== 'late') return 4
  return Number(reply.enhancedCode?.charAt(0) ?? 5)
}

function verdictOf(input: ReplyContext, { digit, text, rule }: Match): Verdict {
  const replyClass = rule?.class ?? 'unknown'
  const reason = rule?.reason ?? 'undetermined'
  const meaning = CLASS_MEANINGS[replyClass]
  const isLate = input.stage === 'late'
  const isRetried = rule?.isRetried ?? meaning.isRetried
  const isFinal = isLate || (digit === 5 && !isRetried)
  const isStrike =
    replyClass === 'quota' ||
    replyClass === 'disabled' ||
    rule?.isStrike === true ||
    (replyClass === 'unknown' && reason === 'undetermined' && digit === 5)
  return {
    isFinal,
    class: replyClass,
    reason,
    isHard: isFinal && replyClass === 'hard',
    isStrike: isFinal && isStrike,
    retryAfterMs: isFinal
      ? null
      : (retryHintMs(text) ?? rule?.retryAfterMs ?? meaning.retryAfterMs),
    site: isLate ? 'none' : (rule?.site ?? siteOf(input, replyClass, digit)),
    countsAsFailure: isLate || meaning.isCounted,
  }
}

function siteOf({ stage, reply }: ReplyContext, replyClass: ReplyClass, digit: number): SiteAction {
  const site = CLASS_MEANINGS[replyClass].site
  const isUnexplained = replyClass === 'unknown' && digit === 4
  if (!isUnexplained && site !== 'slow') return site
  // A 421 in an ongoing session closes only this connection; the site is not slowed down.
  return reply.code === 421 && !BEFORE_MAIL.includes(stage) ? 'reconnect' : 'slow'
}

const UNIT_MS: Readonly<Record<string, number>> = {
  s: SECOND_MS,
  m: MINUTE_MS,
  h: HOUR_MS,
}

/** The delay of "try again in 5 minutes" or "come back in 00:05:00": one second to six hours. */
function retryHintMs(text: string): number | null {
  const clock = /\b(?:in|after|for|wait) (\d{1,2}):(\d{2}):(\d{2})\b/.exec(text)
  if (clock) {
    const [hours, minutes, seconds] = clock.slice(1).map(Number)
    return boundHint(((hours ?? 0) * 3_600 + (minutes ?? 0) * 60 + (seconds ?? 0)) * 1_000)
  }
  const plain =
    /\b(?:in|after|for|wait|within|again|back)(?: at least| about| another)? (\d{1,6}) ?(s|m|h)(?:ec|in|r|our|inute|econd)?s?\b/.exec(
      text,
    )
  return plain ? boundHint(Number(plain[1]) * (UNIT_MS[plain[2] ?? 's'] ?? 1_000)) : null
}

function boundHint(ms: number): number {
  return Math.min(Math.max(ms, 1_000), MAX_HINT_MS)
}
