/**
 * The memory that request bodies may take, all together, those of one address and those with one
 * key. A body that says how long it is takes its share before anything of it is read; any other
 * takes more as it comes. Who finds no room waits for it unread, in the order of coming, and is
 * refused after a while. What is short needs no share: there is no more of it than there are
 * connections.
 *
 * Who has a share and wants more goes before those who have none. Where all that have one wait,
 * the last of them is refused at once: nobody else would make room.
 */
import { AppError } from '../../errors.ts'
import { addressGroup } from '../server/client-address.ts'

export type BodyAllowance = {
  /** The share of one body; it is empty at first. */
  open(owner: BodyOwner): BodyShare
}

/** Whose body it is. `key`: null without one, and all of those are together one key's. */
export type BodyOwner = { address: string | null; key: string | null }

export type BodyShare = {
  /**
   * Makes room for a body of so many bytes; undefined where there is room at once. Rejects with
   * AppError RATE_LIMIT_EXCEEDED (the address or the key has too much under way) or
   * EXTERNAL_SERVICE_ERROR (all together have), both with `details.retryAfter`.
   */
  growTo(bytes: number): Promise<void> | undefined
  /** Gives all of it back. */
  release(): void
}

export type AllowanceLimits = { totalBytes: number; addressBytes: number; keyBytes: number }

/** A body of so many bytes needs no share. */
export const FREE_BODY_BYTES = 64 * 1024
const WAIT_MS = 10_000
const RETRY_AFTER_SECONDS = 10

type Bound = { name: string; maxBytes: number; refusal(): AppError }
type Wish = {
  bytes: number
  /** What there was no room in when it was last looked at. */
  blockedBy: Bound | undefined
  grant(): void
  refuse(): void
}
type Share = { bounds: readonly Bound[]; bytes: number; wish: Wish | undefined }

export function createBodyAllowance(limits: AllowanceLimits): BodyAllowance {
  const taken = new Map<string, number>()
  const holding = new Set<Share>()
  const waiting = new Set<Share>()

  function take(share: Share, bytes: number): void {
    share.bytes += bytes
    if (share.bytes === 0) holding.delete(share)
    else holding.add(share)
    for (const { name } of share.bounds) {
      const left = (taken.get(name) ?? 0) + bytes
      if (left === 0) taken.delete(name)
      else taken.set(name, left)
    }
  }

  const isFull = ({ name, maxBytes }: Bound, bytes: number): boolean =>
    (taken.get(name) ?? 0) + bytes > maxBytes

  /** Who waits for others of its own address or key holds up nobody else. */
  function grantWishes(): void {
    const blocked = new Set<string>()
    const growing = [...waiting].filter(({ bytes }) => bytes > 0)
    for (const { bounds, wish } of new Set([...growing, ...waiting])) {
      if (wish === undefined) continue
      wish.blockedBy =
        bounds.find(({ name }) => blocked.has(name)) ??
        bounds.find((bound) => isFull(bound, wish.bytes))
      if (wish.blockedBy === undefined) wish.grant()
      else blocked.add(wish.blockedBy.name)
    }
    growing.findLast(isHopeless)?.wish?.refuse()
  }

  /** Nobody who holds what is missing is going to give it back. */
  function isHopeless({ wish }: Share): boolean {
    const name = wish?.blockedBy?.name
    if (name === undefined) return false
    return ![...holding].some(
      (other) => other.wish === undefined && other.bounds.some((bound) => bound.name === name),
    )
  }

  function wait(share: Share, bytes: number): Promise<void> | undefined {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    let isGranted = false
    const wish: Wish = {
      bytes,
      blockedBy: undefined,
      grant() {
        isGranted = true
        end()
        take(share, bytes)
        resolve()
      },
      refuse() {
        end()
        reject((wish.blockedBy?.refusal ?? tooMuchInAll)())
      },
    }
    function end(): void {
      clearTimeout(timer)
      share.wish = undefined
      waiting.delete(share)
    }
    const timer = setTimeout(() => {
      wish.refuse()
      // Those behind it may want less.
      grantWishes()
    }, WAIT_MS)
    share.wish = wish
    waiting.add(share)
    grantWishes()
    return isGranted ? undefined : promise
  }

  return {
    open(owner) {
      const share: Share = { bounds: boundsOf(owner, limits), bytes: 0, wish: undefined }
      return {
        growTo(bytes) {
          if (bytes <= FREE_BODY_BYTES || bytes <= share.bytes) return undefined
          return wait(share, bytes - share.bytes)
        },
        release() {
          share.wish?.refuse()
          if (share.bytes === 0) return
          take(share, -share.bytes)
          grantWishes()
        },
      }
    },
  }
}

function boundsOf({ address, key }: BodyOwner, limits: AllowanceLimits): Bound[] {
  const { addressBytes, keyBytes, totalBytes } = limits
  return [
    {
      name: `address ${addressGroup(address)}`,
      maxBytes: addressBytes,
      refusal: () => tooMuch('Too many large requests of this address at once.'),
    },
    {
      name: `key ${key ?? ''}`,
      maxBytes: keyBytes,
      refusal: () => tooMuch('Too many large requests with this key at once.'),
    },
    { name: 'all', maxBytes: totalBytes, refusal: tooMuchInAll },
  ]
}

function tooMuch(text: string): AppError {
  return new AppError('RATE_LIMIT_EXCEEDED', text, { details: { retryAfter: RETRY_AFTER_SECONDS } })
}

function tooMuchInAll(): AppError {
  return new AppError('EXTERNAL_SERVICE_ERROR', 'Too many large requests at once. Try again.', {
    details: { retryAfter: RETRY_AFTER_SECONDS },
    suggestion: 'Wait as long as the Retry-After header says.',
  })
}
