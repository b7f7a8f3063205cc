/**
 * A delivery thread: renders, composes, signs and sends messages for the main thread
 * (`protocol.ts`). Messages that take long to compose arrive already composed, or are returned for
 * another thread to compose. The thread has a lower priority on Linux, so that a flood of mail does
 * not slow the API. On `stop` it puts back tasks whose message is not being written, waits within the
 * grace period for the replies to the others, then closes its connections; the outcomes of those tasks
 * show how far they got.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { now } from '../../base/clock.ts'
import { describeError } from '../../base/errors.ts'
import { QUICK_LIMITS } from '../../formats/template/limits.ts'
import { lowerPriority } from '../../threads/low-priority.ts'
import { createComposedBytes, createComposer } from '../composing/composer.ts'
import type { PackedMessage, TaskResult, ThreadSettings, ToThread } from '../protocol.ts'
import { createFamilyFinder } from '../routing/addresses.ts'
import { createResultBatches, packResults } from '../thread-messages.ts'
import { composeTask, isSmallTask } from './begun-tasks.ts'
import { createConnectionPools } from './connection-pools.ts'
import { createConnector } from './connector.ts'
import { tryTask } from './try-task.ts'

const MAX_COMPOSED_BYTES = 64 * 1024 * 1024

function main(settings: ThreadSettings): void {
  const port = parentPort
  if (port === null) throw new TypeError('delivery-thread.ts runs as a worker thread only')
  const post = (message: PackedMessage) => port.postMessage(message)
  lowerPriority()
  const { slot, tracker } = settings
  let isCut = false
  const composer = createComposer({ slot, tracker, limits: QUICK_LIMITS, now })
  const connector = createConnector(settings, (site) => pools.greeted(site))
  const results = createResultBatches({
    accepted: settings.accepted,
    post: (batch) => post({ type: 'results', packed: packResults(batch) }),
    now,
  })
  const tryDeps = {
    compose: composer.compose,
    contentBytes: composer.contentBytes,
    composedBytes: createComposedBytes(MAX_COMPOSED_BYTES),
    open: connector.open,
    findFamilies: createFamilyFinder(now),
    now,
    random: Math.random,
  }
  const pools = createConnectionPools({
    tryTask: tryTask.bind(null, tryDeps),
    composeNext: (task) => (isSmallTask(tryDeps, task) ? composeTask(tryDeps, task) : null),
    discard: ({ composed }) => tryDeps.composedBytes.release(composed.octets.length),
    finished: (result) => results.add(isCut ? afterCut(result) : result),
    allocated: (site, connections) => post({ type: 'allocated', site, connections }),
    greeted: (site) => post({ type: 'greeted', site }),
    warn: (text) => post({ type: 'warning', text }),
    now,
  })
  const { idleMs } = settings
  const idleTimer = setInterval(() => pools.closeIdle(idleMs), Math.max(10, idleMs / 4))

  async function stop(graceMs: number): Promise<void> {
    clearInterval(idleTimer)
    const finished = pools.finish()
    pools.closeIdle(0)
    await Promise.race([finished, sleep(graceMs)])
    isCut = true
    connector.cut()
    // The results of closed sessions come in the next turn of the event loop.
    await sleep(0)
    results.flush()
    post({ type: 'stopped' })
  }

  port.on('message', (message: ToThread) => {
    switch (message.type) {
      case 'work':
        for (const { id, content } of message.contents) composer.addContent(id, content)
        for (const { id, key } of message.keys) composer.addKey(id, key)
        for (const pool of message.pools) pools.setPool(pool)
        for (const task of message.tasks) pools.add(task)
        composer.forget(message.forgotten)
        return pools.start()
      case 'allocate':
        return pools.allocate(message.site, message.connections)
      case 'release':
        return pools.release(message.site)
      case 'cut':
        return connector.cutSilent(message.site)
      case 'recall':
        return pools.recall(message.site)
      case 'withdraw':
        return pools.withdraw(new Set(message.tasks))
      case 'set aside':
        return composer.setAside(message.content)
      case 'progress': {
        const { query, task } = message
        return post({ type: 'progress', query, current: pools.progressOf(task) ?? null })
      }
      case 'stop':
        stop(message.graceMs).catch((error: unknown) =>
          post({ type: 'warning', text: describeError(error) }),
        )
    }
  })

  post({ type: 'started' })
}

/** Puts a task back if this thread closed its connection before the receiver had decided. */
function afterCut(result: TaskResult): TaskResult {
  if (result.kind !== 'attempted') return result
  const { outcome, task } = result
  const isDecided = outcome.result !== 'deferred' || outcome.reply !== null
  return isDecided || outcome.isMaybeDelivered ? result : { task, kind: 'put back' }
}

main(workerData)
