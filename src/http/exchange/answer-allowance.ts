/**
 * The memory for answers, limited in total and by client address: for what was read and made for an answer
 * and what its client has not taken yet. An answer that may be large takes its share before anything is
 * read for it. When no memory is left, answers wait, and are refused after ten seconds. Short answers need
 * no share, because the limit of connections limits their number.
 *
 * Of the addresses that wait, the one that has least is served first, each in the order of its requests.
 * An answer that is larger than a limit counts as large as the limit, so that it passes alone.
 */
import { SECOND_MS } from '../../clock.ts'
import type { Counters } from '../../counters.ts'
import { AppError } from '../../errors.ts'
import { addressGroup } from '../server/client-address.ts'

export type AnswerAllowance = {
  /** The share of one answer, empty at first. */
  open(address: string | null): AnswerShare
  /** Bytes of all answers, and answers that wait. */
  load(): { bytes: number; waiting: number }
}

export type AnswerShare = {
  /**
   * Waits until the answer may take `bytes`, in place of what it had; undefined when that is possible at
   * once, as for less than it had. Rejects with AppError EXTERNAL_SERVICE_ERROR, with `details.retryAfter`, after ten seconds, and
   * with REQUEST_TIMEOUT when the share is released.
   */
  reserve(bytes: number): Promise<void> | undefined
  /** Sets the share to what the answer takes now. */
  resize(bytes: number): void
  /** Frees the share for good. */
  release(): void
}

type AllowanceLimits = { totalBytes: number; addressBytes: number }

/** An answer up to this size needs no share. */
export const FREE_ANSWER_BYTES = 64 * 1024
const WAIT_MS = 10 * SECOND_MS
const RETRY_AFTER_SECONDS = 10

type WaitingAnswer = { bytes: number; allow(): void }

export function createAnswerAllowance(
  { totalBytes, addressBytes }: AllowanceLimits,
  counters: Pick<Counters, 'add'>,
): AnswerAllowance {
  let total = 0
  const taken = new Map<string, number>()
  /** By address; no line is empty. */
  const lines = new Map<string, WaitingAnswer[]>()
  const largest = Math.min(totalBytes, addressBytes)

  const bytesOf = (group: string): number => taken.get(group) ?? 0

  function take(group: string, bytes: number): void {
    total += bytes
    const left = bytesOf(group) + bytes
    if (left === 0) taken.delete(group)
    else taken.set(group, left)
  }

  /** Nobody passes the one that waits for the total, so that large answers come to their turn. */
  function serve(): void {
    while (lines.size > 0) {
      const next = findNext()
      if (next === undefined || total + next.bytes > totalBytes) return
      next.allow()
    }
  }

  /** The first answer of the address that has least, of those that its own limit lets pass. */
  function findNext(): WaitingAnswer | undefined {
    let next: WaitingAnswer | undefined
    let least = Number.POSITIVE_INFINITY
    for (const [group, [first]] of lines) {
      const bytes = bytesOf(group)
      if (first === undefined || bytes + first.bytes > addressBytes || bytes >= least) continue
      next = first
      least = bytes
    }
    return next
  }

  function queue(group: string, answer: WaitingAnswer): void {
    const line = lines.get(group)
    if (line === undefined) lines.set(group, [answer])
    else line.push(answer)
  }

  function leave(group: string, answer: WaitingAnswer): void {
    const line = lines.get(group)?.filter((other) => other !== answer) ?? []
    if (line.length === 0) lines.delete(group)
    else lines.set(group, line)
  }

  function open(address: string | null): AnswerShare {
    const group = addressGroup(address)
    let bytes = 0
    let isReleased = false
    let stopWaiting: ((error: AppError) => void) | undefined

    function resize(size: number): void {
      if (isReleased) return
      const more = size - bytes
      bytes = size
      if (more !== 0) take(group, more)
      if (more < 0) serve()
    }

    function wait(size: number): Promise<void> {
      const { promise: room, resolve, reject } = Promise.withResolvers<void>()
      const end = () => {
        clearTimeout(timer)
        stopWaiting = undefined
        leave(group, answer)
      }
      const answer: WaitingAnswer = {
        bytes: size,
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
        // The next one may need less.
        serve()
      }
      queue(group, answer)
      return room
    }

    return {
      reserve(wanted) {
        if (isReleased) return Promise.reject(gone())
        const size = Math.min(wanted, largest)
        if (size <= bytes) {
          resize(size)
          return undefined
        }
        // What waits holds nothing, so answers that grow do not wait for each other.
        resize(0)
        const isFree = total + size <= totalBytes && bytesOf(group) + size <= addressBytes
        if (isFree && lines.size === 0) {
          resize(size)
          return undefined
        }
        const room = wait(size)
        serve()
        if (stopWaiting !== undefined) counters.add('pillarbox_http_answers_waited_total')
        return room
      },
      resize,
      release() {
        stopWaiting?.(gone())
        resize(0)
        isReleased = true
      },
    }
  }

  return {
    open,
    load: () => ({
      bytes: total,
      waiting: [...lines.values()].reduce((sum, line) => sum + line.length, 0),
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
