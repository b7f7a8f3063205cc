/** No alternative in the pattern of a text rule is dead: each decides about some text alone. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { matchReply } from '../../../src/formats/replies/classify-reply.ts'
import type { ReplyContext, Stage } from '../../../src/formats/replies/reply.ts'
import type { ReplyRule } from '../../../src/formats/replies/reply-rule.ts'
import { TEXT_RULES, WHOLE_TEXT_RULES } from '../../../src/formats/replies/text-rules.ts'
import { readPattern } from './pattern-samples.ts'

const DOMAINS = ['ezweb.ne.jp', 'docomo.ne.jp', 'mx.orange.test', 'reader.test']
const SEEDS = Array.from({ length: 60 }, (_, seed) => seed)

/** Contexts to which a rule applies, by its properties besides the pattern. */
function listContexts(rule: ReplyRule): Omit<ReplyContext, 'reply'>[] {
  const stages: readonly Stage[] = rule.stages ?? ['late', 'rcpt', 'mail', 'message']
  const commands = [undefined, 'rcpt', 'message', 'mail', ...(rule.commands ?? [])] as const
  const mxHost = DOMAINS.find((domain) => rule.mx?.test(domain)) ?? 'reader.test'
  return stages.flatMap((stage) =>
    (stage === 'late' ? commands : [undefined]).map((command) => ({
      stage,
      mxHost,
      ...(rule.isForeign ? { isForeign: true } : {}),
      ...(command ? { command } : {}),
    })),
  )
}

function listReplies(rule: ReplyRule): { code: number; enhancedCode: string | null }[] {
  const codes = rule.codes ?? (rule.digit === undefined ? [550, 450] : [rule.digit * 100 + 50])
  return codes.flatMap((code) => {
    const digit = code === 0 ? 5 : Math.floor(code / 100)
    const details = rule.enhanced ?? [null]
    return details.map((detail) => ({
      code,
      enhancedCode: detail === null || detail === 'none' ? null : `${digit}.${detail}`,
    }))
  })
}

function wins(rule: ReplyRule, text: string): boolean {
  return listContexts(rule).some((context) =>
    listReplies(rule).some(({ code, enhancedCode }) => {
      const reply = { code, enhancedCode, text }
      const digit = code === 0 ? 5 : Math.floor(code / 100)
      return matchReply({ ...context, reply }, digit).rule === rule
    }),
  )
}

function listUnreachable(rule: ReplyRule): string[] {
  const { branches, sample } = readPattern((rule.raw ?? rule.text)?.source ?? '')
  return branches
    .filter((branch) => {
      return !SEEDS.some((seed) => {
        const text = sample(branch, seed)
        return wins(rule, text) || wins(rule, `q ${text} q`)
      })
    })
    .map(({ source }) => source)
}

test('every alternative of every rule can win on its own', () => {
  const unreachable = [...WHOLE_TEXT_RULES, ...TEXT_RULES].flatMap((rule) =>
    listUnreachable(rule).map((source) => `${rule.class} ${rule.reason}: ${source}`),
  )
  assert.deepEqual(unreachable, [])
})
