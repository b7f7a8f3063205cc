/**
 * Decides what a remote server's reply means for the message, the recipient and the site. The rules
 * are data (`text-rules.ts`, `code-rules.ts`); this file finds the rule that applies and bounds its
 * effect.
 *
 * In session, the first digit decides: a 4yz is never final and never suppresses, whatever its text
 * says; a 5yz is retried only if its class or its rule says so. A late bounce (stage `late`) is
 * always final, and the command that it names counts like a stage. Within these bounds, the text
 * beats the enhanced code, and the enhanced code beats the reply code.
 */
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../base/clock.ts'
import { CODE_RULES, ENHANCED_RULES } from './code-rules.ts'
import type { ReplyClass, ReplyContext, ReplyVerdict, SiteAction, Stage } from './reply.ts'
import { BEFORE_MAIL, BEFORE_RECIPIENT, CLASS_MEANINGS, type ReplyRule } from './reply-rule.ts'
import { TEXT_RULES, WHOLE_TEXT_RULES } from './text-rules.ts'

/** `basis`: the part of the reply that decided the verdict. */
export type Classification = { verdict: ReplyVerdict; basis: 'text' | 'enhanced' | 'code' | 'none' }

const MAX_HINT_MS = 6 * HOUR_MS
const ACCEPTED: ReplyVerdict = Object.freeze({
  isFinal: true,
  class: 'accepted',
  reason: 'delivered',
  isHard: false,
  isStrike: false,
  retryAfterMs: null,
  site: 'none',
  countsAsFailure: false,
})

/** The reason why an attempt ended without a reply that decides. */
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

type LocalMeaning = Pick<ReplyVerdict, 'class' | 'reason'> & { isFinal: boolean; isHard?: boolean }

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
const UNIT_MS: Readonly<Record<string, number>> = {
  s: SECOND_MS,
  m: MINUTE_MS,
  h: HOUR_MS,
}

/** `text`: the normalised text of the reply, which the rules match. */
type ReplyMatch = { rule: ReplyRule | undefined; digit: number; text: string }

const MAX_MATCHED_LENGTH = 2_000
const MIN_VERDICT_LENGTH = 8
/** The words with which advice begins after a refusal (see `dropAdvice`). */
const ADVICE =
  /(?<!: ?(?:please )?)(?<=[.;,!)-] ?| )(?:please (?!(?:re)?try)|kindly |contact |to (?:fix|resolve|correct|learn|prevent|avoid|request) |for (?:more|further|additional|help|assistance|details|instructions)\b|see (?:also |our |the |below|http)|visit |refer to|learn more|set ?up |if you |you (?:should|must|may|can|need) )/
/** The value in a rule's `enhanced` for a reply without an enhanced code. */
const NO_DETAIL = 'none'

type RuleContext = ReturnType<typeof contextOf>

/**
 * Returns the verdict on a reply. At stage `late`, `code` 0 means that the report has no reply
 * code; the first digit then comes from the enhanced code.
 */
export function classifyReply(input: ReplyContext): ReplyVerdict {
  return classifyWithBasis(input).verdict
}

/**
 * Like `classifyReply`, but also says which part of the reply decided, for a caller that chooses
 * between several texts.
 */
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

/**
 * Returns the verdict on an attempt without a reply: no connection, a fault of DNS, or an extension
 * that the server lacks.
 */
export function classifyLocally(cause: LocalCause): ReplyVerdict {
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

function verdictOf(input: ReplyContext, { digit, text, rule }: ReplyMatch): ReplyVerdict {
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
  // A 421 after EHLO closes only this connection, so the site is not slowed down.
  return reply.code === 421 && !BEFORE_MAIL.includes(stage) ? 'reconnect' : 'slow'
}

/**
 * Reads the delay in "try again in 5 minutes" or "come back in 00:05:00", between one second and
 * six hours.
 */
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

/**
 * Finds the rule that applies to a reply.
 * `digit`: the first digit of the reply code, or its substitute.
 */
export function matchReply(input: ReplyContext, digit: number): ReplyMatch {
  const raw = input.reply.text.slice(0, MAX_MATCHED_LENGTH).toLowerCase().replace(/\s+/g, ' ')
  const text = dropNames(raw)
  const verdict = dropAdvice(text)
  const context = contextOf(input, digit)
  const find = (rules: readonly ReplyRule[], words: string) =>
    rules.find((one) => matchesContext(one, context) && matchesText(one, raw, words))
  const rule =
    find(WHOLE_TEXT_RULES, text) ??
    find(TEXT_RULES, verdict) ??
    (verdict === text ? undefined : find(TEXT_RULES, text)) ??
    ENHANCED_RULES.find((one) => matchesContext(one, context)) ??
    CODE_RULES.find((one) => matchesContext(one, context))
  return { rule, digit, text }
}

function matchesText(rule: ReplyRule, raw: string, text: string): boolean {
  return rule.raw === undefined ? rule.text?.test(text) === true : rule.raw.test(raw)
}

/** Cuts off the advice after a refusal, because advice mentions other problems. */
function dropAdvice(text: string): string {
  const start = ADVICE.exec(text)?.index ?? 0
  return start < MIN_VERDICT_LENGTH ? text : `${text.slice(0, start)} …`
}

/** Removes codes and addresses, so that a recipient's name matches no rule. */
function dropNames(raw: string): string {
  return raw
    .replace(/(?:\b[245]\d\d[ -])?#?\b[245]\.\d{1,3}\.\d{1,3}\b/g, ' ')
    .replace(/[^\s<>"'()[\],;:=/?]{1,80}@[^\s<>"'()[\],;:/?]{1,255}/g, ' ')
    .replace(/[<>]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}

/** The facts about a reply that rules compare besides its text, collected once for all rules. */
function contextOf(input: ReplyContext, digit: number) {
  const { stage, reply, command, mxHost, recipientDomain, isForeign = false } = input
  const detail = reply.enhancedCode?.slice(2) ?? NO_DETAIL
  const names = [mxHost, recipientDomain].flatMap((name) => name?.toLowerCase() ?? [])
  return { stage, code: reply.code, command, detail, digit, names, isForeign }
}

function matchesContext(rule: ReplyRule, context: RuleContext): boolean {
  const { stage, code, command, detail } = context
  if (rule.digit !== undefined && rule.digit !== context.digit) return false
  if (rule.codes !== undefined && !rule.codes.includes(code)) return false
  if (rule.stages !== undefined && !rule.stages.some((one) => one === stage || one === command)) {
    return false
  }
  if (rule.isForeign === true && !context.isForeign) return false
  if (rule.unless?.includes(detail)) return false
  if (rule.enhanced !== undefined && !rule.enhanced.includes(detail)) return false
  if (!matchesCommand(rule, command ?? stage)) return false
  const { mx } = rule
  return mx === undefined || context.names.some((name) => mx.test(name))
}

/**
 * Whether the rule applies to a reply to this command. Before RCPT, no rule applies that blames the
 * recipient's address.
 */
function matchesCommand(rule: ReplyRule, command: Stage): boolean {
  const isOfAddress = rule.class === 'hard' && rule.reason !== 'rejected'
  if (isOfAddress && BEFORE_RECIPIENT.includes(command)) return false
  if (rule.commands !== undefined && !rule.commands.includes(command)) return false
  return rule.exceptCommands?.includes(command) !== true
}
