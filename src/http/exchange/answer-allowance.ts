/**
 * The memory for answers, limited in total, by client address and by owner. The share of an answer
 * covers what was read and made for the answer, and what the client has not taken yet. An owner is
 * a project, or a user who acts in no project; all clients without credentials are one owner
 * together. An answer that may be large takes its share before anything is read for it. When no
 * memory is left, answers wait, and are refused after ten seconds. Short answers need no share,
 * because the limit of connections limits their number.
 *
 * Among the waiting answers, the owner with the least memory comes first, then its address with the least
 * memory, then the oldest request. An answer that is larger than a limit counts as large as the limit, so that
 * it passes alone.
 */
import { SECOND_MS } from '../../base/clock.ts'
import type { Counters } from '../../base/counters.ts'
import { AppError } from '../../base/errors.ts'
import { refuseFull, type WaitingLimits } from '../../turns/turns.ts'
import { addressGroup } from '../server/client-address.ts'

export type AnswerAllowance = {
  /** Opens the share of one answer, which is empty at first. */
  open(client: AnswerClient): AnswerShare
  /** Returns the bytes that all answers hold, and how many answers wait. */
  load(): { bytes: number; waiting: number }
}

/** `owner`: names the project or the user; null for a client without credentials. */
export type AnswerClient = { address: string | null; owner: string | null }

export type AnswerShare = {
  /**
   * Waits until the answer may hold `bytes` in all. Returns undefined if it may at once, as it
   * always may for less than it holds. Rejects with AppError EXTERNAL_SERVICE_ERROR, with
   * `details.retryAfter`, after ten seconds, and with REQUEST_TIMEOUT when the client has left.
   * `limits`: how many answers may wait; beyond that, throws as `refuseFull` (`turns/turns.ts`).
   */
  reserve(bytes: number, limits?: WaitingLimits): Promise<void> | undefined
  /** Sets the share to what the answer takes now. */
  resize(bytes: number): void
  /** The client has left: the answer stops waiting. The share stays, because what was read is still in memory. */
  leave(): void
  /** Frees the share for good. */
  release(): void
}

type AllowanceLimits = { totalBytes: number; addressBytes: number; ownerBytes: number }

/** An answer up to this size needs no share. */
export const FREE_ANSWER_BYTES = 64 * 1024
const WAIT_MS = 10 * SECOND_MS
const RETRY_AFTER_SECONDS = 10

type WaitingAnswer = { bytes: number; limits: WaitingLimits | undefined; allow(): void }
/**
 * A line: the waiting answers of one owner to one client address. `owner` and `address` are keys of
 * `taken`.
 */
type OwnerAnswers = { owner: string; address: string; waiting: WaitingAnswer[] }

export function createAnswerAllowance(
  { totalBytes, addressBytes, ownerBytes }: AllowanceLimits,
  counters: Pick<Counters, 'add'>,
): AnswerAllowance {
  let total = 0
  /** The bytes that answers hold, by address and by owner. */
  const taken = new Map<string, number>()
  /** The lines of waiting answers. A line that becomes empty is removed. */
  const lines = new Map<string, OwnerAnswers>()
  const largest = Math.min(totalBytes, addressBytes, ownerBytes)

  const bytesOf = (holder: string): number => taken.get(holder) ?? 0

  function take({ owner, address }: OwnerAnswers, bytes: number): void {
    total += bytes
    for (const holder of [owner, address]) {
      const left = bytesOf(holder) + bytes
      if (left === 0) taken.delete(holder)
      else taken.set(holder, left)
    }
  }

  function isWithinLimits({ owner, address }: OwnerAnswers, bytes: number): boolean {
    return bytesOf(owner) + bytes <= ownerBytes && bytesOf(address) + bytes <= addressBytes
  }

  /**
   * Serves the waiting answers in turn. If the next answer does not fit into the total, no other
   * answer passes it, so that large answers get their turn.
   */
  function serve(): void {
    while (lines.size > 0) {
      const next = findNext()
      if (next === undefined || total + next.bytes > totalBytes) return
      next.allow()
    }
  }

  /**
   * The first answer of the line with the least memory. Lines whose own limits do not allow their first
   * answer are passed over.
   */
  function findNext(): WaitingAnswer | undefined {
    let least: OwnerAnswers | undefined
    for (const line of lines.values()) {
      const [first] = line.waiting
      if (first === undefined || !isWithinLimits(line, first.bytes)) continue
      if (least === undefined || hasLess(line, least)) least = line
    }
    return least?.waiting[0]
  }

  function hasLess(one: OwnerAnswers, other: OwnerAnswers): boolean {
    const more = bytesOf(one.owner) - bytesOf(other.owner)
    return more < 0 || (more === 0 && bytesOf(one.address) < bytesOf(other.address))
  }

  function queue(given: OwnerAnswers, answer: WaitingAnswer): void {
    const key = `${given.owner} ${given.address}`
    const line = lines.get(key) ?? given
    line.waiting.push(answer)
    lines.set(key, line)
  }

  function leaveLine({ owner, address }: OwnerAnswers, answer: WaitingAnswer): void {
    const key = `${owner} ${address}`
    const line = lines.get(key)
    if (line === undefined) return
    line.waiting = line.waiting.filter((other) => other !== answer)
    if (line.waiting.length === 0) lines.delete(key)
  }

  /**
   * Refuses an answer if too many answers with the same `limits` wait.
   * @throws AppError as `refuseFull`
   */
  function refuseBeyond(limits: WaitingLimits, owner: string): void {
    const count = { ofProject: 0, inAll: 0 }
    for (const line of lines.values()) {
      const waiting = line.waiting.filter((answer) => answer.limits === limits).length
      count.inAll += waiting
      if (line.owner === owner) count.ofProject += waiting
    }
    try {
      refuseFull(limits, count)
    } catch (error) {
      counters.add('pillarbox_http_answers_refused_total')
      throw error
    }
  }

  function open(client: AnswerClient): AnswerShare {
    const address = `address ${addressGroup(client.address)}`
    const line: OwnerAnswers = { owner: `owner ${client.owner ?? ''}`, address, waiting: [] }
    let bytes = 0
    let hasLeft = false
    let isReleased = false
    let stopWaiting: ((error: AppError) => void) | undefined

    function resize(wanted: number): void {
      if (isReleased) return
      const size = Math.min(wanted, largest)
      const more = size - bytes
      bytes = size
      if (more !== 0) take(line, more)
      if (more < 0) serve()
    }

    function wait(size: number, limits: WaitingLimits | undefined): Promise<void> {
      const { promise: room, resolve, reject } = Promise.withResolvers<void>()
      const end = () => {
        clearTimeout(timer)
        stopWaiting = undefined
        leaveLine(line, answer)
      }
      const answer: WaitingAnswer = {
        bytes: size,
        limits,
        allow() {
          end()
          resize(size)
          resolve()
        },
      }
      const timer = setTimeout(() => {
        counters.add('pillarbox_http_answers_refused_total')
        stopWaiting?.(tooMany())
      }, WAIT_MS)
      stopWaiting = (error) => {
        end()
        reject(error)
        // The next answer may need less memory.
        serve()
      }
      queue(line, answer)
      return room
    }

    function leave(): void {
      hasLeft = true
      stopWaiting?.(gone())
    }

    return {
      reserve(wanted, limits) {
        if (hasLeft) return Promise.reject(gone())
        const size = Math.min(wanted, largest)
        if (size <= bytes) {
          resize(size)
          return undefined
        }
        // A waiting answer gives its share back, so answers that grow cannot block each other.
        resize(0)
        const isFree = total + size <= totalBytes && isWithinLimits(line, size)
        if (isFree && lines.size === 0) {
          resize(size)
          return undefined
        }
        if (limits !== undefined) refuseBeyond(limits, line.owner)
        const room = wait(size, limits)
        serve()
        if (stopWaiting !== undefined) counters.add('pillarbox_http_answers_waited_total')
        return room
      },
      resize,
      leave,
      release() {
        leave()
        resize(0)
        isReleased = true
      },
    }
  }

  return {
    open,
    load: () => ({
      bytes: total,
      waiting: [...lines.values()].reduce((sum, { waiting }) => sum + waiting.length, 0),
    }),
  }
}

function tooMany(): AppError {
  return new AppError('EXTERNAL_SERVICE_ERROR', 'Too many large answers at once. Try again.', {
    details: { retryAfter: RETRY_AFTER_SECONDS },
    isOverload: true,
    suggestion: 'Read answers as they come, and wait as long as the Retry-After header says.',
  })
}

function gone(): AppError {
  return new AppError('REQUEST_TIMEOUT', 'The client has disconnected.')
}
