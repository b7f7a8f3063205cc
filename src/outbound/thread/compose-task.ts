/** In a delivery thread: the message of a task, ready to be sent, or the result of a task without one. */
import type { Now } from '../../base/clock.ts'
import { describeError } from '../../base/errors.ts'
import { QuickLimitError } from '../../formats/compose/quick-limit-error.ts'
import type { AttemptOutcome } from '../attempt.ts'
import type { ComposedBytes } from '../composing/composer.ts'
import { SMALL_CONTENT_BYTES } from '../composing/contents.ts'
import { localOutcome } from '../outcomes.ts'
import type { ComposedMessage, TaskResult, ThreadTask } from '../protocol.ts'
import type { Envelope } from '../smtp/commands.ts'

export type ComposeDeps = {
  /** @throws QuickLimitError; any other error is a fault of this program */
  compose(task: ThreadTask): ComposedMessage
  contentBytes(task: ThreadTask): number
  /** Of the messages that are composed and not sent. */
  composedBytes: ComposedBytes
  now: Now
}

/** Its bytes count until `composedBytes.release`. */
export type ReadyMessage = { composed: ComposedMessage; envelope: Envelope }

/** Returns a result if the message cannot be composed here. */
export function composeTask(deps: ComposeDeps, task: ThreadTask): ReadyMessage | TaskResult {
  const beganAt = deps.now()
  try {
    const composed = deps.compose(task)
    deps.composedBytes.add(composed.octets.length)
    return { composed, envelope: envelopeOf(task, composed) }
  } catch (error) {
    if (error instanceof QuickLimitError) return { task: task.task, kind: 'heavy' }
    const outcome = ownFailure(describeError(error), deps.now() - beganAt)
    const unsent = { subject: null, faults: [], brokenTls: null }
    return { task: task.task, kind: 'attempted', outcome, startedAt: beganAt, ...unsent }
  }
}

/** Whether the message takes little memory, so that it may wait for its turn. */
export function isSmallTask({ contentBytes }: ComposeDeps, task: ThreadTask): boolean {
  return 'source' in task.making && contentBytes(task) <= SMALL_CONTENT_BYTES
}

export function isReady(made: ReadyMessage | TaskResult): made is ReadyMessage {
  return 'composed' in made
}

export function ownFailure(error: string, durationMs: number): AttemptOutcome {
  return { ...localOutcome({ result: 'failed', verdict: null, error }), durationMs }
}

function envelopeOf(
  { recipient, reversePath }: ThreadTask,
  { needsSmtputf8 }: ComposedMessage,
): Envelope {
  const isWide = needsSmtputf8 || hasUtf8(recipient) || hasUtf8(reversePath)
  return { reversePath, recipient, needsSmtputf8: isWide }
}

function hasUtf8(path: string): boolean {
  return /[^\x00-\x7f]/.test(path)
}
