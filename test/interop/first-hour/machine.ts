/** The server's machine, as its operator uses it: commands as root, a terminal, the service. */
import { type ChildProcess, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { TestContext } from 'node:test'
import { findProgram } from '../process/program.ts'
import type { Network } from './network.ts'

export const CONFIG = '/etc/pillarbox/pillarbox.toml'
export const DATA = '/var/lib/pillarbox'
const PLACE = '/usr/local/bin/pillarbox'
export const BACKUPS = '/var/backups/pillarbox'

export type Service = {
  ready: { http: string; inbound: string[] }
  /** Ends it as systemd does; the exit status. */
  stop(): Promise<number | null>
}

export type Machine = {
  /** Exit status and output of a command that root runs. */
  attempt(argv: readonly string[]): Promise<{ status: number | null; out: string; err: string }>
  /** The JSON that a command prints. It has to succeed. */
  command(...argv: string[]): Promise<unknown>
  /** Runs a command at a pseudo-terminal, and types an answer after each prompt. Returns what is seen. */
  converse(argv: readonly string[], dialogue: readonly [RegExp, string][]): Promise<string>
  /** Runs `serve` as the unit does: the service's user, one capability, another environment. */
  serve(): Promise<Service>
}

type MachineInput = {
  network: Network
  /** Certificates that this machine trusts, in PEM. */
  trusted: string
  /** Undefined: the service's own, which a command finds in `/etc`. */
  config?: string | undefined
}

export function createMachine(
  t: Pick<TestContext, 'after'>,
  { network, trusted, config }: MachineInput,
): Machine {
  const { NODE_COMPILE_CACHE } = process.env
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', NODE_EXTRA_CA_CERTS: trusted }
  const options = { cwd: '/', env: { ...env, NODE_COMPILE_CACHE } }
  const option = config === undefined ? [] : ['--config', config]
  const program = (argv: readonly string[]) => [...findInstalled(), ...option, ...argv]

  const attempt: Machine['attempt'] = async (argv) => {
    const child = network.spawn(program(argv), { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    const [out, err] = [collect(child.stdout), collect(child.stderr)]
    const [status] = await once(child, 'close')
    return { status, out: out(), err: err() }
  }

  return {
    attempt,
    async command(...argv) {
      const { status, out, err } = await attempt([...argv, '--json'])
      if (status !== 0) throw new Error(`${argv.join(' ')}: ${status}: ${err}${out}`)
      return JSON.parse(out)
    },
    async converse(argv, dialogue) {
      const line = program(argv).join(' ')
      const args = ['script', '--quiet', '--return', '--command', line, '/dev/null']
      return type(network.spawn(args, options), dialogue)
    },
    async serve() {
      const capability = '-all,+net_bind_service'
      const user = ['--reuid', 'pillarbox', '--regid', 'pillarbox', '--clear-groups']
      const rights = ['--inh-caps', '--ambient-caps', '--bounding-set'].flatMap((option) => [
        option,
        capability,
      ])
      const argv = ['setpriv', ...user, ...rights, '--no-new-privs', ...program(['serve'])]
      const child = network.spawn(argv, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
      t.after(() => child.kill('SIGKILL'))
      return untilReady(child)
    },
  }
}

/** The executable in its place once it is installed; from source, the sources. */
export function findInstalled(): string[] {
  return existsSync(PLACE) ? [PLACE] : findProgram()
}

async function untilReady(child: ChildProcess): Promise<Service> {
  const log = collect(child.stderr)
  const ended = once(child, 'exit')
  const lines = createInterface({ input: child.stdout as Readable })
  const first = await Promise.race([once(lines, 'line'), ended.then(() => undefined)])
  if (first === undefined) throw new Error(`serve ended before it was ready: ${log()}`)
  return {
    ready: JSON.parse(first[0]),
    async stop() {
      child.kill('SIGTERM')
      const [status] = await ended
      return status
    },
  }
}

/** @throws Error with all that was seen, when the program ends in the middle or fails */
async function type(child: ChildProcess, dialogue: readonly [RegExp, string][]): Promise<string> {
  let seen = ''
  let from = 0
  const left = [...dialogue]
  child.stdout?.on('data', (chunk: Buffer) => {
    seen += chunk.toString('utf8')
    const [prompt, answer] = left[0] ?? []
    if (prompt === undefined || !prompt.test(seen.slice(from))) return
    from = seen.length
    left.shift()
    child.stdin?.write(`${answer}\r`)
  })
  const [status] = await once(child, 'close')
  if (status !== 0 || left.length > 0) {
    throw new Error(`status ${status}, ${left.length} answers were not asked for: ${seen}`)
  }
  return seen
}

function collect(stream: Readable | null): () => string {
  let text = ''
  stream?.setEncoding('utf8').on('data', (chunk: string) => {
    text = `${text}${chunk}`.slice(-200_000)
  })
  return () => text
}

export type Keys = Readonly<Record<string, string | readonly string[]>>

/** Sets keys such as `acme.ca_file` where the file has them as a comment or with another value. */
export function setKeys(file: string, keys: Keys): void {
  let text = readFileSync(file, 'utf8')
  for (const [key, value] of Object.entries(keys)) {
    const at = key.lastIndexOf('.')
    const start = at === -1 ? 0 : text.indexOf(`\n[${key.slice(0, at)}]\n`)
    const line = new RegExp(`^(# )?${key.slice(at + 1)} = .*$`, 'm')
    const rest = text.slice(start)
    if (start === -1 || !line.test(rest)) throw new Error(`${file} has no ${key}`)
    text =
      text.slice(0, start) + rest.replace(line, `${key.slice(at + 1)} = ${JSON.stringify(value)}`)
  }
  writeFileSync(file, text)
}

/** The data folder on a disk of its own, which `resizeDataDisk` fills. */
export function mountDataDisk(): void {
  execFileSync('mkdir', ['-p', DATA])
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4g,mode=0755', 'tmpfs', DATA])
}

export function resizeDataDisk(bytes: number): void {
  execFileSync('mount', ['-o', `remount,size=${bytes}`, DATA])
}
