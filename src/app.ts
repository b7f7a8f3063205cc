/**
 * The composition root: builds all parts, starts them in order, and stops them (`app/stops.ts`).
 *
 * Start: the server's lock, the database, the fence of a database that has become older,
 * sandbox sink and delivery threads; then the listeners, HTTP before mail; then the queue, the loops of the
 * areas, the jobs and the reader of inbound mail. So a start that fails, for example because a port is
 * taken, has claimed nothing. Mail and requests that arrive before the loops start are on disk and wait for
 * them.
 */
import { prepareDelivery } from './app/delivery.ts'
import { listen, type Ready } from './app/listen.ts'
import { createStops, type Stops, stopAll } from './app/stops.ts'
import { now } from './base/clock.ts'
import { nativeBindingPath } from './config/addon.ts'
import type { Config, ListenAddress } from './config/config.ts'
import { prepareDataDir } from './config/secret.ts'
import { AREAS, createSchedule, startReaders } from './core/areas.ts'
import type { Core } from './core/core.ts'
import { type OpenCore, type OpenOptions, openCore } from './core/open-core.ts'
import { startProcessing } from './features/incoming/receiving/process/process.ts'
import { startQueue } from './features/mail/messages/queue/queue.ts'
import { watchClock } from './features/operation/clock-watch.ts'
import { startIdleCollection } from './features/operation/idle-memory.ts'
import { startAnswering } from './features/operation/questions/answer.ts'
import { startGenerationWatch } from './features/operation/recovery/notice-older.ts'
import { resealAll } from './features/operation/seals/seals.ts'
import {
  prepareSandbox,
  type SandboxWelcome,
} from './features/tenancy/accounts/projects/sandbox-project.ts'
import { makeSetupLink, type SetupLink } from './features/tenancy/accounts/setup/link.ts'
import { startInboundReader } from './inbound/inbound-reader.ts'
import { lookForLog } from './store/files/log-mark.ts'
import { takeServeLock } from './store/files/serve-lock.ts'
import { deleteForeignTicks, endLeases } from './work/jobs/job-row.ts'
import { startJobs } from './work/jobs/jobs.ts'

export type App = {
  ready: Ready
  /** The credentials of sandbox mode, for sending a first message. */
  sandbox: SandboxWelcome | null
  /** The link to make the first user in a browser; null if a user may log in. */
  setup: SetupLink | null
  /** How many writes were committed so far, and how many wait for their commit. */
  writes: OpenCore['store']['writes']
  stop(): Promise<void>
}

type AppOptions = Pick<OpenOptions, 'log' | 'counters' | 'onMigration' | 'createThread' | 'connect'>

export async function startApp(config: Config, options: AppOptions): Promise<App> {
  const stops = createStops()
  try {
    return await start(config, options, stops)
  } catch (error) {
    await stopAll(stops)
    throw error
  }
}

async function start(config: Config, options: AppOptions, stops: Stops): Promise<App> {
  const base = await open(config, options, stops)
  const inboundListeners: ListenAddress[] = []
  const { core, deliverer } = await prepareDelivery(base, inboundListeners, stops)
  watchOtherProcesses(core, stops)
  stops.parts.push(startAnswering(core).stop)
  const ready = await listen(core, inboundListeners, stops)
  const queue = startQueue(core, deliverer)
  stops.delivery.unshift(queue.stop)
  await startLoops(core, stops)
  await startRunningJobs(core, stops)
  await startReading(core, stops)
  // The credentials are made last, so that they are made only if they will be shown.
  const sandbox = config.delivery.mode === 'sandbox' ? await prepareSandbox(base) : null
  const setup = await makeSetupLink(base)
  return { ready, sandbox, setup, writes: base.store.writes, stop: () => stopAll(stops) }
}

/** Takes the server's lock, then opens the database. */
async function open(
  config: Config,
  { log, ...options }: AppOptions,
  stops: Stops,
): Promise<OpenCore> {
  await prepareDataDir(config)
  const nativeBinding = nativeBindingPath(config.dataDir)
  // The look comes before anything opens the database, because opening it makes a new log.
  lookForLog(config.database.file, nativeBinding)
  const lock = await takeServeLock(config.database.file, { log, nativeBinding })
  stops.parts.push(async () => lock.release())
  const base = await openCore(config, { log, ...options, watch: true })
  stops.parts.push(base.close)
  // The watch starts before anything acts, because it fences an older database.
  stops.parts.push((await startGenerationWatch(base)).stop)
  const unwatchClock = watchClock(base)
  const endCollection = startIdleCollection()
  stops.parts.push(async () => unwatchClock())
  stops.parts.push(async () => endCollection())
  if (config.secretPrevious !== null) await resealAll(base)
  return base
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

async function startLoops(core: Core, stops: Stops): Promise<void> {
  for (const startLoop of AREAS.flatMap(({ loops }) => loops)) {
    const loop = await startLoop(core)
    if (loop !== null) stops.loops.push(loop.stop)
  }
  stops.loops.push(startReaders(core).stop)
}

async function startRunningJobs(core: Core, stops: Stops): Promise<void> {
  const { store, log, counters, jobNotifier, jobCancels } = core
  const schedule = createSchedule(core)
  // The server's lock proves that no other process runs jobs.
  await store.write(async (tx) => {
    await deleteForeignTicks(tx, Object.keys(schedule.handlers))
    await endLeases(tx, now())
  })
  const jobs = startJobs({ store, log, counters, now, ...schedule })
  const unwatch = jobNotifier.listen(jobs.wake)
  const unwatchCancels = jobCancels.listen(jobs.cancel)
  stops.jobs.push(
    jobs.stop,
    async () => unwatch(),
    async () => unwatchCancels(),
  )
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
