/**
 * The server of a run: an installation in a folder of its own, started and killed again and again on
 * the same ports, so that clients find it as they would. Its log goes to `server.log`.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, openSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { findExecutable } from '../../bench/server.ts'

export type CommandResult = { status: number; stdout: string; stderr: string }

export type Server = {
  folder: string
  database: string
  logFile: string
  /** Starts the process and waits for its ready line. */
  start(): Promise<void>
  /** kill -9, and a start at once. */
  kill(): Promise<void>
  /**
   * SIGTERM. `late`: the server has killed itself, because it could not stop in time. Any other text says
   * what is wrong with its end.
   */
  stop(): Promise<'late' | (string & {}) | undefined>
  /** The process id. @throws Error while none runs */
  pid(): number
  /** Runs a command beside the server. */
  command(...argv: string[]): Promise<CommandResult>
  /** Ends the process, if any, whatever its state is. */
  end(): Promise<void>
}

const MAIN = path.join(import.meta.dirname, '../../../src/main.ts')
/** The server gives work in hand 10 seconds. */
const STOP_MS = 20_000
const READY_MS = 240_000
const COMMAND_MS = 120_000

/** The program and its first arguments: the executable asked for, the built one, or the sources. */
export function findProgram(executable: string | undefined): string[] {
  if (executable !== undefined) {
    if (!existsSync(executable)) throw new Error(`${executable} does not exist`)
    return [path.resolve(executable)]
  }
  try {
    return [findExecutable()]
  } catch {
    return [process.execPath, MAIN]
  }
}

export function createServer(
  program: readonly string[],
  { folder, configuration }: { folder: string; configuration: string },
): Server {
  const configFile = path.join(folder, 'pillarbox.toml')
  writeFileSync(configFile, configuration, { mode: 0o600 })
  const logFile = path.join(folder, 'server.log')
  const [file = '', ...first] = program
  const args = (...argv: string[]) => [...first, '--config', configFile, ...argv]
  let child: ChildProcess | undefined

  async function start(): Promise<void> {
    const log = openSync(logFile, 'a')
    child = spawn(file, args('serve'), { cwd: folder, stdio: ['ignore', 'pipe', log] })
    await waitForReady(child)
  }

  async function end(): Promise<void> {
    const ending = child
    child = undefined
    if (ending === undefined || hasEnded(ending)) return
    const exited = once(ending, 'exit')
    ending.kill('SIGKILL')
    await exited
  }

  async function stop(): Promise<string | undefined> {
    const stopping = child
    if (stopping === undefined) return undefined
    const exited = hasEnded(stopping) ? Promise.resolve() : once(stopping, 'exit')
    stopping.kill('SIGTERM')
    const inTime = await Promise.race([exited.then(() => true), sleep(STOP_MS, false)])
    if (!inTime) {
      await end()
      return `it does not stop within ${STOP_MS / 1_000} s`
    }
    child = undefined
    if (stopping.exitCode === 0) return undefined
    if (stopping.signalCode === 'SIGKILL') return 'late'
    return `it ended with ${stopping.exitCode ?? stopping.signalCode}`
  }

  return {
    folder,
    database: path.join(folder, 'data/pillarbox.db'),
    logFile,
    start,
    end,
    stop,
    async kill() {
      await end()
      await start()
    },
    pid() {
      if (child?.pid === undefined) throw new Error('no server runs')
      return child.pid
    },
    command: (...argv) => runCommand(file, args(...argv), folder),
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

async function waitForReady(child: ChildProcess): Promise<void> {
  const ready = Promise.withResolvers<void>()
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).once('line', () =>
    ready.resolve(),
  )
  child.once('exit', (code, signal) =>
    ready.reject(new Error(`serve ended before it was ready: ${code ?? signal}`)),
  )
  const timer = setTimeout(() => ready.reject(new Error('serve does not get ready')), READY_MS)
  await ready.promise.finally(() => clearTimeout(timer))
  child.stdout?.resume()
}

function runCommand(file: string, argv: string[], cwd: string): Promise<CommandResult> {
  return new Promise((resolve) => {
    execFile(file, argv, { cwd, timeout: COMMAND_MS }, (error, stdout, stderr) => {
      const status = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
      resolve({ status, stdout, stderr })
    })
  })
}
