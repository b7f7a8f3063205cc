/**
 * Keeps the certificate of `acme` valid: orders it at the first start, renews it, and orders it anew
 * when names or directory change. The previous one stays in use until its successor is on disk.
 *
 * An attempt is counted as failed before it begins. So a restart in the middle of an attempt, or a
 * loop of restarts, waits as long as after a failure. An orderly stop takes the count back. A
 * failure is a reason in `/health` until an order succeeds.
 */
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { formatSecond, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../base/clock.ts'
import { describeError } from '../../../base/errors.ts'
import type { AcmeConfig } from '../../../config/config.ts'
import { createHttpClient, type HttpClient } from '../../../outbound/http/client.ts'
import { startLoop } from '../../../work/loop.ts'
import type { Base } from '../../ground/base.ts'
import type { Challenges } from './challenges.ts'
import {
  type AcmeClient,
  type AcmeDeps,
  createAcmeClient,
  loadAccountKey,
  registerAccount,
} from './client.ts'
import { AcmeFailure } from './failure.ts'
import {
  type CurrentCertificate,
  findCurrent,
  findState,
  type OrderState,
  prepareFolder,
  writeCertificate,
  writeState,
} from './folder.ts'
import { orderCertificate } from './order.ts'
import {
  askRenewalWindow,
  barredUntil,
  certificateId,
  orderDueAt,
  orderRetryDelay,
  pointOf,
  restAfter,
  settingsDigest,
} from './renewal.ts'

type Deps = Pick<Base, 'certificates' | 'config' | 'counters' | 'log' | 'now' | 'resolver'> & {
  acmeChallenges: Challenges
}

type OrderingOptions = {
  /** For tests: replaces the client that requests the directory. */
  http?: Pick<HttpClient, 'request'>
  wait?: AcmeDeps['wait']
  random?: () => number
}

type CertificateOrders = {
  /** Orders the certificates that are due, and resolves when none is due. */
  turn(): Promise<void>
  stop(): Promise<void>
}

/** How often the clock is read, because it may be set while the loop waits. */
const LOOK_EVERY_MS = MINUTE_MS
const LEAST_PAUSE_MS = SECOND_MS
const ASK_AGAIN_MS = 6 * HOUR_MS

/** Returns null without `acme.email`. */
export function startCertificateOrders(
  deps: Deps,
  options: OrderingOptions = {},
): CertificateOrders | null {
  const { acme } = deps.config
  return acme === null ? null : startFor(deps, acme, options)
}

function startFor(deps: Deps, acme: AcmeConfig, options: OrderingOptions): CertificateOrders {
  const { certificates, log, now } = deps
  const stopping = new AbortController()
  const { signal } = stopping
  const settings = settingsDigest(acme)
  const order = createOrder(deps, acme, { ...options, signal })
  const suggestion: Suggestion = { at: null, askAt: 0 }

  /** Orders a certificate if one is due. Returns when to look again. */
  async function look(): Promise<number> {
    await prepareFolder(acme.folder)
    const [current, state] = await Promise.all([findCurrent(acme.folder), findState(acme.folder)])
    const barredAt = barredUntil(state, { settings, hasCurrent: current !== undefined }, now())
    if (current !== undefined && current.directoryUrl === acme.directoryUrl) {
      await order.ask(current, suggestion)
    }
    const dueAt = orderDueAt(current, acme, suggestion.at)
    // A kill may have come between writing the certificate and writing the state. Then the state
    // still says that the order failed, although the certificate is there.
    const hasFailed = dueAt <= now() && state?.settings === settings
    certificates.setOrderFault(hasFailed ? state.fault : null)
    const at = Math.max(dueAt, barredAt)
    if (now() < at) return at
    suggestion.at = null
    suggestion.askAt = 0
    return order.attempt(current, state)
  }

  const loop = startLoop({
    run: async () => Math.max((await look()) - now(), LEAST_PAUSE_MS),
    onError(error) {
      if (signal.aborted) return
      log.error({ error }, 'certificates cannot be ordered')
      certificates.setOrderFault(`Certificates cannot be ordered: ${describeError(error)}.`)
    },
    maxWaitMs: LOOK_EVERY_MS,
    keepsAlive: false,
  })
  return {
    turn: loop.turn,
    stop() {
      stopping.abort()
      return loop.stop()
    },
  }
}

/**
 * `at`: the time of the renewal that the authority suggests; null without a suggestion. `askAt`:
 * when to ask the authority for a suggestion again.
 */
type Suggestion = { at: number | null; askAt: number }

type Order = {
  /** Asks the authority for its suggestion, if `askAt` has come. */
  ask(current: CurrentCertificate, suggestion: Suggestion): Promise<void>
  /** Orders a certificate. Returns when to look again. */
  attempt(current: CurrentCertificate | undefined, state: OrderState | undefined): Promise<number>
}

function createOrder(
  deps: Deps,
  acme: AcmeConfig,
  {
    http,
    wait = sleepUntilAborted,
    random = Math.random,
    signal,
  }: OrderingOptions & { signal: AbortSignal },
): Order {
  const { acmeChallenges: challenges, certificates, counters, log, now } = deps
  const settings = settingsDigest(acme)

  async function withClient<T>(act: (client: AcmeClient) => Promise<T>): Promise<T> {
    const own = http === undefined ? createHttpClient(await clientOptions(deps, acme)) : undefined
    const accountKey = await loadAccountKey(acme)
    const shared = { http: http ?? (own as HttpClient), now, wait, signal }
    try {
      return await act(createAcmeClient(shared, { directoryUrl: acme.directoryUrl, accountKey }))
    } finally {
      own?.closeIdle()
    }
  }

  async function issue(current: CurrentCertificate | undefined): Promise<void> {
    const issued = await withClient(async (client) => {
      const account = await registerAccount(client, acme)
      const isRenewal = current?.directoryUrl === acme.directoryUrl
      const offersReplacement = (await client.resource('renewalInfo')) !== undefined
      const replaces =
        isRenewal && offersReplacement ? certificateId(current.certificate) : undefined
      const input = { account, domains: acme.domains, replaces }
      return orderCertificate({ client, challenges, now, wait, signal }, input)
    })
    await writeCertificate(acme.folder, acme, issued)
  }

  function stateAfter(
    failures: number,
    current: CurrentCertificate | undefined,
    error: AcmeFailure,
  ): OrderState {
    const delayMs = Math.max(orderRetryDelay(failures, error.kind, random), error.retryAfterMs ?? 0)
    const nextAttemptAt = Math.round(now() + delayMs)
    const head =
      current === undefined
        ? `No certificate could be ordered for ${acme.domains.join(', ')}`
        : 'The certificate could not be renewed by ACME, and the previous one stays in use'
    const fault = `${head}: ${error.message}. The next attempt is at ${formatSecond(nextAttemptAt)}.`
    return { settings, failures, nextAttemptAt, fault }
  }

  return {
    async ask(current, suggestion) {
      if (now() < suggestion.askAt) return
      suggestion.askAt = now() + ASK_AGAIN_MS
      try {
        const found = await withClient((client) =>
          askRenewalWindow(client, current.certificate, now()),
        )
        suggestion.askAt = now() + found.askAgainAfterMs
        suggestion.at = found.window && pointOf(current.certificate, found.window)
      } catch (error) {
        if (signal.aborted) throw error
        log.info({ reason: describeError(error) }, 'the authority suggests no time of renewal')
      }
    },
    async attempt(current, state) {
      const isOfSettings = state?.settings === settings
      const failures = (isOfSettings ? state.failures : 0) + 1
      const interrupted = new AcmeFailure('refused', 'the server was stopped during the order')
      await writeState(acme.folder, stateAfter(failures, current, interrupted))
      try {
        await issue(current)
      } catch (error) {
        if (signal.aborted) {
          await writeState(acme.folder, state)
          throw error
        }
        const failure = toFailure(error)
        const failed = stateAfter(failures, current, failure)
        await writeState(acme.folder, failed)
        counters.add('pillarbox_acme_orders_total', { outcome: 'failed' })
        certificates.setOrderFault(failed.fault)
        return failed.nextAttemptAt
      }
      const issued = await findCurrent(acme.folder)
      const restMs = issued === undefined ? 0 : restAfter(issued.certificate)
      const rested = {
        settings,
        failures: 0,
        nextAttemptAt: Math.round(now() + restMs),
        fault: null,
      }
      await writeState(acme.folder, rested)
      counters.add('pillarbox_acme_orders_total', { outcome: 'issued' })
      log.info({ domains: acme.domains }, 'a certificate was issued')
      certificates.setOrderFault(null)
      await certificates.look()
      return now()
    },
  }
}

async function clientOptions({ resolver }: Deps, { caFile }: AcmeConfig) {
  // Every address is allowed: the operator chooses the directory, which may be in a private
  // network.
  const options = { resolver, isAllowed: () => true, maxIdle: 1 }
  return caFile === null ? options : { ...options, ca: await readFile(caFile, 'utf8') }
}

function toFailure(error: unknown): AcmeFailure {
  if (error instanceof AcmeFailure) return error
  return new AcmeFailure('refused', describeError(error))
}

async function sleepUntilAborted(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal, ref: false })
}
