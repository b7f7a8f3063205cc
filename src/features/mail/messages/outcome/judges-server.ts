/**
 * Whether a receiver refused this server, and neither the recipient nor the message: its address, its host
 * name, its reverse DNS, or the authentication of its domain. Once that is repaired, the same email may arrive.
 */
import { classifyReply } from '../../../../formats/replies/classify-reply.ts'
import type { BounceReason } from '../../../../formats/replies/reply.ts'
import type { Attempt } from '../../../../store/schema/messages.ts'

type Refusal = Pick<Attempt, 'class' | 'host' | 'replyCode' | 'enhancedCode' | 'replyText'>

const JUDGEMENTS: readonly BounceReason[] = ['blocked', 'authfailure']

/** Attempts store the class of a reply; the reason follows from the reply again. */
export function judgesServer({
  class: name,
  host,
  replyCode,
  enhancedCode,
  replyText,
}: Refusal): boolean {
  if (name === 'block') return true
  if (name !== 'policy') return false
  const { reason } = classifyReply({
    stage: replyCode === null ? 'late' : 'message',
    reply: { code: replyCode ?? 0, enhancedCode, text: replyText ?? '' },
    ...(host === null ? {} : { mxHost: host }),
  })
  return JUDGEMENTS.includes(reason)
}
