/**
 * Keeps the steps of an attempt: what was asked, how long the answer took, what it was; and which
 * step is at hand, for whoever asks while it lasts.
 */
import type { Now } from '../../clock.ts'
import type { Step, StepName } from '../attempt.ts'
import type { CurrentStep } from '../thread/progress.ts'
import type { Answer } from './wire.ts'

export type StepLog = {
  readonly steps: Step[]
  /** The step that is waited for from now on, or since then. */
  begin(step: CurrentStep['step'], since?: number): void
  /** Notes an answer under the step's name; `since`: when it was first waited for. */
  hear(step: StepName, answer: Answer, since: number): void
  /** Notes a step without a reply; `since` as `now()` gave it. */
  note(step: Omit<Step, 'at' | 'durationMs'>, since: number): void
  elapsedMs(): number
}

/** `beganAt`: when the attempt began, epoch milliseconds. `current` is kept up to date. */
export function createStepLog(now: Now, beganAt: number, current?: CurrentStep): StepLog {
  const steps: Step[] = []
  return {
    steps,
    begin(step, since = now()) {
      if (current === undefined) return
      current.step = step
      current.since = since
    },
    hear(step, { reply, failure, at: heardAt }, since) {
      const [at, durationMs] = [since - beganAt, heardAt - since]
      if (reply === null) steps.push({ step, error: failure.text, at, durationMs })
      else steps.push({ step, reply: reply.kept, at, durationMs })
    },
    note(step, since) {
      steps.push({ ...step, at: since - beganAt, durationMs: now() - since })
    },
    elapsedMs: () => now() - beganAt,
  }
}
