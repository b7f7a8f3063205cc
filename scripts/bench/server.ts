/**
 * The measured program: its folder, its commands, its process. It is the packaged executable or, with
 * `-- --source` after the benchmark's name, the sources.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { outputFolder, runtimeFlags, targets } from '../../build.config.ts'

const run = promisify(execFile)

export type Running = {
  url: string
  /** The bound addresses of the inbound listeners. */
  inbound: readonly string[]
  pid: number
  /** Time from the start of the process to its ready line. */
  readyMs: number
  stop(): Promise<void>
}

export type Bench = {
  folder: string
  database: string
  /** Runs a command with --json and returns its output, without blocking this process. */
  command(...argv: string[]): Promise<unknown>
  serve(): Promise<Running>
  /**
   * The longest processor time of a turn of the server's event loop since `at` (epoch ms); undefined for the
   * packaged executable.
   */
  findTurnMs(at: number): number | undefined
  remove(): void
}

/** @throws Error when the executable has not been built */
export function findExecutable(): string {
  const name = `${process.platform}-${process.arch}`
  const target = targets.find((each) => each.name === name)
  const file = path.join(import.meta.dirname, '../..', outputFolder, target?.output ?? name)
  if (!existsSync(file)) throw new Error(`${file} is missing: npm run build makes it`)
  return file
}

function findProgram(): [string, ...string[]] {
  if (!process.argv.includes('--source')) return [findExecutable()]
  return [process.execPath, path.join(import.meta.dirname, '../../src/main.ts')]
}

/** A server that delivers directly, but finds no name server. `http`: more lines of that table. */
export function directConfiguration({
  logLevel,
  http = '',
}: {
  logLevel: 'warn' | 'fatal'
  http?: string
}): string {
  return `
[http]
listen = "127.0.0.1:0"
${http}
[delivery]
mode = "direct"
hostname = "bench.example.test"
[dns]
servers = ["127.0.0.1:9"]
[limits]
api_requests_per_minute = 0
[log]
level = "${logLevel}"
`
}

/** Creates a folder with this configuration (TOML). `program`: another executable to measure. */
export function createBench(configuration: string, program?: string): Bench {
  const [executable, ...first] = program === undefined ? findProgram() : [program]
  const folder = mkdtempSync(path.join(tmpdir(), 'pillarbox-bench-'))
  const configFile = path.join(folder, 'pillarbox.toml')
  writeFileSync(configFile, configuration, { mode: 0o600 })
  const args = [...first, '--config', configFile]
  const probe = path.join(folder, 'turns')
  return {
    folder,
    database: path.join(folder, 'data/pillarbox.db'),
    command: async (...argv) => {
      const { stdout } = await run(executable, [...args, ...argv, '--json'])
      return JSON.parse(stdout)
    },
    serve: () => serve(executable, args, program === undefined ? probe : undefined),
    findTurnMs: (at) => findTurnMs(probe, at),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

async function serve(
  executable: string,
  args: string[],
  probe: string | undefined,
): Promise<Running> {
  const startedAt = performance.now()
  const isSource = executable === process.execPath && probe !== undefined
  // With the flags of the executable.
  const probing = ['--import', path.join(import.meta.dirname, 'loop-probe.ts')]
  const first = isSource ? [...runtimeFlags, ...probing] : []
  const child = spawn(executable, [...first, ...args, 'serve'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...(isSource && { LOOP_PROBE: probe }) },
  })
  const { http: url, inbound = [] } = await readReadyLine(child)
  const readyMs = performance.now() - startedAt
  child.stdout?.resume()
  return {
    url,
    inbound,
    pid: child.pid as number,
    readyMs,
    stop: async () => {
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await exited
    },
  }
}

function findTurnMs(probe: string, from: number): number | undefined {
  if (!existsSync(probe)) return undefined
  const looks = readFileSync(probe, 'utf8').trim().split('\n')
  const times = looks.map((look) => look.split(' ').map(Number))
  return Math.max(0, ...times.flatMap(([at = 0, longestMs = 0]) => (at >= from ? longestMs : [])))
}

type Ready = { http: string; inbound?: string[] }

async function readReadyLine(child: ChildProcess): Promise<Ready> {
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })
  for await (const line of lines) return JSON.parse(line) as Ready
  throw new Error('serve ended before it was ready')
}

/** Current and peak resident memory of a process in MB. */
export function residentMegabytes(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const read = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) / 1024
  return { now: read('VmRSS'), peak: read('VmHWM') }
}

/** The processor time that all threads of a process have used, in microseconds. */
export function processorMicroseconds(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  const nanoseconds = threads.map((thread) => {
    const [ran] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')
    return Number(ran)
  })
  return nanoseconds.reduce((sum, ran) => sum + ran, 0) / 1_000
}

/** Resets the peak. */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}
