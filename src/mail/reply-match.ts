/** Which rule of the tables a remote server's answer falls under. */
import { codeRules, enhancedRules } from './code-rules.ts'
import type { ReplyContext, ReplyRule } from './reply-rules.ts'
import { textRules } from './text-rules.ts'

/** `text`: the words as the rules read them. */
export type Match = { rule: ReplyRule | undefined; digit: number; text: string }

const maxMatchedLength = 2_000
/** In a rule's `enhanced`: a reply without an enhanced code. */
const noDetail = 'none'

/** `digit`: the first of the reply, or what stands for one. */
export function matchReply(input: ReplyContext, digit: number): Match {
  const text = matchedText(input.reply.text)
  const rule =
    textRules.find((one) => fits(one, input, digit) && one.text?.test(text)) ??
    enhancedRules.find((one) => fits(one, input, digit)) ??
    codeRules.find((one) => fits(one, input, digit))
  return { rule, digit, text }
}

/** Without addresses, so that no recipient's name reads as a verdict. */
function matchedText(text: string): string {
  return text
    .slice(0, maxMatchedLength)
    .toLowerCase()
    .replace(/(?:\b[245]\d\d[ -])?#?\b[245]\.\d{1,3}\.\d{1,3}\b/g, ' ')
    .replace(/[^\s<>"'()[\],;:=/?]{1,80}@[^\s<>"'()[\],;:/?]{1,255}/g, ' ')
    .replace(/[<>]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}

function fits(rule: ReplyRule, input: ReplyContext, digit: number): boolean {
  const { stage, reply, mxHost, command } = input
  const detail = reply.enhancedCode?.slice(2) ?? noDetail
  if (rule.digit !== undefined && rule.digit !== digit) return false
  if (rule.codes !== undefined && !rule.codes.includes(reply.code)) return false
  if (rule.stages !== undefined && !rule.stages.some((one) => one === stage || one === command)) {
    return false
  }
  if (rule.commands !== undefined && !(command && rule.commands.includes(command))) return false
  if (command !== undefined && rule.exceptCommands?.includes(command)) return false
  if (rule.unless?.includes(detail)) return false
  if (rule.enhanced !== undefined && !rule.enhanced.includes(detail)) return false
  return rule.mx === undefined || (mxHost !== undefined && rule.mx.test(mxHost.toLowerCase()))
}
