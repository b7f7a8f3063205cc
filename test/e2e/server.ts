/** The whole program as a process of its own, with its commands, for tests that start and kill it. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { loadConfig } from '../../src/config/load.ts'
import { prepareDataDir } from '../../src/config/secret.ts'
import { copyDatabase } from '../database-template.ts'
import { startDnsServer } from '../fakes/dns-server.ts'
import { type SinkOptions, startSink } from '../fakes/smtp-sink.ts'
import { type Outcome, runAt } from '../fakes/terminal.ts'
import { programFile } from '../program-file.ts'
import { untilAnswered } from './program.ts'

const run = promisify(execFile)

export type Serving = {
  url: string
  /** Where mail comes in and is handed in, as bound. */
  inbound: readonly string[]
  submission: readonly string[]
  /** The text on stdout after the ready line. */
  lines: string[]
  /** The lines of the log, if it is kept. */
  log: string[]
  pid: number
  kill(signal: NodeJS.Signals): Promise<number | null>
}

export type ServeOptions = {
  /** Added to the environment. */
  env?: Record<string, string>
  /** Keeps the log for the test instead of printing it. */
  keepsLog?: boolean
}

export type Installation = {
  folder: string
  /** The JSON that a command prints. */
  command(...argv: string[]): Promise<unknown>
  /** Exit status and output of a command, whatever they are. */
  attempt(...argv: string[]): Promise<{ status: number; stdout: string; stderr: string }>
  serve(options?: ServeOptions): Promise<Serving>
}

/** Makes a folder with this configuration (TOML); its processes are killed when the test ends. */
export async function install(
  t: Pick<TestContext, 'after'>,
  configuration: string,
): Promise<Installation> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-'))
  const file = path.join(folder, 'pillarbox.toml')
  await writeFile(file, configuration, { mode: 0o600 })
  const running = new Set<ChildProcess>()
  t.after(async () => {
    await Promise.all([...running].map((child) => end(child, 'SIGKILL')))
    await rm(folder, { recursive: true, force: true })
  })
  const args = (argv: string[]) => [programFile, '--config', file, ...argv]
  const attempt: Installation['attempt'] = async (...argv) => {
    try {
      const { stdout, stderr } = await run(process.execPath, args(argv), { cwd: folder })
      return { status: 0, stdout, stderr }
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
      return { status: code, stdout, stderr }
    }
  }
  return {
    folder,
    attempt,
    command: async (...argv) => {
      const { status, stdout, stderr } = await attempt(...argv, '--json')
      if (status !== 0) throw new Error(`${argv.join(' ')}: ${stderr}`)
      return JSON.parse(stdout)
    },
    serve: async ({ env = {}, keepsLog = false } = {}) => {
      const child = spawn(process.execPath, args(['serve']), {
        cwd: folder,
        stdio: ['ignore', 'pipe', keepsLog ? 'pipe' : 'inherit'],
        env: { ...process.env, ...env },
      })
      running.add(child)
      const lines: string[] = []
      const log: string[] = []
      if (child.stderr !== null)
        createInterface({ input: child.stderr }).on('line', (line) => log.push(line))
      const ready = Promise.withResolvers<Ready>()
      createInterface({ input: child.stdout as Readable }).on('line', (line) => {
        if (line.startsWith('{"event":"ready"')) ready.resolve(JSON.parse(line))
        else lines.push(line)
      })
      child.once('exit', () =>
        ready.reject(new Error(`serve ended before it was ready: ${log.join('\n')}`)),
      )
      const { http: url, inbound = [], submission = [] } = await ready.promise
      const kill: Serving['kill'] = (signal) => end(child, signal)
      return { url, inbound, submission, lines, log, pid: child.pid ?? 0, kill }
    },
  }
}

type Ready = { http: string; inbound?: string[]; submission?: string[] }

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  const exited = once(child, 'exit')
  child.kill(signal)
  const [status] = await exited
  return status
}

/**
 * A direct-mode installation whose mail to `dest.test` goes to a sink of its own; `configuration`
 * is added to its own, which ends with the table `[limits]`.
 */
export async function installBesideSink(
  t: Pick<TestContext, 'after'>,
  {
    retrySchedule,
    configuration: more = '',
    ...options
  }: SinkOptions & { retrySchedule: string; configuration?: string },
) {
  const sink = await startSink(options)
  const dns = await startDnsServer({
    'dest.test': { MX: [[10, 'mx.dest.test']] },
    'mx.dest.test': { A: ['127.0.0.1'] },
  })
  t.after(async () => {
    await sink.stop()
    await dns.stop()
  })
  const configuration = `
[http]
listen = "127.0.0.1:0"
[delivery]
mode = "direct"
hostname = "mail.example.test"
port = ${sink.port}
allow_private_networks = true
retry_schedule = ["${retrySchedule}"]
[dns]
servers = ["${dns.address}"]
[log]
level = "error"
[limits]
api_requests_per_minute = 0
${more}`
  return { sink, dns, installation: await install(t, configuration) }
}

/**
 * Exit status and output of a command, whose server answers. It runs in this process, which costs a tenth
 * of a process for each.
 */
export function attemptHere(
  { folder }: Pick<Installation, 'folder'>,
  ...argv: string[]
): Promise<Outcome> {
  const config = path.join(folder, 'pillarbox.toml')
  const place = { cwd: folder, env: process.env }
  return untilAnswered(() => runAt(place, '--config', config, ...argv))
}

/** The JSON that such a command prints. */
export async function commandHere(
  installation: Pick<Installation, 'folder'>,
  ...argv: string[]
): Promise<unknown> {
  const { status, out, err } = await attemptHere(installation, ...argv, '--json')
  if (status !== 0) throw new Error(`${argv.join(' ')}: ${err}`)
  return JSON.parse(out)
}

/** A project that may send from `example.test`: its id and secret key. The database is a new one. */
export async function makeProject(installation: Pick<Installation, 'folder'>) {
  await placeDatabase(installation)
  const command = (...argv: string[]) => commandHere(installation, ...argv)
  await command('user', 'create', '--email', 'owner@example.test')
  const project = await command(
    ...['project', 'create', '--name', 'Shop', '--owner', 'owner@example.test'],
  )
  const { id, secret } = project as { id: string; secret: string }
  await command('domain', 'add', '--project', id, 'example.test')
  await command('domain', 'verify', 'example.test', '--trust')
  return { id, secret }
}

/** As its first start makes it, without rows. */
export async function placeDatabase({ folder }: Pick<Installation, 'folder'>): Promise<void> {
  const configPath = path.join(folder, 'pillarbox.toml')
  const config = loadConfig({ cwd: folder, configPath, env: {} })
  await prepareDataDir(config)
  await copyDatabase(config.database.file)
}

export async function post(url: string, secret: string, body: unknown) {
  const response = await fetch(new URL('/v1/send', url), {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as never }
}
