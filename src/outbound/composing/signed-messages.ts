/** Single messages are composed and signed for reading in a composing thread, as delivery does it. */
import type { MessageSource } from '../../formats/compose/build-message.ts'
import type { SigningKey } from '../../formats/compose/dkim.ts'
import { extraMs } from './contents.ts'
import type { ThreadTasks } from './thread-tasks.ts'

/** Without keys the message is not signed. */
export type UnsignedMessage = { source: MessageSource; keys: readonly SigningKey[] }

/**
 * Returns the octets of the message; null if it cannot be composed. A message whose templates end the
 * thread is composed without running them. Rejects as `ThreadTasks.run`.
 */
export async function signInThread(
  tasks: Pick<ThreadTasks, 'run'>,
  message: UnsignedMessage,
): Promise<Uint8Array | null> {
  const first = await sign(tasks, message)
  if (first !== undefined) return first.result
  const plain = { ...message, source: { ...message.source, isPlain: true } }
  return (await sign(tasks, plain))?.result ?? null
}

function sign({ run }: Pick<ThreadTasks, 'run'>, message: UnsignedMessage) {
  return run<Uint8Array | null>({
    ask: (task) => ({ type: 'sign', task, ...message }),
    read(answer) {
      if (answer.type === 'not composed') return { result: null }
      return answer.type === 'composed' ? { result: answer.composed.octets } : undefined
    },
    extraMs: extraMs(message.source.content),
  })
}
