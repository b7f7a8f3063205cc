/**
 * The composition root: builds all parts, starts them in order, and stops them in reverse.
 *
 * Start: the server's lock, the database, the fence of a database that is older than it was, sandbox sink
 * and delivery threads; then the listeners, HTTP before mail; then the loops: queue, campaigns, jobs, backups,
 * certificates, search index and inbound mail. So a start that
 * fails, for example because a port is taken, has claimed nothing. Mail and requests that arrive before
 * the loops start are on disk and wait for them.
 *
 * Stop: HTTP accepts emails for as long as anything else takes time, so that a restart is short for its
 * clients. First the inbound sessions finish their messages, the loops end, and delivery puts back its
 * emails, but for those whose receiver has the message and is about to answer. Then HTTP finishes its
 * requests, and the parts that it needs end in the reverse of their start.
 */
import { now } from './base/clock.ts'
import { nativeBindingPath } from './config/addon.ts'
import type { Config, ListenAddress } from './config/config.ts'
import { prepareDataDir } from './config/secret.ts'
import { formatListenAddress } from './config/values/listen-address.ts'
import type { Core } from './core/core.ts'
import { startFollowers } from './core/followers.ts'
import { type OpenCore, type OpenOptions, openCore } from './core/open-core.ts'
import { createSchedule } from './core/schedule.ts'
import { startRequestLog } from './features/ground/requests/log.ts'
import { createRateLimiter } from './features/ground/requests/rate-limit.ts'
import { startProcessing } from './features/incoming/receiving/process/process.ts'
import { startReceivingDomains } from './features/incoming/receiving/receiving-domains.ts'
import { createDeliverer, type Deliverer } from './features/mail/messages/delivery/deliverer.ts'
import { startSettlingDisabled } from './features/mail/messages/disabled/settle.ts'
import { startSettlingFenced } from './features/mail/messages/fenced/settle.ts'
import { startFuse } from './features/mail/messages/outcome/fuse.ts'
import { createKnownDomains } from './features/mail/messages/outcome/known-domains.ts'
import { startQueue } from './features/mail/messages/queue/queue.ts'
import { createThrottle } from './features/mail/messages/queue/throttle.ts'
import { startHitWriter } from './features/mail/tracking/hit-writer.ts'
import { startOrdering } from './features/operation/acme/ordering.ts'
import { findLastBackup } from './features/operation/backup/record.ts'
import { startBackups } from './features/operation/backup/schedule/schedule.ts'
import { watchClock } from './features/operation/clock-watch.ts'
import { createDoctor } from './features/operation/doctor/doctor.ts'
import { startIdleCollection } from './features/operation/idle-memory.ts'
import { startAnswering } from './features/operation/questions/answer.ts'
import { startGenerationWatch } from './features/operation/recovery/watch.ts'
import { resealAll } from './features/operation/reseal.ts'
import { startCampaigns } from './features/outreach/campaigns/sending/loop.ts'
import { startSettling } from './features/outreach/campaigns/settle-stopped.ts'
import { startWebhookSender } from './features/outreach/webhooks/sending/sender.ts'
import { startEngine } from './features/outreach/workflows/engine/engine.ts'
import { startSettlingCancelled } from './features/outreach/workflows/executions/settle-cancelled.ts'
import { startRequester } from './features/outreach/workflows/requests/requester.ts'
import { startSchedules } from './features/outreach/workflows/schedule/loop.ts'
import { startSearchIndexer } from './features/people/contacts/list/search-index.ts'
import {
  prepareSandbox,
  type SandboxWelcome,
} from './features/tenancy/accounts/projects/sandbox-project.ts'
import { startMetering } from './features/tenancy/billing/metering/loop.ts'
import type { Tracker } from './formats/html/tracking.ts'
import { startChallengeListeners } from './http/server/challenge-listener.ts'
import { startHttp } from './http/server/server.ts'
import { startInboundReader } from './inbound/inbound-reader.ts'
import { startInbound } from './inbound/listener.ts'
import { startSandboxSink } from './inbound/sandbox-sink.ts'
import type { MailService } from './inbound/service.ts'
import { startSubmission } from './inbound/submission.ts'
import { endLeases } from './jobs/job-row.ts'
import { startJobs } from './jobs/jobs.ts'
import {
  type Outbound,
  type OutboundDeps,
  type OutboundListener,
  startOutbound,
} from './outbound/outbound.ts'
import { createProbes } from './outbound/probe/probes.ts'
import { readSpace } from './store/files/disk.ts'
import { lookForLog } from './store/files/log-mark.ts'
import { takeServeLock } from './store/files/serve-lock.ts'

/** The time for a stop; unfinished work is put back. */
const STOP_WITHIN_MS = 8_500
/** The part of it in which HTTP still accepts requests. */
const WORK_WITHIN_MS = 7_000
/** The least grace for each part, even the last. */
const LEAST_GRACE_MS = 500

/** The share of that time for inbound sessions. */
const MAIL_GRACE_MS = 3_000

/** The time for requests to Stripe: a client that waits for one gets an error, not a closed connection. */
const STRIPE_GRACE_MS = 2_000

export type App = {
  ready: {
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
  /** The credentials of sandbox mode, for sending a first message. */
  sandbox: SandboxWelcome | null
  /** How many writes were committed so far, and how many wait for their commit. */
  writes: OpenCore['store']['writes']
  stop(): Promise<void>
}

type AppOptions = Pick<OpenOptions, 'log' | 'counters' | 'onMigration' | 'createThread' | 'connect'>

type Stop = (graceMs: number) => Promise<void>

/**
 * The functions that stop the parts, in the order of starting; each gets its grace. `delivery` is in the
 * order of stopping: claims end before deliveries.
 */
type Stops = Record<'mail' | 'loops' | 'delivery' | 'http' | 'parts', Stop[]>

export async function startApp(config: Config, options: AppOptions): Promise<App> {
  const stops: Stops = { mail: [], loops: [], delivery: [], http: [], parts: [] }
  try {
    return await start(config, options, stops)
  } catch (error) {
    await stopAll(stops)
    throw error
  }
}

/**
 * Stops what has started; a second call finds nothing. A failure of one part does not keep the others
 * from stopping. @throws the first failure
 */
async function stopAll({ mail, loops, delivery, http, parts }: Stops): Promise<void> {
  const startedAt = performance.now()
  const failures: unknown[] = []
  const stopInTurn = async (stops: Stop[], withinMs: number) => {
    for (const stop of stops) {
      const graceMs = Math.max(LEAST_GRACE_MS, startedAt + withinMs - performance.now())
      await stop(graceMs).catch((error: unknown) => failures.push(error))
    }
  }
  await Promise.all([
    ...mail.splice(0).map((stop) => stopInTurn([stop], WORK_WITHIN_MS)),
    stopInTurn(loops.splice(0).reverse(), WORK_WITHIN_MS),
    stopInTurn(delivery.splice(0), WORK_WITHIN_MS),
  ])
  await stopInTurn(http.splice(0), STOP_WITHIN_MS)
  await stopInTurn(parts.splice(0).reverse(), STOP_WITHIN_MS)
  if (failures.length > 0) throw failures[0]
}

async function start(config: Config, { log, ...options }: AppOptions, stops: Stops): Promise<App> {
  await prepareDataDir(config)
  const nativeBinding = nativeBindingPath(config.dataDir)
  // Before anything opens the database, which makes a new log.
  lookForLog(config.database.file, nativeBinding)
  const lock = await takeServeLock(config.database.file, { log, nativeBinding })
  stops.parts.push(async () => lock.release())
  const base = await openCore(config, { log, ...options, watch: true })
  stops.parts.push(base.close)
  // Before anything acts: an older database is fenced.
  stops.parts.push((await startGenerationWatch(base)).stop)
  const unwatchClock = watchClock(base)
  const endCollection = startIdleCollection()
  stops.parts.push(async () => unwatchClock())
  stops.parts.push(async () => endCollection())
  if (config.secretPrevious !== null) await resealAll(base)
  const inboundHosts = await watchInboundHosts(base, stops)
  const { core, delivery } = await prepareDelivery(base, inboundHosts, stops)
  watchOtherProcesses(core, stops)
  stops.parts.push(startAnswering(core).stop)
  const listening = await listen(core, inboundHosts, stops)
  await work(core, delivery, stops)
  // Last, so that credentials are made only when they will be shown.
  const sandbox = config.delivery.mode === 'sandbox' ? await prepareSandbox(base) : null
  const ready = { event: 'ready', mode: config.delivery.mode, ...listening } as const
  return { ready, sandbox, writes: base.store.writes, stop: () => stopAll(stops) }
}

/** Binds every address; the server accepts requests and mail from now on. */
async function listen(
  core: Core,
  inboundHosts: InboundHosts,
  stops: Stops,
): Promise<Pick<App['ready'], 'http' | 'inbound' | 'submission' | 'acme'>> {
  const requestLog = startRequestLog(core)
  stops.parts.push(requestLog.stop)
  const limiter = createRateLimiter(core.config.limits.apiRequestsPerMinute, now)
  const http = await startHttp({ core, requestLog, limiter })
  stops.http.push(http.stop)
  stops.mail.push(async () => http.announceStop())
  const inbound = await startInbound(core)
  stops.mail.push(mailStop(inbound))
  inboundHosts.listeners.push(...inbound.addresses)
  const submission = await startSubmission(core, { limiter })
  stops.mail.push(mailStop(submission))
  stops.mail.push(async () => core.stripe?.close(STRIPE_GRACE_MS))
  core.doctor.start({
    http: { ...http.address, isTls: core.config.http.tls !== null },
    inbound: inbound.addresses,
    submission: submission.addresses,
  })
  const places = ([name, { addresses }]: [string, Pick<MailService, 'addresses'>]) =>
    addresses.length === 0 ? [] : [[name, addresses.map(formatListenAddress)]]
  const acme = await startChallengeListeners(core)
  stops.mail.push(acme.stop)
  const others = Object.entries({ inbound, submission, acme }).flatMap(places)
  return { http: http.url, ...Object.fromEntries(others) }
}

/** Starts the loops that claim waiting work. */
async function work(core: Core, delivery: Deliverer, stops: Stops): Promise<void> {
  const { store, log, counters } = core
  const queue = startQueue(core, delivery)
  stops.delivery.unshift(queue.stop)
  stops.loops.push(startSettlingFenced(core).stop)
  const settling = startSettling(core)
  stops.loops.push(settling.stop, startSettlingDisabled(core).stop)
  const campaigns = startCampaigns(core)
  stops.loops.push(campaigns.stop)
  stops.loops.push(startFollowers(core).stop)
  if (core.stripe !== null) stops.loops.push(startMetering({ ...core, stripe: core.stripe }).stop)
  stops.loops.push(startSettlingCancelled(core).stop, startSchedules(core).stop)
  const engine = await startEngine(core)
  stops.loops.push(engine.stop)
  // The server's lock proves that no other process runs jobs.
  await store.write((tx) => endLeases(tx, now()))
  const jobs = startJobs({ store, log, counters, now, ...createSchedule(core) })
  const unwatchJobs = core.jobNotifier.listen(jobs.wake)
  stops.loops.push(jobs.stop, async () => unwatchJobs(), startBackups(core).stop)
  const webhooks = startWebhookSender(core)
  const requester = startRequester(core)
  // Both wait for answers.
  const stopRequests: Stop = async (graceMs) => {
    await Promise.all([webhooks.stop(graceMs), requester.stop(graceMs)])
  }
  stops.loops.push(stopRequests)
  const ordering = startOrdering(core)
  stops.loops.push(async () => ordering?.stop())
  const searchIndex = startSearchIndexer(core)
  stops.loops.push(searchIndex.stop)
  await startReading(core, stops)
}

/**
 * The listeners for inbound mail. Delivery to one of them is a loop, unless this server receives mail
 * for the domain.
 */
type InboundHosts = Required<Pick<OutboundDeps, 'inboundListeners' | 'receivedDomains'>> & {
  /** Filled when the listeners are bound. */
  listeners: ListenAddress[]
}

async function watchInboundHosts(base: OpenCore, stops: Stops): Promise<InboundHosts> {
  const listeners: ListenAddress[] = []
  const { domains, stop } = await startReceivingDomains(base)
  stops.parts.push(async () => stop())
  return {
    listeners,
    inboundListeners: () => listeners,
    receivedDomains: base.config.inbound.listen.length > 0 ? domains : new Set(),
  }
}

/** Starts the threads that parse inbound mail, and the loop that applies their results. */
async function startReading(core: Core, stops: Stops): Promise<void> {
  const { config, log, counters } = core
  const settings = { dnsServers: config.dns.servers, hostname: config.delivery.hostname }
  const reader = startInboundReader({ settings, log, counters })
  stops.loops.push(reader.stop)
  const processing = await startProcessing(core, reader)
  stops.loops.push(processing.stop)
}

function mailStop(service: MailService): Stop {
  return (graceMs) => service.stop(Math.min(graceMs, MAIL_GRACE_MS))
}

/** Starts outbound and the recording of results and hits. Delivery begins when the queue starts. */
async function prepareDelivery(
  base: OpenCore,
  inboundHosts: InboundHosts,
  stops: Stops,
): Promise<{ core: Core; delivery: Deliverer }> {
  const { config, log, counters, resolver } = base
  const sandboxPort = await startSink(base, stops)
  // Nothing is delivered before the deliverer listens.
  const listener: OutboundListener = { finished: () => undefined }
  const outbound: Outbound = startOutbound(
    {
      config,
      log,
      counters,
      now,
      resolver,
      sandboxPort,
      tracker: trackerOf(base),
      ...inboundHosts,
    },
    listener,
  )
  const hits = startHitWriter(base)
  stops.parts.push(hits.stop)
  const fuse = await startFuse(base)
  stops.parts.push(async () => fuse.stop())
  const throttle = createThrottle(config.limits.emailsPerSecond, now)
  const knownDomains = createKnownDomains()
  const probes = createProbes({ resolver, now })
  const doctor = createDoctor({
    ...base,
    ...{ outbound, probes, readSpace, findLastBackup: () => findLastBackup(base) },
  })
  stops.parts.push(async () => doctor.stop())
  const core: Core = { ...base, outbound, hits, throttle, fuse, knownDomains, doctor }
  const delivery = createDeliverer(core)
  listener.finished = delivery.finished
  stops.parts.push(outbound.stop)
  stops.delivery.push(async (graceMs) => {
    await outbound.endDeliveries(graceMs)
    await delivery.settled(graceMs)
  })
  return { core, delivery }
}

function trackerOf({ config, keyring }: OpenCore): Tracker {
  const { baseUrl } = config
  return { baseUrl, openKey: keyring.keys('open')[0], clickKey: keyring.keys('click')[0] }
}

async function startSink(base: OpenCore, stops: Stops): Promise<number | undefined> {
  if (base.config.delivery.mode !== 'sandbox') return undefined
  const sink = await startSandboxSink(base)
  stops.parts.push(sink.stop)
  return sink.port
}

/** Drops caches and wakes the loops when a command has changed the database. */
function watchOtherProcesses(
  { store, directory, queueNotifier, inboundNotifier }: Core,
  stops: Stops,
): void {
  const unwatch = store.onExternalChange(() => {
    directory.drop()
    queueNotifier.notify('anywhere')
    inboundNotifier.notify('changed')
  })
  stops.parts.push(async () => unwatch())
}
