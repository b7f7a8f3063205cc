/**
 * The memory for request bodies, limited in total, by client address and by key. A body with a
 * Content-Length takes its share before it is read; any other body takes more as it arrives. When no
 * memory is left, bodies wait unread, in order of arrival, and are refused after ten seconds. Short
 * bodies need no share, because the limit of connections limits their number.
 *
 * Bodies that have a share and need more come before bodies without a share. If all bodies with a
 * share wait, none of them can free memory, so the last one is refused at once.
 */
import { AppError } from '../../base/errors.ts'
import { addressGroup } from '../server/client-address.ts'

export type BodyAllowance = {
  /** Opens the share of one body, which is empty at first. */
  open(owner: BodyOwner): BodyShare
}

/** The sender of a body. `key`: null without a key; all such bodies share one limit. */
type BodyOwner = { address: string | null; key: string | null }

export type BodyShare = {
  /**
   * Grows the share to `bytes`. Returns undefined if that much memory is free at once. Rejects with
   * AppError RATE_LIMIT_EXCEEDED (limit of the address or the key) or EXTERNAL_SERVICE_ERROR (limit
   * of the total), both with `details.retryAfter`.
   */
  growTo(bytes: number): Promise<void> | undefined
  /** Frees the whole share. */
  release(): void
}

type AllowanceLimits = { totalBytes: number; addressBytes: number; keyBytes: number }

/** A body up to this size needs no share. */
export const FREE_BODY_BYTES = 64 * 1024
const WAIT_MS = 10_000
const RETRY_AFTER_SECONDS = 10

type MemoryLimit = { name: string; maxBytes: number; refusal(): AppError }
type Growth = {
  bytes: number
  /** The limit of memory that prevented the growth when it was last checked. */
  blockedBy: MemoryLimit | undefined
  allow(): void
  refuse(): void
}
type OpenBody = { limits: readonly MemoryLimit[]; bytes: number; growth: Growth | undefined }

export function createBodyAllowance(limits: AllowanceLimits): BodyAllowance {
  const taken = new Map<string, number>()
  const bodiesWithShare = new Set<OpenBody>()
  const waitingBodies = new Set<OpenBody>()

  function take(body: OpenBody, bytes: number): void {
    body.bytes += bytes
    if (body.bytes === 0) bodiesWithShare.delete(body)
    else bodiesWithShare.add(body)
    for (const { name } of body.limits) {
      const left = (taken.get(name) ?? 0) + bytes
      if (left === 0) taken.delete(name)
      else taken.set(name, left)
    }
  }

  const isFull = ({ name, maxBytes }: MemoryLimit, bytes: number): boolean =>
    (taken.get(name) ?? 0) + bytes > maxBytes

  /**
   * Lets waiting bodies grow as far as there is memory. A body that waits for the limit of its
   * address or key does not delay other addresses and keys.
   */
  function allowGrowths(): void {
    const blocked = new Set<string>()
    const growing = [...waitingBodies].filter(({ bytes }) => bytes > 0)
    for (const { limits, growth } of new Set([...growing, ...waitingBodies])) {
      if (growth === undefined) continue
      growth.blockedBy =
        limits.find(({ name }) => blocked.has(name)) ??
        limits.find((limit) => isFull(limit, growth.bytes))
      if (growth.blockedBy === undefined) growth.allow()
      else blocked.add(growth.blockedBy.name)
    }
    growing.findLast(isDeadlocked)?.growth?.refuse()
  }

  /**
   * Whether every body that holds memory under the same limit waits too, so that none of them will
   * free it.
   */
  function isDeadlocked({ growth }: OpenBody): boolean {
    const name = growth?.blockedBy?.name
    if (name === undefined) return false
    return ![...bodiesWithShare].some(
      (other) => other.growth === undefined && other.limits.some((limit) => limit.name === name),
    )
  }

  function wait(body: OpenBody, bytes: number): Promise<void> | undefined {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    let isAllowed = false
    const growth: Growth = {
      bytes,
      blockedBy: undefined,
      allow() {
        isAllowed = true
        end()
        take(body, bytes)
        resolve()
      },
      refuse() {
        end()
        reject((growth.blockedBy?.refusal ?? tooMuchInAll)())
      },
    }
    function end(): void {
      clearTimeout(timer)
      body.growth = undefined
      waitingBodies.delete(body)
    }
    const timer = setTimeout(() => {
      growth.refuse()
      // The bodies that wait behind this one may need less memory.
      allowGrowths()
    }, WAIT_MS)
    body.growth = growth
    waitingBodies.add(body)
    allowGrowths()
    return isAllowed ? undefined : promise
  }

  return {
    open(owner) {
      let body: OpenBody | undefined
      return {
        growTo(bytes) {
          if (bytes <= FREE_BODY_BYTES || bytes <= (body?.bytes ?? 0)) return undefined
          body ??= { limits: bodyLimitsOf(owner, limits), bytes: 0, growth: undefined }
          return wait(body, bytes - body.bytes)
        },
        release() {
          if (body === undefined) return
          body.growth?.refuse()
          if (body.bytes === 0) return
          take(body, -body.bytes)
          allowGrowths()
        },
      }
    },
  }
}

function bodyLimitsOf({ address, key }: BodyOwner, limits: AllowanceLimits): MemoryLimit[] {
  const { addressBytes, keyBytes, totalBytes } = limits
  return [
    {
      name: `address ${addressGroup(address)}`,
      maxBytes: addressBytes,
      refusal: () => tooMuch('Too many large requests from this address at once.'),
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
