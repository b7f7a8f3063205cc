/**
 * The memory that request bodies may take, all together and those of one address. A body that says
 * how long it is takes its share before anything of it is read; any other takes more as it comes.
 * Who finds no room waits for it unread, in the order of coming, and is refused after a while. What
 * is short needs no share: there is no more of it than there are connections.
 */
import { AppError } from '../errors.ts'
import { addressGroup } from './client-address.ts'

export type BodyAllowance = {
  /** The share of one body; it is empty at first. `address`: whose body it is. */
  open(address: string | null): BodyShare
}

export type BodyShare = {
  /**
   * Makes room for a body of so many bytes; undefined where there is room at once.
   * @throws AppError RATE_LIMIT_EXCEEDED (the address has too much under way),
   * EXTERNAL_SERVICE_ERROR (all together have), both with `details.retryAfter`
   */
  growTo(bytes: number): Promise<void> | undefined
  /** Gives all of it back. */
  release(): void
}

export type AllowanceLimits = { totalBytes: number; addressBytes: number }

/** A body of so many bytes needs no share. */
export const FREE_BODY_BYTES = 64 * 1024
const WAIT_MS = 10_000
const RETRY_AFTER_SECONDS = 10

type Wish = { address: string; bytes: number; grant(): void }

export function createBodyAllowance({ totalBytes, addressBytes }: AllowanceLimits): BodyAllowance {
  const taken = new Map<string, number>()
  const waiting = new Set<Wish>()
  let takenInAll = 0

  const takenBy = (address: string): number => taken.get(address) ?? 0
  const isAddressFull = ({ address, bytes }: Omit<Wish, 'grant'>): boolean =>
    takenBy(address) + bytes > addressBytes
  const isFull = ({ bytes }: Pick<Wish, 'bytes'>): boolean => takenInAll + bytes > totalBytes

  function add(address: string, bytes: number): void {
    takenInAll += bytes
    const left = takenBy(address) + bytes
    if (left === 0) taken.delete(address)
    else taken.set(address, left)
  }

  /** Who waits for others of its own address holds up nobody else. */
  function grantWishes(): void {
    for (const wish of waiting) {
      if (isAddressFull(wish)) continue
      if (isFull(wish)) return
      wish.grant()
    }
  }

  function wait(wish: Omit<Wish, 'grant'>): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiter = { ...wish, grant }
    const timer = setTimeout(() => {
      waiting.delete(waiter)
      reject(isAddressFull(waiter) ? tooMuchOfOne() : tooMuchInAll())
      // Those behind it may want less.
      grantWishes()
    }, WAIT_MS)
    function grant(): void {
      clearTimeout(timer)
      waiting.delete(waiter)
      add(wish.address, wish.bytes)
      resolve()
    }
    waiting.add(waiter)
    return promise
  }

  return {
    open(from) {
      let share = 0
      let isReleased = false
      return {
        growTo(bytes) {
          if (bytes <= FREE_BODY_BYTES || bytes <= share) return undefined
          const address = addressGroup(from)
          const wish = { address, bytes: bytes - share }
          if (waiting.size === 0 && !isAddressFull(wish) && !isFull(wish)) {
            add(address, wish.bytes)
            share = bytes
            return undefined
          }
          const granted = wait(wish).then(() => {
            share = bytes
            if (isReleased) this.release()
          })
          grantWishes()
          return granted
        },
        release() {
          isReleased = true
          if (share === 0) return
          add(addressGroup(from), -share)
          share = 0
          grantWishes()
        },
      }
    },
  }
}

function tooMuchOfOne(): AppError {
  return new AppError('RATE_LIMIT_EXCEEDED', 'Too many large requests of this address at once.', {
    details: { retryAfter: RETRY_AFTER_SECONDS },
  })
}

function tooMuchInAll(): AppError {
  return new AppError('EXTERNAL_SERVICE_ERROR', 'Too many large requests at once. Try again.', {
    details: { retryAfter: RETRY_AFTER_SECONDS },
    suggestion: 'Wait as long as the Retry-After header says.',
  })
}
