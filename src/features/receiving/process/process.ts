/**
 * Reads what came in, a window of the oldest at a time, and puts it into effect in batches. A row
 * waits until what it leads to is on disk; a crash leaves it where it was.
 *
 * A message that may have ended the thread that read it, or the whole process, is read alone, so that
 * only its own failures are tries of it (`suspects.ts`).
 *
 * Reports, mail to mailboxes and what is read alone keep none of each other waiting.
 */
import { describeError } from '../../../errors.ts'
import { retryWhileUnwritable } from '../../../store/write/retry.ts'
import type { Base } from '../../base.ts'
import { discardChunks } from '../../chunks.ts'
import { applyMessage } from './apply-message.ts'
import type { ReceivedMessage } from './effect.ts'
import { type MessageReader, ReaderLost } from './parsed-message.ts'
import {
  failPending,
  findRaw,
  isMail,
  listPending,
  type PendingKind,
  type PendingMessage,
  pendingKindOf,
} from './pending.ts'
import {
  endParsing,
  findNextSuspect,
  findReasonToFail,
  remainingWaitMs,
  startAlone,
  startParsing,
  suspect,
} from './suspects.ts'

export type Processing = {
  /** Resolves when nothing that was kept so far waits to be read. */
  idle(): Promise<void>
  /** Resolves when what was read is on disk; what is being read is given back. */
  stop(): Promise<void>
}

export type ProcessDeps = Pick<
  Base,
  'store' | 'keyring' | 'inboundNotifier' | 'counters' | 'now' | 'log'
>

/** In hand at a time, of each kind: read, or waiting to be written. */
const WINDOW = 128
const WINDOW_BYTES = 16 * 1024 * 1024
const KINDS: readonly PendingKind[] = ['reports', 'mail']
/** Of one transaction: others get their turn between two. */
const BATCH = 32
const BATCH_BYTES = 2 * 1024 * 1024
const RETRY_MS = 1_000
const LOOK_EVERY_MS = 30_000

export async function startProcessing(
  deps: ProcessDeps,
  reader: MessageReader,
): Promise<Processing> {
  await note(deps, () => startParsing(deps, WINDOW))
  const inHand = new Map<string, PendingMessage>()
  const read: ReceivedMessage[] = []
  const dropping = new Set<Promise<void>>()
  let idlers: (() => void)[] = []
  let alone: string | undefined
  let looking: Promise<void> | undefined
  let writing: Promise<void> | undefined
  let alarm: NodeJS.Timeout | undefined
  let isRung = false
  let isStopped = false

  function look(): void {
    isRung = true
    if (isStopped) return
    looking ??= lookUntilQuiet().finally(() => {
      looking = undefined
      if (isRung) look()
    })
  }

  async function lookUntilQuiet(): Promise<void> {
    while (isRung && !isStopped) {
      isRung = false
      try {
        const waiting = await listWaiting()
        const isIdle = waiting.length === 0 && inHand.size === 0
        if (isIdle) for (const idler of idlers.splice(0)) idler()
        for (const row of waiting) if (!isStopped) await take(row)
      } catch (error) {
        deps.log.error({ error: describeError(error) }, 'inbound mail could not be listed')
        await pause()
        isRung = true
      }
    }
  }

  async function listWaiting(): Promise<PendingMessage[]> {
    const next = await findNextSuspect(deps)
    const waiting = next === undefined ? [] : [next]
    for (const kind of KINDS) {
      if (isLow(kind)) waiting.push(...(await listPending(deps, { kind, limit: WINDOW })))
    }
    return waiting
  }

  async function take(row: PendingMessage): Promise<void> {
    const { id, isSuspect } = row
    const mayBegin = isSuspect ? alone === undefined : hasRoom(ofKind(pendingKindOf(row)), row)
    if (inHand.has(id) || !mayBegin) return
    const error = findReasonToFail(row)
    if (error !== undefined) {
      deps.log.error(
        { inbound: id, reason: error },
        'inbound mail that cannot be read is kept for the operator',
      )
      await failPending(deps, { id, error })
      isRung = true
      return
    }
    const waitMs = remainingWaitMs(row, deps.now())
    if (waitMs > 0) return lookIn(waitMs)
    inHand.set(id, row)
    if (isSuspect) alone = id
    void readOne(row).catch((reason) => fault(row, reason))
  }

  function lookIn(waitMs: number): void {
    clearTimeout(alarm)
    alarm = setTimeout(look, waitMs).unref()
  }

  async function readOne(row: PendingMessage): Promise<void> {
    const isAlone = row.isSuspect
    if (isAlone) await keepTrying(() => startAlone(deps, row.id))
    const raw = await findRaw(deps, row)
    if (raw === null) {
      await failPending(deps, { id: row.id, error: 'its text is gone' })
      return release([row])
    }
    const { reversePath, clientAddress, clientName } = row
    const message = { raw, reversePath, clientAddress, clientName, isMail: isMail(row.recipients) }
    const parsed = await reader.read(message, { isAlone })
    read.push({ row, parsed })
    writing ??= writeAll().finally(() => {
      writing = undefined
    })
  }

  /** Not to be read again as if nothing had been. */
  async function fault(row: PendingMessage, error: unknown): Promise<void> {
    if (isStopped) return
    deps.log.error({ inbound: row.id, error: describeError(error) }, 'inbound mail was not read')
    const isTry = row.isSuspect || !(error instanceof ReaderLost)
    try {
      await keepTrying(() => suspect(deps, { id: row.id, isTry }))
      release([row])
    } catch (failure) {
      const facts = { inbound: row.id, error: describeError(failure) }
      deps.log.error(facts, 'inbound mail is left until the next start')
    }
  }

  async function writeAll(): Promise<void> {
    while (read.length > 0) await write(takeBatch(read))
  }

  async function write(batch: readonly ReceivedMessage[]): Promise<void> {
    try {
      await keepTrying(() =>
        deps.store.write(async (tx) => {
          for (const message of batch) await applyMessage(deps, tx, message)
        }),
      )
      release(batch.map(({ row }) => row))
      for (const { row } of batch) if (row.rawChunks > 0) drop(row)
    } catch (error) {
      if (batch.length > 1) for (const message of batch) await write([message])
      else for (const { row } of batch) await fault(row, error)
    }
  }

  /** The chunks of a report, whose text went when it was read. */
  function drop({ id }: PendingMessage): void {
    const dropped = discardChunks(deps.store, id)
    dropping.add(dropped)
    void dropped.then(() => dropping.delete(dropped))
  }

  function keepTrying(act: () => Promise<unknown>): Promise<void> {
    return retryWhileUnwritable(act, async () => {
      if (isStopped) return false
      await pause()
      return true
    })
  }

  function release(rows: readonly PendingMessage[]): void {
    for (const { id } of rows) {
      inHand.delete(id)
      if (alone === id) alone = undefined
    }
    lookIfLow()
  }

  /** There is enough to do otherwise, and what is done of it comes here again. */
  function lookIfLow(): void {
    if (KINDS.some(isLow)) look()
  }

  function isLow(kind: PendingKind): boolean {
    return ofKind(kind).length <= WINDOW / 2
  }

  /** In hand of it, beside what is read alone. */
  function ofKind(kind: PendingKind): PendingMessage[] {
    return [...inHand.values()].filter((row) => !row.isSuspect && pendingKindOf(row) === kind)
  }

  const unlisten = deps.inboundNotifier.listen(lookIfLow)
  const timer = setInterval(look, LOOK_EVERY_MS).unref()
  look()
  return {
    idle: () =>
      new Promise((resolve) => {
        idlers.push(resolve)
        look()
      }),
    async stop() {
      isStopped = true
      unlisten()
      clearInterval(timer)
      clearTimeout(alarm)
      idlers = []
      await looking
      await writing
      await Promise.all(dropping)
      await note(deps, () => endParsing(deps))
    },
  }
}

/** Where the database takes no writes, the next start may take what was in hand for suspects. */
async function note({ log }: ProcessDeps, act: () => Promise<void>): Promise<void> {
  try {
    await act()
  } catch (error) {
    log.error({ error: describeError(error) }, 'whether inbound mail is read could not be recorded')
  }
}

function hasRoom(others: readonly PendingMessage[], row: PendingMessage): boolean {
  if (others.length === 0) return true
  const bytes = others.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  return others.length < WINDOW && bytes + row.sizeBytes <= WINDOW_BYTES
}

/** From the front; a large one goes alone. */
function takeBatch(read: ReceivedMessage[]): ReceivedMessage[] {
  let bytes = 0
  const end = read.findIndex(({ row }, index) => {
    bytes += row.sizeBytes
    return index === BATCH || (index > 0 && bytes > BATCH_BYTES)
  })
  return read.splice(0, end === -1 ? read.length : end)
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, RETRY_MS))
}
