/**
 * Reads what came in, a window of the oldest at a time, and puts it into effect in batches. A row
 * waits until what it leads to is on disk; a crash leaves it where it was.
 *
 * A message that ends the thread that reads it, or the whole process, is tried three times:
 *
 * | tries so far | read                                                     |
 * |--------------|----------------------------------------------------------|
 * | 0            | together with others                                     |
 * | 1, 2         | alone, the try counted durably before it begins          |
 * | 3            | no more: state `failed`, kept for the operator           |
 *
 * What shared a thread with such a message, or was in hand when the process died, counts as tried
 * once: it is read alone, and done with.
 *
 * Reports, mail to mailboxes and what is read alone keep none of each other waiting.
 */
import { AppError, describeError } from '../../errors.ts'
import type { Core } from '../core.ts'
import type { Arrival } from './act.ts'
import { applyArrival } from './apply.ts'
import {
  countAttempt,
  failPending,
  findRaw,
  isMail,
  type Lane,
  laneOf,
  listPending,
  listSuspect,
  type Pending,
  suspectOldest,
} from './pending.ts'
import type { Reader } from './reading.ts'

export type Processing = {
  /** Resolves when nothing that was kept so far waits to be read. */
  idle(): Promise<void>
  /** Resolves when what was read is on disk; what is being read is left for the next start. */
  stop(): Promise<void>
}

export type ProcessDeps = Pick<Core, 'store' | 'keyring' | 'inbox' | 'counters' | 'now' | 'log'>

const MAX_TRIES = 3
/** In hand at a time, of each lane: read, or waiting to be written. */
const WINDOW = 128
const WINDOW_BYTES = 16 * 1024 * 1024
const LANES: readonly Lane[] = ['reports', 'mail']
/** Of one transaction: others get their turn between two. */
const BATCH = 32
const BATCH_BYTES = 2 * 1024 * 1024
const RETRY_MS = 1_000
const LOOK_EVERY_MS = 30_000

export async function startProcessing(deps: ProcessDeps, reader: Reader): Promise<Processing> {
  await suspectOldest(deps, WINDOW)
  const inHand = new Map<string, Pending>()
  const read: Arrival[] = []
  let idlers: (() => void)[] = []
  let suspect: string | undefined
  let looking: Promise<void> | undefined
  let writing: Promise<void> | undefined
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

  async function listWaiting(): Promise<Pending[]> {
    const waiting = [...(await listSuspect(deps))]
    for (const lane of LANES) {
      if (isLow(lane)) waiting.push(...(await listPending(deps, { lane, limit: WINDOW })))
    }
    return waiting
  }

  async function take(row: Pending): Promise<void> {
    const isAlone = row.attempts > 0
    const mayBegin = isAlone ? suspect === undefined : hasRoom(inLane(laneOf(row)), row)
    if (inHand.has(row.id) || !mayBegin) return
    if (row.attempts >= MAX_TRIES) {
      const error = `reading it failed ${row.attempts} times`
      deps.log.error(
        { inbound: row.id },
        'inbound mail that cannot be read is kept for the operator',
      )
      await failPending(deps, { id: row.id, error })
      isRung = true
      return
    }
    inHand.set(row.id, row)
    if (isAlone) suspect = row.id
    void readOne(row, isAlone).catch((error) => fault(row, error))
  }

  async function readOne(row: Pending, isAlone: boolean): Promise<void> {
    if (isAlone) await keepTrying(() => countAttempt(deps, row.id))
    const raw = await findRaw(deps, row.id)
    if (raw === null) {
      await failPending(deps, { id: row.id, error: 'its text is gone' })
      return release([row])
    }
    const { reversePath, clientAddress, clientName } = row
    const message = { raw, reversePath, clientAddress, clientName, isMail: isMail(row.recipients) }
    const reading = await reader.read(message, { isAlone })
    read.push({ row, reading })
    writing ??= writeAll().finally(() => {
      writing = undefined
    })
  }

  /** Not to be tried again as if nothing had been: whatever it was, it counts. */
  async function fault(row: Pending, error: unknown): Promise<void> {
    if (isStopped) return
    deps.log.error({ inbound: row.id, error: describeError(error) }, 'inbound mail was not read')
    try {
      if (row.attempts === 0) await keepTrying(() => countAttempt(deps, row.id))
      release([row])
    } catch (failure) {
      const facts = { inbound: row.id, error: describeError(failure) }
      deps.log.error(facts, 'inbound mail is left until the next start')
    }
  }

  async function writeAll(): Promise<void> {
    while (read.length > 0) await write(takeBatch(read))
  }

  async function write(batch: readonly Arrival[]): Promise<void> {
    try {
      await keepTrying(() =>
        deps.store.write(async (tx) => {
          for (const arrival of batch) await applyArrival(deps, tx, arrival)
        }),
      )
      release(batch.map(({ row }) => row))
    } catch (error) {
      if (batch.length > 1) for (const arrival of batch) await write([arrival])
      else for (const { row } of batch) await fault(row, error)
    }
  }

  /** While the database takes no writes. @throws any other error */
  async function keepTrying(act: () => Promise<unknown>): Promise<void> {
    for (;;) {
      try {
        await act()
        return
      } catch (error) {
        const isPassing = error instanceof AppError && error.code === 'DATABASE_ERROR'
        if (!isPassing || isStopped) throw error
        await pause()
      }
    }
  }

  function release(rows: readonly Pending[]): void {
    for (const { id } of rows) {
      inHand.delete(id)
      if (suspect === id) suspect = undefined
    }
    lookIfLow()
  }

  /** There is enough to do otherwise, and what is done of it comes here again. */
  function lookIfLow(): void {
    if (LANES.some(isLow)) look()
  }

  function isLow(lane: Lane): boolean {
    return inLane(lane).length <= WINDOW / 2
  }

  /** In hand of it, beside what is read alone. */
  function inLane(lane: Lane): Pending[] {
    return [...inHand.values()].filter((row) => row.attempts === 0 && laneOf(row) === lane)
  }

  const unlisten = deps.inbox.listen(lookIfLow)
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
      idlers = []
      await looking
      await writing
    },
  }
}

function hasRoom(others: readonly Pending[], row: Pending): boolean {
  if (others.length === 0) return true
  const bytes = others.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  return others.length < WINDOW && bytes + row.sizeBytes <= WINDOW_BYTES
}

/** From the front; a large one goes alone. */
function takeBatch(read: Arrival[]): Arrival[] {
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
