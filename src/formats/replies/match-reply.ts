/** Finds the rule that applies to a reply. */
import { CODE_RULES, ENHANCED_RULES } from './code-rules.ts'
import type { ReplyContext, Stage } from './reply.ts'
import { BEFORE_RECIPIENT, type ReplyRule } from './reply-rule.ts'
import { TEXT_RULES, WHOLE_TEXT_RULES } from './text-rules.ts'

/** `text`: the normalised text that the rules match. */
export type Match = { rule: ReplyRule | undefined; digit: number; text: string }

const MAX_MATCHED_LENGTH = 2_000
const MIN_VERDICT_LENGTH = 8
/** The beginning of advice, after a clause or within it. */
const ADVICE =
  /(?<!: ?(?:please )?)(?<=[.;,!)-] ?| )(?:please (?!(?:re)?try)|kindly |contact |to (?:fix|resolve|correct|learn|prevent|avoid|request) |for (?:more|further|additional|help|assistance|details|instructions)\b|see (?:also |our |the |below|http)|visit |refer to|learn more|set ?up |if you |you (?:should|must|may|can|need) )/
/** In a rule's `enhanced`: the reply has no enhanced code. */
const NO_DETAIL = 'none'

/** `digit`: the first digit of the reply code, or its substitute. */
export function matchReply(input: ReplyContext, digit: number): Match {
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

/** Removes advice after the refusal, because advice mentions other problems. */
function dropAdvice(text: string): string {
  const start = ADVICE.exec(text)?.index ?? 0
  return start < MIN_VERDICT_LENGTH ? text : `${text.slice(0, start)} …`
}

/** Removes codes, and addresses, so that no recipient's name matches a rule. */
function dropNames(raw: string): string {
  return raw
    .replace(/(?:\b[245]\d\d[ -])?#?\b[245]\.\d{1,3}\.\d{1,3}\b/g, ' ')
    .replace(/[^\s<>"'()[\],;:=/?]{1,80}@[^\s<>"'()[\],;:/?]{1,255}/g, ' ')
    .replace(/[<>]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}

/** What rules look at beside the text, made once for all of them. */
function contextOf(input: ReplyContext, digit: number) {
  const { stage, reply, command, mxHost, recipientDomain, isForeign = false } = input
  const detail = reply.enhancedCode?.slice(2) ?? NO_DETAIL
  const names = [mxHost, recipientDomain].flatMap((name) => name?.toLowerCase() ?? [])
  return { stage, code: reply.code, command, detail, digit, names, isForeign }
}

type Context = ReturnType<typeof contextOf>

function matchesContext(rule: ReplyRule, context: Context): boolean {
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

/** Before RCPT, no rule that blames the recipient's address applies. */
function matchesCommand(rule: ReplyRule, command: Stage): boolean {
  const isOfAddress = rule.class === 'hard' && rule.reason !== 'rejected'
  if (isOfAddress && BEFORE_RECIPIENT.includes(command)) return false
  if (rule.commands !== undefined && !rule.commands.includes(command)) return false
  return rule.exceptCommands?.includes(command) !== true
}
