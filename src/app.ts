/**
 * The composition root: builds every part, starts them in order, stops them in reverse.
 *
 * Start: database, sandbox sink, delivery, queue, jobs, HTTP. By the time HTTP answers, everything
 * behind it works. Stop: HTTP finishes what it was asked, the queue claims no more, delivery
 * finishes or returns what it has, outcomes reach the disk, the rest follows.
 */
import { now } from './clock.ts'
import { nativeBindingPath } from './config/assets.ts'
import type { Config } from './config/config.ts'
import { prepareSandbox, type SandboxWelcome } from './features/accounts/sandbox.ts'
import type { Core } from './features/core.ts'
import { resealDomainKeys } from './features/domains/reseal.ts'
import { createDelivery, type Delivery } from './features/messages/deliver.ts'
import { countQueue } from './features/messages/operate.ts'
import { startQueue } from './features/messages/queue.ts'
import { type OpenCore, openCore } from './features/open-core.ts'
import { startRequestLog } from './features/requests/log.ts'
import { createSchedule } from './features/schedule.ts'
import type { Gauge } from './http/metrics.ts'
import { startHttp } from './http/server.ts'
import { startSandboxSink } from './inbound/sandbox-sink.ts'
import { startJobs } from './jobs/jobs.ts'
import type { Log } from './log.ts'
import { type Outbound, startOutbound } from './outbound/outbound.ts'
import { takeServeLock } from './store/serve-lock.ts'

/** From SIGTERM to the end: what is in hand by then goes back to where it came from. */
const STOP_WITHIN_MS = 8_500
/** Whoever comes last still gets this much of it. */
const LEAST_GRACE_MS = 500

export type App = {
  ready: { event: 'ready'; http: string; mode: Config['delivery']['mode'] }
  /** In sandbox mode: what a newcomer needs to send a first message. */
  sandbox: SandboxWelcome | null
  stop(): Promise<void>
}

/** What to do to stop, in the order of starting; each is told how long it may take. */
type Stops = ((graceMs: number) => Promise<void>)[]

export async function startApp(config: Config, { log }: { log: Log }): Promise<App> {
  const stops: Stops = []
  try {
    return await start(config, log, stops)
  } catch (error) {
    await stopAll(stops)
    throw error
  }
}

async function stopAll(stops: Stops): Promise<void> {
  const deadline = performance.now() + STOP_WITHIN_MS
  for (const stop of stops.splice(0).reverse()) {
    await stop(Math.max(LEAST_GRACE_MS, deadline - performance.now()))
  }
}

async function start(config: Config, log: Log, stops: Stops): Promise<App> {
  const base = await openCore(config, { log, watch: true })
  stops.push(base.close)
  const lock = takeServeLock(config.database.file, nativeBindingPath(config.dataDir))
  stops.push(async () => lock.release())
  if (config.secretPrevious !== null) await resealDomainKeys(base)
  const core = await startDelivery(base, stops)
  watchOtherProcesses(core, stops)
  const { handlers, cron } = createSchedule(core)
  const jobs = startJobs({ store: core.store, log, now, handlers, cron })
  stops.push(jobs.stop)
  const requestLog = startRequestLog(core)
  stops.push(requestLog.stop)
  const http = await startHttp({ core, requestLog, gauges: [queueGauge(core)] })
  stops.push(http.stop)
  // Last, so that credentials are made only when they will be shown.
  const sandbox = config.delivery.mode === 'sandbox' ? await prepareSandbox(base) : null
  const ready = { event: 'ready', http: http.url, mode: config.delivery.mode } as const
  return { ready, sandbox, stop: () => stopAll(stops) }
}

/** Outbound, the recording of its outcomes, and the queue that feeds it. */
async function startDelivery(base: OpenCore, stops: Stops): Promise<Core> {
  const { config, log, resolver } = base
  const sandboxPort = await startSink(base, stops)
  let delivery: Delivery | undefined
  const outbound: Outbound = startOutbound(
    { config, log, now, resolver, sandboxPort },
    { report: (reports) => delivery?.report(reports) },
  )
  const core: Core = { ...base, outbound }
  delivery = createDelivery(core)
  const queue = startQueue(core, delivery)
  const { settled } = delivery
  stops.push(async (graceMs) => {
    await queue.stop()
    await outbound.stop(graceMs)
    await settled(graceMs)
  })
  return core
}

async function startSink(base: OpenCore, stops: Stops): Promise<number | undefined> {
  if (base.config.delivery.mode !== 'sandbox') return undefined
  const sink = await startSandboxSink(base)
  stops.push(sink.stop)
  return sink.port
}

/** A command took effect on the same file: forget what was remembered, look at the queue. */
function watchOtherProcesses({ store, directory, bell }: Core, stops: Stops): void {
  const unwatch = store.onExternalChange(() => {
    directory.drop()
    bell.ring('anywhere')
  })
  stops.push(async () => unwatch())
}

function queueGauge(core: Core): Gauge {
  return {
    name: 'pillarbox_queue_emails',
    help: 'Emails on their way, by queue state',
    labelNames: ['state'],
    read: async () =>
      (await countQueue(core)).map(({ state, count }) => ({ value: count, labels: { state } })),
  }
}
