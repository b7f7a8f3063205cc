/**
 * Processes received messages. A message that was accepted a moment ago is parsed from memory, if
 * no other message of its kind waits. Waiting messages are read from the database, some of the
 * oldest ones of each project at a time. When a transaction begins, it applies the parsed messages,
 * as many as it has time for.
 *
 * A row stays pending until its effects are on disk, so a crash loses none. A message that may have
 * ended its reader thread, or the whole process, is parsed alone, so that only its own failures
 * count as its attempts (`suspects.ts`). Reports, mail to mailboxes and messages that are parsed
 * alone do not wait for each other, and projects take turns: mail whose senders' name servers do
 * not answer takes seconds each.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { describeError } from '../../../../base/errors.ts'
import type { PendingKind } from '../../../../store/schema/words.ts'
import { createGatherer } from '../../../../store/write/gatherer.ts'
import { retryWhileUnwritable } from '../../../../store/write/writability.ts'
import { type LoopRun, runEvery, startLoop } from '../../../../work/loop.ts'
import type { Base } from '../../../ground/base.ts'
import { discardChunks } from '../../../ground/chunks.ts'
import type { InboundNotice } from '../../../ground/inbound-notice.ts'
import { applyMessages } from './apply-message.ts'
import type { ApplyDeps, ReceivedMessage } from './effect.ts'
import {
  createInProgress,
  createLineWalks,
  MAX_IN_PROGRESS,
  MAX_IN_PROGRESS_OF_LINE,
  PENDING_KINDS,
  type PendingMessage,
} from './lines.ts'
import { type MessageReader, ReaderLost } from './parsed-message.ts'
import { failPending, findRaw } from './pending.ts'
import {
  endParsing,
  findNextSuspect,
  findReasonToFail,
  markAsSuspect,
  remainingWaitMs,
  startAlone,
  startParsing,
} from './suspects.ts'

export type Processing = {
  /** Resolves when all messages that were accepted so far have ended. */
  idle(): Promise<void>
  /**
   * Resolves when the effects of parsed messages are on disk. Messages that are still being parsed
   * stay pending.
   */
  stop(): Promise<void>
}

type ProcessDeps = ApplyDeps & Pick<Base, 'store' | 'inboundNotifier'>

/**
 * The most messages of a list that is complete. A longer list may lack waiting messages; in such a
 * short one, no line has used up its share.
 */
const MAX_WHOLE_LIST = 15
/** The weight of a message in a transaction: applying a message takes as long as two inserts. */
const WEIGHT = 2
const BYTES_PER_WEIGHT = 32 * 1024
const RETRY_MS = 1_000
const POLL_MS = 30_000

export async function startProcessing(
  deps: ProcessDeps,
  reader: MessageReader,
): Promise<Processing> {
  await tryToRecord(deps, () => startParsing(deps, MAX_IN_PROGRESS_OF_LINE))
  const inProgress = createInProgress()
  /**
   * The kinds that may have waiting messages that are not in progress. `listed`: the running poll
   * begins all of these, unless another message comes meanwhile.
   */
  const behind = new Map<PendingKind, 'unlisted' | 'listed'>()
  let maySuspectsWait = true
  /** The work that `stop` waits for. */
  const underWay = new Set<Promise<unknown>>()
  const walks = createLineWalks(deps)
  const apply = createGatherer<ReceivedMessage, undefined>(deps.store, {
    together: (tx, messages) => applyMessages(deps, tx, messages),
    alone: async (tx, message) => (await applyMessages(deps, tx, [message]))[0],
    weigh: ({ row }) => WEIGHT + row.sizeBytes / BYTES_PER_WEIGHT,
  })
  let idleWaiters: (() => void)[] = []
  let aloneId: string | undefined
  let isStopped = false
  const stopping = new AbortController()
  /** Waits before another try. Ends early when the processing stops. */
  const pause = () => sleep(RETRY_MS, undefined, { signal: stopping.signal }).catch(() => undefined)

  function pollForAll(): void {
    for (const kind of PENDING_KINDS) behind.set(kind, 'unlisted')
    maySuspectsWait = true
    loop.wake()
  }

  async function poll({ isWoken }: LoopRun): Promise<void> {
    try {
      const waiting = await listWaiting()
      const isIdle = waiting.length === 0 && inProgress.isEmpty() && !isWoken()
      if (isIdle) for (const resolve of idleWaiters.splice(0)) resolve()
      const fullKinds = new Set<PendingKind>()
      for (const row of waiting) if (!isStopped) await start(row, fullKinds)
      for (const [kind, state] of behind) if (state === 'listed') behind.delete(kind)
    } catch (error) {
      deps.log.error({ error: describeError(error) }, 'inbound mail could not be listed')
      await pause()
      pollForAll()
    }
  }

  async function listWaiting(): Promise<PendingMessage[]> {
    maySuspectsWait = false
    const next = await findNextSuspect(deps)
    if (next !== undefined) maySuspectsWait = true
    const waiting = next === undefined ? [] : [next]
    for (const kind of PENDING_KINDS) {
      if (!mustList(kind)) continue
      behind.set(kind, 'listed')
      const window = { kind, limit: MAX_IN_PROGRESS, ofLine: MAX_IN_PROGRESS_OF_LINE }
      const found = await walks.list(window)
      if (found.length > MAX_WHOLE_LIST) behind.set(kind, 'unlisted')
      waiting.push(...found)
    }
    return waiting
  }

  function mustList(kind: PendingKind): boolean {
    return behind.get(kind) === 'unlisted' && inProgress.isLow(kind)
  }

  /**
   * Begins a message, unless its kind has no place left. `fullKinds`: the kinds for which a message
   * of the list found no place; later messages of these kinds wait too, even if they are small.
   */
  async function start(row: PendingMessage, fullKinds: Set<PendingKind>): Promise<void> {
    const { id, isSuspect, pendingKind } = row
    if (inProgress.has(id) || (isSuspect && aloneId !== undefined)) return
    if (!isSuspect && fullKinds.has(pendingKind)) return
    if (!isSuspect && !inProgress.hasCapacityFor(row)) {
      fullKinds.add(pendingKind)
      behind.set(pendingKind, 'unlisted')
      return walks.leave(row)
    }
    const error = findReasonToFail(row)
    if (error !== undefined) {
      deps.log.error(
        { inboundId: id, reason: error },
        'inbound mail that cannot be parsed is set aside for the operator',
      )
      await failPending(deps, { id, error })
      loop.wake()
      return
    }
    const waitMs = remainingWaitMs(row, deps.now())
    if (waitMs > 0) return loop.wakeWithin(waitMs)
    begin(row, null)
  }

  /**
   * Takes a notice. A message that was just accepted begins at once if no other one of its kind
   * waits; otherwise a later list brings it.
   */
  function hear(notice: InboundNotice): void {
    if (notice === 'changed') pollForAll()
    else if (mayBegin(notice.row)) begin(notice.row, notice.raw)
    else {
      behind.set(notice.row.pendingKind, 'unlisted')
      pollIfDue()
    }
  }

  function mayBegin(row: PendingMessage): boolean {
    const isNext = !behind.has(row.pendingKind) && !isStopped
    return isNext && inProgress.hasCapacityFor(row) && inProgress.hasShareFor(row)
  }

  /** Parses a message. `raw`: its octets; null if they must be read from the database. */
  function begin(row: PendingMessage, raw: Buffer | null): void {
    inProgress.add(row)
    if (row.isSuspect) aloneId = row.id
    void parse(row, raw).catch((error) => handleFault(row, error))
  }

  async function parse(row: PendingMessage, given: Buffer | null): Promise<void> {
    const isAlone = row.isSuspect
    if (isAlone) await keepTrying(() => startAlone(deps, row.id))
    const raw = given ?? (await findRaw(deps, row))
    if (raw === null) {
      await failPending(deps, { id: row.id, error: 'its text has been deleted' })
      return release(row)
    }
    const { reversePath, clientAddress, clientName } = row
    const message = {
      raw,
      reversePath,
      clientAddress,
      clientName,
      isMail: row.pendingKind === 'mail',
    }
    const parsed = await reader.read(message, { isAlone })
    const write = () => apply({ row, parsed }, () => Promise.resolve())
    await finishBeforeStop(keepTrying(write))
    release(row)
    // The octets of a report are deleted once the report is applied.
    if (row.rawChunks > 0) void finishBeforeStop(discardChunks(deps.store, row.id))
  }

  /** Marks a message that failed as a suspect, so that from now on it is parsed alone. */
  async function handleFault(row: PendingMessage, error: unknown): Promise<void> {
    if (isStopped) return
    deps.log.error(
      { inboundId: row.id, error: describeError(error) },
      'inbound mail was not processed',
    )
    const isAttempt = row.isSuspect || !(error instanceof ReaderLost)
    try {
      await keepTrying(() => markAsSuspect(deps, { id: row.id, isAttempt }))
      maySuspectsWait = true
      release(row)
    } catch (failure) {
      const facts = { inboundId: row.id, error: describeError(failure) }
      deps.log.error(facts, 'inbound mail is left until the next start')
    }
  }

  async function finishBeforeStop(action: Promise<unknown>): Promise<void> {
    underWay.add(action)
    try {
      await action
    } finally {
      underWay.delete(action)
    }
  }

  function keepTrying(action: () => Promise<unknown>): Promise<void> {
    return retryWhileUnwritable(action, async () => {
      if (isStopped) return false
      await pause()
      return true
    })
  }

  function release(row: PendingMessage): void {
    inProgress.delete(row)
    if (aloneId === row.id) aloneId = undefined
    pollIfDue()
  }

  /**
   * Polls if messages may wait, and few of their kind are in progress. `release` calls this again.
   */
  function pollIfDue(): void {
    const isBehind = PENDING_KINDS.some(mustList)
    const mayBeIdle = idleWaiters.length > 0 && inProgress.isEmpty()
    if (isBehind || maySuspectsWait || mayBeIdle) loop.wake()
  }

  const unlisten = deps.inboundNotifier.listen(hear)
  const loop = startLoop({ run: poll, firstWaitMs: Number.POSITIVE_INFINITY, keepsAlive: false })
  const fullPolls = runEvery(POLL_MS, pollForAll)
  pollForAll()
  return {
    idle: () =>
      new Promise((resolve) => {
        idleWaiters.push(resolve)
        loop.wake()
      }),
    async stop() {
      isStopped = true
      stopping.abort()
      unlisten()
      idleWaiters = []
      await Promise.all([fullPolls.stop(), loop.stop()])
      while (underWay.size > 0) await Promise.allSettled(underWay)
      await tryToRecord(deps, () => endParsing(deps))
    },
  }
}

/**
 * Makes a write, and logs its failure. After a failure, the next start may treat messages that were
 * in progress as suspects.
 */
async function tryToRecord({ log }: ProcessDeps, write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    log.error({ error: describeError(error) }, 'the state of inbound mail could not be recorded')
  }
}
