/**
 * Processes received messages: parses a window of the oldest pending ones of each project and applies them in
 * batches. A row stays pending until its effects are on disk, so a crash loses none.
 *
 * A message that may have ended its reader thread, or the whole process, is parsed alone, so that
 * only its own failures count as its attempts (`suspects.ts`).
 *
 * Reports, mail to mailboxes and messages that are parsed alone do not wait for each other, and
 * projects take turns: mail whose senders' name servers do not answer takes seconds each.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { describeError } from '../../../errors.ts'
import type { PendingKind } from '../../../store/schema/words.ts'
import { retryWhileUnwritable } from '../../../store/write/retry.ts'
import type { Base } from '../../base.ts'
import { discardChunks } from '../../chunks.ts'
import { applyMessage } from './apply-message.ts'
import type { ApplyDeps, ReceivedMessage } from './effect.ts'
import { createLineWalks } from './line-walks.ts'
import { type MessageReader, ReaderLost } from './parsed-message.ts'
import { failPending, findRaw, PENDING_KINDS, type PendingMessage } from './pending.ts'
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
  /** Resolves when no message that was accepted so far is pending. */
  idle(): Promise<void>
  /**
   * Resolves when the effects of parsed messages are on disk. Messages that are still being parsed
   * stay pending.
   */
  stop(): Promise<void>
}

type ProcessDeps = ApplyDeps & Pick<Base, 'store' | 'inboundNotifier'>

/**
 * The maximum number of messages of each kind that are in progress: being parsed, or waiting to be
 * written.
 */
const MAX_IN_PROGRESS = 128
/** Of one project: a share that leaves others some, and is worth a poll. */
const MAX_IN_PROGRESS_OF_LINE = 96
const MAX_IN_PROGRESS_BYTES = 16 * 1024 * 1024
/** The maximum number of messages in a transaction; other writes run between two batches. */
const MAX_BATCH = 32
const MAX_BATCH_BYTES = 2 * 1024 * 1024
const RETRY_MS = 1_000
const POLL_MS = 30_000

export async function startProcessing(
  deps: ProcessDeps,
  reader: MessageReader,
): Promise<Processing> {
  await tryToRecord(deps, () => startParsing(deps, MAX_IN_PROGRESS_OF_LINE))
  const inProgress = new Map<string, PendingMessage>()
  const parsedMessages: ReceivedMessage[] = []
  const discarding = new Set<Promise<void>>()
  const walks = createLineWalks(deps)
  let idleWaiters: (() => void)[] = []
  let aloneId: string | undefined
  let polling: Promise<void> | undefined
  let writing: Promise<void> | undefined
  let dueTimer: NodeJS.Timeout | undefined
  let isPollDue = false
  let isStopped = false
  const stopping = new AbortController()
  /** Ends early when the processing stops. */
  const pause = () => sleep(RETRY_MS, undefined, { signal: stopping.signal }).catch(() => undefined)

  function poll(): void {
    isPollDue = true
    if (isStopped) return
    polling ??= pollWhileDue().finally(() => {
      polling = undefined
      if (isPollDue) poll()
    })
  }

  async function pollWhileDue(): Promise<void> {
    while (isPollDue && !isStopped) {
      isPollDue = false
      try {
        const waiting = await listWaiting()
        const isIdle = waiting.length === 0 && inProgress.size === 0
        if (isIdle) for (const resolve of idleWaiters.splice(0)) resolve()
        const fullKinds = new Set<PendingKind>()
        for (const row of waiting) if (!isStopped) await start(row, fullKinds)
      } catch (error) {
        deps.log.error({ error: describeError(error) }, 'inbound mail could not be listed')
        await pause()
        isPollDue = true
      }
    }
  }

  async function listWaiting(): Promise<PendingMessage[]> {
    const next = await findNextSuspect(deps)
    const waiting = next === undefined ? [] : [next]
    for (const kind of PENDING_KINDS) {
      const window = { kind, limit: MAX_IN_PROGRESS, ofLine: MAX_IN_PROGRESS_OF_LINE }
      if (isLow(kind)) waiting.push(...(await walks.list(window)))
    }
    return waiting
  }

  /** `fullKinds` collects the kinds that have no place for one of the list, however small the next one is. */
  async function start(row: PendingMessage, fullKinds: Set<PendingKind>): Promise<void> {
    const { id, isSuspect, pendingKind } = row
    if (inProgress.has(id) || (isSuspect && aloneId !== undefined)) return
    if (!isSuspect && fullKinds.has(pendingKind)) return
    if (!isSuspect && !hasCapacityFor(ofKind(pendingKind), row)) {
      fullKinds.add(pendingKind)
      return walks.leave(row)
    }
    const error = findReasonToFail(row)
    if (error !== undefined) {
      deps.log.error(
        { inboundId: id, reason: error },
        'inbound mail that cannot be parsed is set aside for the operator',
      )
      await failPending(deps, { id, error })
      isPollDue = true
      return
    }
    const waitMs = remainingWaitMs(row, deps.now())
    if (waitMs > 0) return pollIn(waitMs)
    inProgress.set(id, row)
    if (isSuspect) aloneId = id
    void parse(row).catch((error) => handleFault(row, error))
  }

  function pollIn(waitMs: number): void {
    clearTimeout(dueTimer)
    dueTimer = setTimeout(poll, waitMs).unref()
  }

  async function parse(row: PendingMessage): Promise<void> {
    const isAlone = row.isSuspect
    if (isAlone) await keepTrying(() => startAlone(deps, row.id))
    const raw = await findRaw(deps, row)
    if (raw === null) {
      await failPending(deps, { id: row.id, error: 'its text has been deleted' })
      return release([row])
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
    parsedMessages.push({ row, parsed })
    writing ??= writeAll().finally(() => {
      writing = undefined
    })
  }

  /** Marks a message that failed as a suspect, so that it is parsed alone from now on. */
  async function handleFault(row: PendingMessage, error: unknown): Promise<void> {
    if (isStopped) return
    deps.log.error(
      { inboundId: row.id, error: describeError(error) },
      'inbound mail was not processed',
    )
    const isAttempt = row.isSuspect || !(error instanceof ReaderLost)
    try {
      await keepTrying(() => markAsSuspect(deps, { id: row.id, isAttempt }))
      release([row])
    } catch (failure) {
      const facts = { inboundId: row.id, error: describeError(failure) }
      deps.log.error(facts, 'inbound mail is left until the next start')
    }
  }

  async function writeAll(): Promise<void> {
    while (parsedMessages.length > 0) await write(takeBatch(parsedMessages))
  }

  async function write(batch: readonly ReceivedMessage[]): Promise<void> {
    try {
      await keepTrying(() =>
        deps.store.write(async (tx) => {
          for (const message of batch) await applyMessage(deps, tx, message)
        }),
      )
      release(batch.map(({ row }) => row))
      for (const { row } of batch) if (row.rawChunks > 0) discardUnneededChunks(row)
    } catch (error) {
      if (batch.length > 1) for (const message of batch) await write([message])
      else for (const { row } of batch) await handleFault(row, error)
    }
  }

  /** Discards the chunks of a report, whose octets are deleted once it is applied. */
  function discardUnneededChunks({ id }: PendingMessage): void {
    const discarded = discardChunks(deps.store, id)
    discarding.add(discarded)
    void discarded.then(() => discarding.delete(discarded))
  }

  function keepTrying(action: () => Promise<unknown>): Promise<void> {
    return retryWhileUnwritable(action, async () => {
      if (isStopped) return false
      await pause()
      return true
    })
  }

  function release(rows: readonly PendingMessage[]): void {
    for (const { id } of rows) {
      inProgress.delete(id)
      if (aloneId === id) aloneId = undefined
    }
    pollIfLow()
  }

  /** Polls only when few messages of a kind are in progress. `release` calls this again. */
  function pollIfLow(): void {
    if (PENDING_KINDS.some(isLow)) poll()
  }

  function isLow(kind: PendingKind): boolean {
    return ofKind(kind).length <= MAX_IN_PROGRESS / 2
  }

  /** Returns the messages of a kind in progress, without the one that is parsed alone. */
  function ofKind(kind: PendingKind): PendingMessage[] {
    return [...inProgress.values()].filter((row) => !row.isSuspect && row.pendingKind === kind)
  }

  const unlisten = deps.inboundNotifier.listen(pollIfLow)
  const timer = setInterval(poll, POLL_MS).unref()
  poll()
  return {
    idle: () =>
      new Promise((resolve) => {
        idleWaiters.push(resolve)
        poll()
      }),
    async stop() {
      isStopped = true
      stopping.abort()
      unlisten()
      clearInterval(timer)
      clearTimeout(dueTimer)
      idleWaiters = []
      await polling
      await writing
      await Promise.all(discarding)
      await tryToRecord(deps, () => endParsing(deps))
    },
  }
}

/**
 * Logs a failed write. After it, the next start may treat messages that were in progress as
 * suspects.
 */
async function tryToRecord({ log }: ProcessDeps, write: () => Promise<void>): Promise<void> {
  try {
    await write()
  } catch (error) {
    log.error({ error: describeError(error) }, 'the state of inbound mail could not be recorded')
  }
}

function hasCapacityFor(others: readonly PendingMessage[], row: PendingMessage): boolean {
  if (others.length === 0) return true
  const bytes = others.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  return others.length < MAX_IN_PROGRESS && bytes + row.sizeBytes <= MAX_IN_PROGRESS_BYTES
}

/** Removes a batch from the front; a large message is a batch of its own. */
function takeBatch(messages: ReceivedMessage[]): ReceivedMessage[] {
  let bytes = 0
  const end = messages.findIndex(({ row }, index) => {
    bytes += row.sizeBytes
    return index === MAX_BATCH || (index > 0 && bytes > MAX_BATCH_BYTES)
  })
  return messages.splice(0, end === -1 ? messages.length : end)
}
