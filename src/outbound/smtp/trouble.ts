/** Why a session could not be opened, and the outcome of the attempt that needed it. */
import { classifyLocally } from '../../formats/replies/classify-reply.ts'
import type { Reply } from '../../formats/replies/reply.ts'
import type { AttemptOutcome, StepName } from '../attempt.ts'
import {
  type AttemptContext,
  outcomeOfFailure,
  outcomeOfRefusal,
  outcomeOfReply,
} from '../outcomes.ts'
import { invalidReplyError } from './envelope-end.ts'
import type { ReplyResult } from './wire.ts'

export type Trouble =
  | { kind: 'reply'; step: Exclude<StepName, 'dns'>; reply: Reply }
  | { kind: 'failure'; error: string; isTls?: boolean; isCut?: boolean }
  | { kind: 'loop'; reply: Reply }

/** Returns null for a reply with which the session goes on. */
export function refusalOf(
  step: Exclude<StepName, 'dns'>,
  { reply, failure }: ReplyResult,
): Trouble | null {
  if (failure !== null) {
    return { kind: 'failure', error: failure.text, isCut: failure.kind === 'cut' }
  }
  if (reply.code < 300) return null
  if (reply.code < 400) return { kind: 'failure', error: invalidReplyError(reply, step) }
  return { kind: 'reply', step, reply: reply.stored }
}

export function outcomeOfTrouble(context: AttemptContext, trouble: Trouble): AttemptOutcome {
  switch (trouble.kind) {
    case 'reply':
      return outcomeOfReply(context, { stage: trouble.step, reply: trouble.reply })
    case 'failure':
      return outcomeOfFailure(context, trouble)
    case 'loop':
      return outcomeOfRefusal(context, {
        result: 'failed',
        verdict: classifyLocally('loop'),
        error: '5.4.6 the mail would loop: the server has the name of this server',
        reply: trouble.reply,
      })
  }
}
