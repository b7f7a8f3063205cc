/** Keeps the steps of an attempt: what was asked, how long the answer took, what it was. */
import type { Now } from '../../clock.ts'
import type { Reply } from '../../mail/replies.ts'
import type { Step, StepName } from '../attempt.ts'
import { formatReply, type RawReply } from './reply-parser.ts'
import type { Answer, WireFailure } from './wire.ts'

export type StepAnswer =
  | { reply: Reply; raw: RawReply; failure: null }
  | { reply: null; raw: null; failure: WireFailure }

export type StepLog = {
  readonly steps: Step[]
  /** Waits for an answer and notes it under the step's name. */
  wait(step: StepName, answer: Promise<Answer>): Promise<StepAnswer>
  /** Notes a step without a reply; `since` as `now()` gave it. */
  note(step: Omit<Step, 'at' | 'durationMs'>, since: number): void
  elapsedMs(): number
}

/** `beganAt`: when the attempt began, epoch milliseconds. */
export function createStepLog(now: Now, beganAt: number): StepLog {
  const steps: Step[] = []

  function note(step: Omit<Step, 'at' | 'durationMs'>, since: number): void {
    steps.push({ ...step, at: since - beganAt, durationMs: now() - since })
  }

  async function wait(step: StepName, answer: Promise<Answer>): Promise<StepAnswer> {
    const since = now()
    const { reply: raw, failure } = await answer
    if (raw === null) {
      note({ step, error: failure.text }, since)
      return { reply: null, raw: null, failure }
    }
    const reply = formatReply(raw)
    note({ step, reply }, since)
    return { reply, raw, failure: null }
  }

  return { steps, wait, note, elapsedMs: () => now() - beganAt }
}
