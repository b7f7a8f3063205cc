/** Which rule of the tables a remote server's answer falls under. */
import { CODE_RULES, ENHANCED_RULES } from './code-rules.ts'
import type { ReplyContext, Stage } from './reply.ts'
import { BEFORE_RECIPIENT, type ReplyRule } from './reply-rule.ts'
import { TEXT_RULES, WHOLE_TEXT_RULES } from './text-rules.ts'

/** `text`: the words as the rules read them. */
export type Match = { rule: ReplyRule | undefined; digit: number; text: string }

const MAX_MATCHED_LENGTH = 2_000
const MIN_VERDICT_LENGTH = 8
/** How advice begins, behind the end of a clause or not. */
const ADVICE =
  /(?<!: ?(?:please )?)(?<=[.;,!)-] ?| )(?:please (?!(?:re)?try)|kindly |contact |to (?:fix|resolve|correct|learn|prevent|avoid|request) |for (?:more|further|additional|help|assistance|details|instructions)\b|see (?:also |our |the |below|http)|visit |refer to|learn more|set ?up |if you |you (?:should|must|may|can|need) )/
/** In a rule's `enhanced`: a reply without an enhanced code. */
const NO_DETAIL = 'none'

/** `digit`: the first of the reply, or what stands for one. */
export function matchReply(input: ReplyContext, digit: number): Match {
  const raw = input.reply.text.slice(0, MAX_MATCHED_LENGTH).toLowerCase().replace(/\s+/g, ' ')
  const text = dropNames(raw)
  const verdict = dropAdvice(text)
  const fitting = TEXT_RULES.filter((one) => fits(one, input, digit))
  const rule =
    WHOLE_TEXT_RULES.find((one) => fits(one, input, digit) && isSaid(one, raw, text)) ??
    fitting.find((one) => isSaid(one, raw, verdict)) ??
    (verdict === text ? undefined : fitting.find((one) => isSaid(one, raw, text))) ??
    ENHANCED_RULES.find((one) => fits(one, input, digit)) ??
    CODE_RULES.find((one) => fits(one, input, digit))
  return { rule, digit, text }
}

function isSaid(rule: ReplyRule, raw: string, text: string): boolean {
  return rule.raw === undefined ? rule.text?.test(text) === true : rule.raw.test(raw)
}

/** The verdict without what to do about it, which names other troubles. */
function dropAdvice(text: string): string {
  const start = ADVICE.exec(text)?.index ?? 0
  return start < MIN_VERDICT_LENGTH ? text : `${text.slice(0, start)} …`
}

/** Without addresses, so that no recipient's name reads as a verdict, and without codes. */
function dropNames(raw: string): string {
  return raw
    .replace(/(?:\b[245]\d\d[ -])?#?\b[245]\.\d{1,3}\.\d{1,3}\b/g, ' ')
    .replace(/[^\s<>"'()[\],;:=/?]{1,80}@[^\s<>"'()[\],;:/?]{1,255}/g, ' ')
    .replace(/[<>]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}

function fits(rule: ReplyRule, input: ReplyContext, digit: number): boolean {
  const { stage, reply, command } = input
  const detail = reply.enhancedCode?.slice(2) ?? NO_DETAIL
  if (rule.digit !== undefined && rule.digit !== digit) return false
  if (rule.codes !== undefined && !rule.codes.includes(reply.code)) return false
  if (rule.stages !== undefined && !rule.stages.some((one) => one === stage || one === command)) {
    return false
  }
  if (rule.isForeign === true && input.isForeign !== true) return false
  if (rule.unless?.includes(detail)) return false
  if (rule.enhanced !== undefined && !rule.enhanced.includes(detail)) return false
  return fitsCommand(rule, command ?? stage) && fitsProvider(rule, input)
}

/** No address is at fault before the server has heard of it. */
function fitsCommand(rule: ReplyRule, command: Stage): boolean {
  const isOfAddress = rule.class === 'hard' && rule.reason !== 'rejected'
  if (isOfAddress && BEFORE_RECIPIENT.includes(command)) return false
  if (rule.commands !== undefined && !rule.commands.includes(command)) return false
  return rule.exceptCommands?.includes(command) !== true
}

function fitsProvider({ mx }: ReplyRule, { mxHost, recipientDomain }: ReplyContext): boolean {
  if (mx === undefined) return true
  return [mxHost, recipientDomain].some((name) => name !== undefined && mx.test(name.toLowerCase()))
}
