/** Binds every address: the server accepts requests and mail from then on. */
import { now } from '../base/clock.ts'
import type { Config, ListenAddress } from '../config/config.ts'
import { formatListenAddress } from '../config/values/listen-address.ts'
import type { Core } from '../core/core.ts'
import { startRequestLog } from '../features/ground/requests/log.ts'
import { createRateLimiter } from '../features/ground/requests/rate-limit.ts'
import { startChallengeListeners } from '../http/server/challenge-listener.ts'
import { startHttp } from '../http/server/server.ts'
import { startInbound } from '../inbound/listener.ts'
import type { MailService } from '../inbound/service.ts'
import { startSubmission } from '../inbound/submission.ts'
import type { Stop, Stops } from './stops.ts'

export type Ready = {
  event: 'ready'
  /** The address of the API. With ACME it may open later, when there is a certificate. */
  http: string
  mode: Config['delivery']['mode']
  /** The bound addresses for inbound mail; absent without any. */
  inbound?: string[]
  /** The bound addresses for submission; absent without any. */
  submission?: string[]
  /** The bound addresses for the challenges of ACME; absent without any. */
  acme?: string[]
}

/** The share of the time of a stop for inbound sessions. */
const MAIL_GRACE_MS = 3_000

/** The time for requests to Stripe: a client that waits for one gets an error, not a closed connection. */
const STRIPE_GRACE_MS = 2_000

/** `inboundListeners`: gets the bound addresses for inbound mail. */
export async function listen(
  core: Core,
  inboundListeners: ListenAddress[],
  stops: Stops,
): Promise<Ready> {
  const requestLog = startRequestLog(core)
  stops.parts.push(requestLog.stop)
  const limiter = createRateLimiter(core.config.limits.apiRequestsPerMinute, now)
  const http = await startHttp({ core, requestLog, limiter })
  stops.http.push(http.stop)
  stops.mail.push(async () => http.announceStop())
  const inbound = await startInbound(core)
  stops.mail.push(mailStop(inbound))
  inboundListeners.push(...inbound.addresses)
  const submission = await startSubmission(core, { limiter })
  stops.mail.push(mailStop(submission))
  stops.mail.push(async () => core.stripe?.close(STRIPE_GRACE_MS))
  core.doctor.start({
    http: { ...http.address, isTls: core.config.http.tls !== null },
    inbound: inbound.addresses,
    submission: submission.addresses,
  })
  const acme = await startChallengeListeners(core)
  stops.mail.push(acme.stop)
  const { mode } = core.config.delivery
  return { event: 'ready', mode, http: http.url, ...placesOf({ inbound, submission, acme }) }
}

function placesOf(services: Record<string, Pick<MailService, 'addresses'>>) {
  const bound = Object.entries(services).filter(([, { addresses }]) => addresses.length > 0)
  return Object.fromEntries(
    bound.map(([name, { addresses }]) => [name, addresses.map(formatListenAddress)]),
  )
}

function mailStop(service: MailService): Stop {
  return (graceMs) => service.stop(Math.min(graceMs, MAIL_GRACE_MS))
}
