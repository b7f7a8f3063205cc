/** Single messages are composed and signed for reading in a composing thread, as delivery does it. */
import type { MessageSource } from '../../mail/compose/build-message.ts'
import type { SigningKey } from '../../mail/compose/dkim.ts'
import { extraMs } from './contents.ts'
import { createSingleTasks, type SingleTasksDeps } from './single-tasks.ts'

/** Without keys the message is not signed. */
export type UnsignedMessage = { source: MessageSource; keys: readonly SigningKey[] }

type SignedMessages = {
  /**
   * Returns the octets of the message; null if it cannot be composed. A message whose templates end
   * the thread is composed without running them. Rejects while shutting down.
   */
  sign(message: UnsignedMessage): Promise<Uint8Array | null>
  stop(): Promise<void>
}

export function createSignedMessages(deps: SingleTasksDeps): SignedMessages {
  const tasks = createSingleTasks<UnsignedMessage, Uint8Array | null>(deps, {
    ask: (task, message) => ({ type: 'sign', task, ...message }),
    read(message) {
      if (message.type === 'not composed') return { result: null }
      return message.type === 'composed' ? { result: message.composed.octets } : undefined
    },
    extraMs: ({ source }) => extraMs(source.content),
  })
  return {
    async sign(message) {
      const first = await tasks.run(message)
      if (first !== undefined) return first.result
      const plain = { ...message, source: { ...message.source, isPlain: true } }
      return (await tasks.run(plain))?.result ?? null
    },
    stop: tasks.stop,
  }
}
