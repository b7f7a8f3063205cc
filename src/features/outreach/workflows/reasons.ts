/**
 * Why executions ended early, and why steps failed or were skipped: the words that the tables store, and the codes that
 * the API shows beside them.
 */
import { type Reason, reasonOf } from '../../../records/reason.ts'
import type { ExecutionReasonCode } from '../../../records/reason-codes.ts'
import { EXIT_REASONS } from './exit-reasons.ts'

/** The reason of an EXIT step that names none. */
export const UNNAMED_EXIT = 'exit_step'

/** The errors of steps, by code. */
export const STEP_ERRORS = {
  step_without_template: 'the step has no template',
  step_without_recipient: 'the step has no recipient',
  step_templates_too_heavy: 'the templates take too much time or memory to render',
  project_disabled: 'the project is disabled',
  step_wait_lost: 'the wait is lost',
  step_internal_error: 'internal error',
} as const satisfies Partial<Record<ExecutionReasonCode, string>>

const EXIT_CODES = {
  cancelled: 'cancelled_by_user',
  allCancelled: 'all_cancelled_by_user',
  projectDisabled: 'project_disabled',
  stepRemoved: 'step_removed',
  tooManyStarts: 'too_many_starts',
  chainTooDeep: 'chain_too_deep',
  workflowDisabled: 'workflow_disabled',
} as const satisfies Record<keyof typeof EXIT_REASONS, ExecutionReasonCode>

const SUPPRESSED = ' is suppressed'
const OWNER_OF = 'the owner of '
const UNSUBSCRIBED = ' has unsubscribed'
const ANSWERS_SPENT =
  /^the sender has had (?:an answer|(\d{1,9}) answers) within 24 hours \(answersPerDay\)$/

export function suppressedRecipient(address: string): string {
  return `${address}${SUPPRESSED}`
}

export function unsubscribedRecipient(address: string): string {
  return `${OWNER_OF}${address}${UNSUBSCRIBED}`
}

export function answersSpent(perDay: number): string {
  const answers = perDay === 1 ? 'an answer' : `${perDay} answers`
  return `the sender has had ${answers} within 24 hours (answersPerDay)`
}

/** Returns the code of an execution's `exitReason`, with its values; null without one. */
export function reasonOfExit({
  status,
  exitReason,
}: {
  status: unknown
  exitReason: unknown
}): Reason<ExecutionReasonCode> | null {
  if (typeof exitReason !== 'string') return null
  const known = Object.entries(EXIT_REASONS).find(([, text]) => text === exitReason)
  // The author of an EXIT step may have chosen the same words.
  if (known === undefined || status === 'EXITED') {
    return reasonOf('exit_step', { text: exitReason === UNNAMED_EXIT ? null : exitReason })
  }
  return reasonOf(EXIT_CODES[known[0] as keyof typeof EXIT_CODES], {})
}

/** Returns the code of a step's `error`, with its values; null without one. */
export function reasonOfStep(error: string | null): Reason<ExecutionReasonCode> | null {
  if (error === null) return null
  const known = Object.entries(STEP_ERRORS).find(([, text]) => text === error)
  if (known !== undefined) return reasonOf(known[0] as keyof typeof STEP_ERRORS, {})
  if (error.startsWith(OWNER_OF) && error.endsWith(UNSUBSCRIBED)) {
    const recipient = error.slice(OWNER_OF.length, -UNSUBSCRIBED.length)
    return reasonOf('step_recipient_unsubscribed', { recipient })
  }
  if (error.endsWith(SUPPRESSED)) {
    const recipient = error.slice(0, -SUPPRESSED.length)
    return reasonOf('step_recipient_suppressed', { recipient })
  }
  const [spent, answers = '1'] = ANSWERS_SPENT.exec(error) ?? []
  if (spent !== undefined) {
    return reasonOf('step_answers_spent', { answersPerDay: Number(answers) })
  }
  return reasonOf('step_failed', { error })
}
