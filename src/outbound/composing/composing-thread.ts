/**
 * A composing thread: composes and signs messages that take long, renders previews, checks long
 * templates, and turns Markdown to HTML, as the main thread asks (`protocol.ts`). It has no sockets, so no mail waits for it or is
 * lost with it. The main thread gives it one task at a time, and ends it if the task takes too long or
 * too much memory.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { now } from '../../base/clock.ts'
import { describeError } from '../../base/errors.ts'
import { FULL_LIMITS } from '../../formats/template/limits.ts'
import { lowerPriority } from '../../threads/low-priority.ts'
import type {
  ComposedMessage,
  FromThread,
  ThreadSettings,
  ToThread,
  TransferableMessage,
} from '../protocol.ts'
import { createComposer } from './composer.ts'

function main({ slot, tracker }: ThreadSettings): void {
  const port = parentPort
  if (port === null) throw new TypeError('composing-thread.ts runs as a worker thread only')
  lowerPriority()
  const composer = createComposer({ slot, tracker, limits: FULL_LIMITS, now })

  function post(message: FromThread, transfer: readonly ArrayBuffer[] = []): void {
    port?.postMessage(message, transfer)
  }

  function make(task: number, compose: () => ComposedMessage): void {
    const began = process.threadCpuUsage()
    try {
      const composed = toBytes(compose())
      const { user, system } = process.threadCpuUsage(began)
      const cpuMs = (user + system) / 1_000
      post({ type: 'composed', task, composed, cpuMs }, [composed.octets.buffer])
    } catch (error) {
      post({ type: 'not composed', task, error: describeError(error) })
    }
  }

  function preview({ task, sources, rules }: Extract<ToThread, { type: 'preview' }>): void {
    const options = { isQuick: sources.length > 1, rules }
    try {
      const messages = sources.map((source) => composer.preview(task, source, options))
      post({ type: 'previewed', task, messages })
    } catch (error) {
      post({ type: 'preview failed', task, error: describeError(error) })
    }
  }

  function check({ task, source }: Extract<ToThread, { type: 'check' }>): void {
    try {
      post({ type: 'checked', task, fault: composer.check(task, source) })
    } catch (error) {
      post({ type: 'not checked', task, error: describeError(error) })
    }
  }

  function convert({ task, source }: Extract<ToThread, { type: 'convert' }>): void {
    try {
      post({ type: 'converted', task, html: composer.convert(task, source) })
    } catch (error) {
      post({ type: 'not converted', task, error: describeError(error) })
    }
  }

  function render({ task, source }: Extract<ToThread, { type: 'render' }>): void {
    try {
      post({ type: 'rendered', task, texts: composer.renderTexts(task, source) })
    } catch (error) {
      post({ type: 'not rendered', task, error: describeError(error) })
    }
  }

  port.on('message', (message: ToThread) => {
    switch (message.type) {
      case 'work':
        for (const { id, content } of message.contents) composer.addContent(id, content)
        for (const { id, key } of message.keys) composer.addKey(id, key)
        for (const task of message.tasks) make(task.task, () => composer.compose(task))
        return composer.forget(message.forgotten)
      case 'preview':
        return preview(message)
      case 'sign':
        return make(message.task, () => composer.sign(message))
      case 'check':
        return check(message)
      case 'convert':
        return convert(message)
      case 'render':
        return render(message)
      case 'stop':
        return post({ type: 'stopped' })
    }
  })
  post({ type: 'started' })
}

/** Copies the message into memory of its own, which can be transferred to another thread. */
function toBytes({ octets, ...rest }: ComposedMessage): TransferableMessage {
  const bytes = new Uint8Array(octets.length)
  Buffer.from(bytes.buffer).write(octets, 'latin1')
  return { ...rest, octets: bytes }
}

main(workerData)
