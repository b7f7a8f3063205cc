/**
 * A delivery thread: renders, composes, signs and speaks SMTP, as the main thread asks
 * (`protocol.ts`). What takes long to make comes to it ready made, or goes back to be made elsewhere. It runs at a lower priority where the system has one for threads, so that a
 * flood of mail does not slow the API. It ends when told to stop: what has not begun goes back at
 * once, what is in hand gets its time, then its connections are cut and say how far they came.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { now } from '../../clock.ts'
import { describeError } from '../../errors.ts'
import { QUICK_LIMITS } from '../../mail/template/limits.ts'
import { createComposer } from '../composing/composer.ts'
import { lowerPriority } from '../composing/low-priority.ts'
import type { FromThread, ThreadResult, ThreadSettings, ToThread } from '../protocol.ts'
import { findLocalFamilies } from '../routing/addresses.ts'
import { createConnectionPools } from './connection-pools.ts'
import { createConnector } from './connector.ts'
import { createHeldBytes } from './held-bytes.ts'
import { createResultBatches } from './result-batches.ts'
import { tryTask } from './try-task.ts'

const MAX_HELD_BYTES = 64 * 1024 * 1024

function main(settings: ThreadSettings): void {
  const port = parentPort
  if (port === null) throw new TypeError('delivery-thread.ts runs as a worker thread only')
  const post = (message: FromThread) => port.postMessage(message)
  lowerPriority()
  const { slot, tracker } = settings
  const composer = createComposer({ slot, tracker, limits: QUICK_LIMITS, now })
  const connector = createConnector(settings, (site) => pools.hear(site))
  const reporter = createResultBatches(settings.taken, (results: ThreadResult[]) =>
    post({ type: 'results', results }),
  )
  const deps = {
    make: composer.make,
    contentBytes: composer.contentBytes,
    held: createHeldBytes(MAX_HELD_BYTES),
    open: connector.open,
    send: connector.send,
    findFamilies: findLocalFamilies,
    now,
    random: Math.random,
  }
  const pools = createConnectionPools({
    tryTask: (input) => tryTask(deps, input),
    report: (result) => reporter.add(connector.isCut() ? afterCut(result) : result),
    allocated: (site, connections) => post({ type: 'allocated', site, connections }),
    greeted: (site) => post({ type: 'greeted', site }),
    warn: (text) => post({ type: 'warning', text }),
    now,
  })
  const { idleMs } = settings
  const idleTimer = setInterval(() => pools.closeIdle(idleMs), Math.max(10, idleMs / 4))

  async function stop(graceMs: number): Promise<void> {
    clearInterval(idleTimer)
    pools.recall()
    pools.closeIdle(0)
    await Promise.race([pools.settle(), sleep(graceMs)])
    connector.cut()
    // What was cut reports in the turn after this one.
    await sleep(0)
    reporter.flush()
    post({ type: 'stopped' })
  }

  port.on('message', (message: ToThread) => {
    switch (message.type) {
      case 'work':
        for (const { id, content } of message.contents) composer.addContent(id, content)
        for (const { id, key } of message.keys) composer.addKey(id, key)
        for (const pool of message.pools) pools.setPool(pool)
        for (const task of message.tasks) pools.add(task)
        return pools.start()
      case 'allocate':
        return pools.grant(message.site, message.connections)
      case 'cut':
        return connector.cutSilent(message.site)
      case 'recall':
        return pools.recall(message.site)
      case 'forget':
        for (const id of message.contents) composer.forgetContent(id)
        for (const id of message.keys) composer.forgetKey(id)
        return
      case 'set aside':
        return composer.setAside(message.content)
      case 'progress': {
        const { question, task } = message
        return post({ type: 'progress', question, current: pools.progressOf(task) ?? null })
      }
      case 'stop':
        stop(message.graceMs).catch((error: unknown) =>
          post({ type: 'warning', text: describeError(error) }),
        )
    }
  })

  post({ type: 'started' })
}

/** What the cut left undecided was no attempt of the receiver's making. */
function afterCut(result: ThreadResult): ThreadResult {
  if (result.kind !== 'attempted') return result
  const { outcome, task } = result
  const isDecided = outcome.result !== 'deferred' || outcome.reply !== null
  return isDecided || outcome.isMaybeDelivered ? result : { task, kind: 'put back' }
}

main(workerData)
