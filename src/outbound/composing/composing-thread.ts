/**
 * A composing thread: makes and signs messages that take long, renders what people look at, and
 * checks long templates, as the main thread asks (`protocol.ts`). It has no sockets, so that nobody's
 * mail waits for it or is lost with it. The main thread gives it one thing at a time and ends it when that takes too long or
 * too much memory.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { now } from '../../clock.ts'
import { describeError } from '../../errors.ts'
import { FULL_LIMITS } from '../../mail/template/limits.ts'
import type { FromThread, MadeLetter, ThreadSettings, ThreadTask, ToThread } from '../protocol.ts'
import { createLetters, type Letter } from './composer.ts'
import { lowerPriority } from './low-priority.ts'

function main({ slot, tracker }: ThreadSettings): void {
  const port = parentPort
  if (port === null) throw new TypeError('composing-thread.ts runs as a worker thread only')
  lowerPriority()
  const letters = createLetters({ slot, tracker, limits: FULL_LIMITS, now })

  function post(message: FromThread, transfer: readonly ArrayBuffer[] = []): void {
    port?.postMessage(message, transfer)
  }

  function make(task: ThreadTask): void {
    const began = process.threadCpuUsage()
    try {
      const letter = toBytes(letters.make(task))
      const { user, system } = process.threadCpuUsage(began)
      const cpuMs = (user + system) / 1_000
      post({ type: 'made', task: task.task, letter, cpuMs }, [letter.octets.buffer])
    } catch (error) {
      post({ type: 'not made', task: task.task, error: describeError(error) })
    }
  }

  function look({ task, sources }: Extract<ToThread, { type: 'look' }>): void {
    const isQuick = sources.length > 1
    try {
      const messages = sources.map((source) => letters.look(task, source, isQuick))
      post({ type: 'looked', task, messages })
    } catch (error) {
      post({ type: 'look failed', task, error: describeError(error) })
    }
  }

  function check({ task, source }: Extract<ToThread, { type: 'check' }>): void {
    try {
      post({ type: 'checked', task, fault: letters.check(task, source) })
    } catch (error) {
      post({ type: 'not checked', task, error: describeError(error) })
    }
  }

  port.on('message', (message: ToThread) => {
    switch (message.type) {
      case 'work':
        for (const { id, content } of message.contents) letters.addContent(id, content)
        for (const key of message.keys) letters.addKey(key)
        for (const task of message.tasks) make(task)
        return
      case 'forget':
        for (const id of message.contents) letters.forgetContent(id)
        for (const id of message.keys) letters.forgetKey(id)
        return
      case 'look':
        return look(message)
      case 'check':
        return check(message)
      case 'stop':
        return post({ type: 'stopped' })
    }
  })
  post({ type: 'started' })
}

/** In memory of its own, which can be handed to another thread. */
function toBytes({ octets, ...rest }: Letter): MadeLetter {
  const bytes = new Uint8Array(octets.length)
  Buffer.from(bytes.buffer).write(octets, 'latin1')
  return { ...rest, octets: bytes }
}

main(workerData)
