/** What an attempt came to, in one line: the refusal, or what went wrong without one. */
import type { AttemptOutcome } from './attempt.ts'

/** Replies come with their control bytes escaped; their lines are joined. */
export function outcomeText({ reply, error }: Pick<AttemptOutcome, 'reply' | 'error'>): string {
  const isRefusal = reply !== null && reply.code >= 400
  if (!isRefusal) return error ?? 'no answer'
  const text = reply.text.split('\n').join(' ')
  return [reply.code, reply.enhancedCode, text].filter((part) => part !== null).join(' ')
}
