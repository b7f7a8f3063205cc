/** The status of sites and of deliveries in progress, as `queue show` and `queue sites` print it. */
import type { CurrentStep } from '../attempt.ts'
import type { Delivery } from '../delivery.ts'
import type { DeliveryThread, FromThread } from '../protocol.ts'
import type { SiteShaping } from './shaping.ts'

/** The limits of a site now, and why they are not higher. */
export type SiteStatus = {
  site: string
  /** Connections allocated to the site now. */
  connections: number
  /** The use that the site limits: `mail` = nothing is sent; null = it is not restricted. */
  limited: 'mail' | 'rate' | 'connections' | null
  /** How many connections the site may have now. */
  maxConnections: number
  /** null = no limit of rate now. */
  messagesPerMinute: number | null
  /** Until when that rate holds; null without one. Epoch ms. */
  rateUntil: number | null
  /** Messages with the delivery threads or waiting for a connection. */
  inFlight: number
  /**
   * Since when little or no mail may be sent to the site; null = it is not restricted. Epoch ms.
   */
  restrictedSince: number | null
  /**
   * Until when no mail may be sent to the site; null = mail may be sent. Epoch ms, never in the
   * past.
   */
  blockedUntil: number | null
  /** The reply (or error) that caused the restriction: when, and its one-line text. */
  cause: { at: number; text: string } | null
}

export type DeliveryProgress = {
  site: string
  /** The current step: the DNS look-up of the destination, then the steps in the delivery thread. */
  step: 'dns' | CurrentStep['step']
  /** The server of the session; null before a connection. */
  peer: { host: string; address: string } | null
  /** Since when the delivery is at that step; epoch ms. */
  since: number
}

type Sources = {
  shaping: Pick<SiteShaping, 'connections' | 'restriction'>
  queues: { count(site: string): number }
  deliveries: { connectionsOf(site: string): number }
}

type ProgressQueries = {
  /** Resolves to undefined if the delivery's thread no longer has it. */
  progressOf(delivery: Delivery): Promise<DeliveryProgress | undefined>
  received(message: Extract<FromThread, { type: 'progress' }>): void
}

/** The answer of a thread: null if the thread does not have the task, undefined if the thread does not reply. */
type ThreadStep = CurrentStep | null | undefined

const TIMEOUT_MS = 500

export function statusOf({ shaping, queues, deliveries }: Sources, site: string): SiteStatus {
  const { pausedUntil, ...restriction } = shaping.restriction(site)
  return {
    site,
    connections: deliveries.connectionsOf(site),
    maxConnections: shaping.connections(site),
    inFlight: queues.count(site),
    blockedUntil: pausedUntil,
    ...restriction,
  }
}

/**
 * On the main thread: asks a delivery thread for the current step of a delivery. A thread that is busy with a long
 * message, or that ends, does not reply; the query then times out.
 */
export function createProgressQueries(): ProgressQueries {
  const open = new Map<number, (progress: ThreadStep) => void>()
  let last = 0

  function query(thread: DeliveryThread, task: number): Promise<ThreadStep> {
    const number = ++last
    return new Promise((resolve) => {
      const settle = (progress: ThreadStep) => {
        clearTimeout(timer)
        open.delete(number)
        resolve(progress)
      }
      const timer = setTimeout(settle, TIMEOUT_MS, undefined)
      open.set(number, settle)
      thread.postMessage({ type: 'progress', query: number, task })
    })
  }

  return {
    async progressOf({ thread, task, since, pool }) {
      const waiting = { site: pool.site, step: 'waiting', since, peer: null } as const
      if (thread === null) return waiting
      const current = await query(thread, task)
      if (current === null) return undefined
      // A thread that does not reply is composing another message.
      if (current === undefined || current.step === 'waiting') return waiting
      return { ...current, site: pool.site }
    },
    received: ({ query, current }) => open.get(query)?.(current),
  }
}
