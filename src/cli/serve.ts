/**
 * `serve`: runs the server until SIGTERM, SIGINT or SIGHUP, then finishes the work under way or
 * puts it back, within 10 seconds. A second signal, or the end of that time, kills the process;
 * accepted mail is already on disk.
 */
import { setFlagsFromString } from 'node:v8'
import { type App, startApp } from '../app.ts'
import { createCounters } from '../base/counters.ts'
import { createLog, type Log } from '../base/log.ts'
import { listAllWarnings } from './config.ts'
import type { CommandContext, Result } from './engine/command.ts'
import { asFileOwner } from './engine/file-owner.ts'
import type { Signals } from './engine/terminal.ts'
import { explainUnconfigured, reportServiceState } from './systemd/service-state.ts'
import { formatSetup, formatWelcome } from './welcome.ts'

/**
 * Flags of V8. The old space grows by 40% between collections instead of fourfold, which lowers the
 * peak of memory under load by a third, at no measurable cost in speed. The executable's flag for
 * the size of nurseries (`build.config.ts`) would override the limits that threads are started
 * with, so it is set to 0 before the first thread starts; the main thread keeps its nursery.
 */
const HEAP_FLAGS = ['--heap-growing-percent=40', '--max-semi-space-size=0']
const STOP_WITHIN_MS = 9_500
const STOP_SIGNALS: NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGHUP']

/**
 * Runs `serve`. If root starts it, the server runs as the owner of its files
 * (`engine/file-owner.ts`).
 */
export async function serveCommand(context: CommandContext): Promise<Result> {
  HEAP_FLAGS.forEach(setFlagsFromString)
  const { config } = await context.configuration.load({ isQuiet: true })
  const isFinal = context.terminal.isWholeProcess
  return asFileOwner(config, () => serve(context), { isFinal, makesDataDir: true })
}

async function serve(context: CommandContext): Promise<Result> {
  // The configuration is loaded again as the owner of the files, because the server reads its
  // certificates as this user.
  const loaded = await context.configuration.check()
  const counters = createCounters()
  const log = createLog(loaded.config.log.level, undefined, {
    onLeftOut: () => counters.add('pillarbox_log_lines_suppressed_total'),
  })
  for (const warning of await listAllWarnings(context, loaded)) log.warn(warning)
  const stopping = waitForSignal(context.terminal.signals)
  const service = reportServiceState(context.terminal.env, log)
  try {
    const onMigration = service.migrating
    const app = await startApp(loaded.config, { log, counters, onMigration })
    announce(context, app, loaded.config.baseUrl)
    service.ready(app)
    log.info({ signal: await stopping.signal }, 'stopping')
    service.stopping()
    await stop(app, log)
    return null
  } catch (error) {
    throw explainUnconfigured(error, { env: context.terminal.env, loaded })
  } finally {
    service.close()
    stopping.removeListeners()
  }
}

function announce(context: CommandContext, { ready, sandbox, setup }: App, baseUrl: string): void {
  const lines = [JSON.stringify(ready)]
  const login = setup === null ? `${baseUrl}/app/login` : null
  if (sandbox !== null) lines.push(formatWelcome(context, sandbox, { api: ready.http, login }))
  if (setup !== null) lines.push(formatSetup(context, setup))
  context.terminal.stdout.write(`${lines.join('\n')}\n`)
}

async function stop(app: App, log: Log): Promise<void> {
  const giveUp = setTimeout(() => {
    log.fatal('the server did not stop in time and is killed')
    process.kill(process.pid, 'SIGKILL')
  }, STOP_WITHIN_MS)
  try {
    await app.stop()
  } finally {
    clearTimeout(giveUp)
  }
}

/**
 * Waits for the first signal; a second SIGTERM or SIGINT then kills the process. A second SIGHUP
 * has no effect, because shells send two SIGHUPs to their jobs when a terminal is closed.
 */
function waitForSignal(signals: Signals) {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>()
  const listeners = STOP_SIGNALS.map((signal) => ({
    signal,
    listener: () => {
      removeListeners()
      resolve(signal)
    },
  }))
  const removeListeners = () => {
    for (const { signal, listener } of listeners) signals.off(signal, listener)
  }
  signals.on('SIGHUP', ignore)
  for (const { signal, listener } of listeners) signals.on(signal, listener)
  return { signal: promise, removeListeners }
}

const ignore = () => undefined
