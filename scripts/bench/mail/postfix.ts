/**
 * Runs Postfix for comparison: the default main.cf, with its own configuration, queue and data folder,
 * on a free loopback port. Needs root, as Postfix does. Does not touch the queue or the configuration
 * of an installed Postfix.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

type Postfix = {
  port: number
  /** Number of messages in the queue, including held ones. */
  queued(): number
  /** The text of the messages that are held. */
  readHeld(): string
  /** Releases the held messages. */
  release(): void
  stop(): void
}

/** A program that starts beside other work may need long. */
const START_MS = 240_000

const queues = ['maildrop', 'incoming', 'active', 'deferred', 'hold']

export function isPostfixInstalled(): boolean {
  const has = (name: string) => spawnSync('which', [name]).status === 0
  return process.getuid?.() === 0 && has('postfix') && has('smtp-source') && has('smtp-sink')
}

type Options = {
  /** A milter's port on 127.0.0.1. */
  milterPort?: number
  /** Without it, all mail is held until `release`. */
  isHeld?: boolean
}

/** `relayTo`: the sink's port on 127.0.0.1. */
export async function startPostfix(relayTo: number, options: Options = {}): Promise<Postfix> {
  const folder = mkdtempSync('/var/tmp/pillarbox-postfix-')
  chmodSync(folder, 0o755)
  const port = await findFreePort()
  const conf = configure(folder, port, relayTo, options)
  execFileSync('postfix', ['-c', conf, 'start'], { stdio: ['ignore', 'ignore', 'inherit'] })
  await waitForPort(port)
  const command = (name: string, ...args: string[]) =>
    execFileSync(name, ['-c', conf, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  return {
    port,
    queued: () =>
      queues.reduce((sum, name) => sum + countFiles(path.join(folder, 'spool', name)), 0),
    readHeld: () => {
      const held = readdirSync(path.join(folder, 'spool', 'hold'))
      return command('postcat', '-q', ...held).toString('latin1')
    },
    release: () => {
      command('postsuper', '-H', 'ALL')
      command('postqueue', '-f')
    },
    stop: () => {
      spawnSync('postfix', ['-c', conf, 'stop'], { stdio: 'ignore' })
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function configure(folder: string, port: number, relayTo: number, options: Options): string {
  const conf = path.join(folder, 'conf')
  for (const name of ['conf', 'spool', 'data']) mkdirSync(path.join(folder, name))
  execFileSync('chown', ['postfix', path.join(folder, 'data')])
  const settings = [
    'compatibility_level = 3.6',
    `queue_directory = ${folder}/spool`,
    `data_directory = ${folder}/data`,
    'myhostname = bench.example.test',
    'mydestination =',
    'inet_interfaces = 127.0.0.1',
    'inet_protocols = ipv4',
    `relayhost = [127.0.0.1]:${relayTo}`,
    `smtpd_recipient_restrictions = ${recipientRules(options)}`,
  ]
  if (options.milterPort !== undefined) {
    settings.push(`smtpd_milters = inet:127.0.0.1:${options.milterPort}`)
  }
  writeFileSync(path.join(conf, 'main.cf'), `${settings.join('\n')}\n`)
  writeFileSync(path.join(conf, 'master.cf'), `${masterLines(port).join('\n')}\n`)
  return conf
}

function recipientRules({ isHeld = true }: Options): string {
  const rules = ['permit_mynetworks', 'reject']
  if (isHeld) rules.unshift('check_recipient_access static:HOLD')
  return rules.join(', ')
}

/** Debian's master.cf without chroot, with the SMTP service on the chosen port. */
export function masterLines(port: number, host = '127.0.0.1'): string[] {
  const unix = (name: string, wakeup: string, limit: string, program = name) =>
    `${name} unix - - n ${wakeup} ${limit} ${program}`
  return [
    `${host}:${port} inet n - n - - smtpd`,
    'pickup unix n - n 60 1 pickup',
    'cleanup unix n - n - 0 cleanup',
    'qmgr unix n - n 300 1 qmgr',
    unix('tlsmgr', '1000?', '1'),
    unix('rewrite', '-', '-', 'trivial-rewrite'),
    unix('bounce', '-', '0'),
    unix('defer', '-', '0', 'bounce'),
    unix('trace', '-', '0', 'bounce'),
    unix('verify', '-', '1'),
    'flush unix n - n 1000? 0 flush',
    unix('proxymap', '-', '-'),
    unix('proxywrite', '-', '1', 'proxymap'),
    unix('smtp', '-', '-'),
    unix('relay', '-', '-', 'smtp'),
    'showq unix n - n - - showq',
    unix('error', '-', '-'),
    unix('retry', '-', '-', 'error'),
    unix('discard', '-', '-'),
    unix('local', '-', '-'),
    unix('anvil', '-', '1'),
    unix('scache', '-', '1'),
    'postlog unix-dgram n - n - 1 postlogd',
  ]
}

/** Counts the files of a queue folder, whose hashed sub-folders have names of one letter. */
function countFiles(folder: string): number {
  if (!existsSync(folder)) return 0
  let count = 0
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    count += entry.isDirectory() ? countFiles(path.join(folder, entry.name)) : 1
  }
  return count
}

export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

export async function waitForPort(port: number, host = '127.0.0.1'): Promise<void> {
  for (const giveUpAt = performance.now() + START_MS; performance.now() < giveUpAt; ) {
    const probe = spawnSync('bash', ['-c', `exec 3<>/dev/tcp/${host}/${port}`], {
      stdio: 'ignore',
    })
    if (probe.status === 0) return
    await sleep(100)
  }
  throw new Error(`nobody listens on ${host}:${port}`)
}

/** Measures how many messages per second this Postfix accepts. */
export function measureIntake(port: number, messages: number, bytes: number): number {
  const startedAt = performance.now()
  const args = ['-s', '50', '-l', String(bytes), '-m', String(messages), '-N']
  const from = ['-f', 'sender@example.test', '-t', 'user@example.org']
  execFileSync('smtp-source', [...args, ...from, `127.0.0.1:${port}`], { stdio: 'ignore' })
  return messages / ((performance.now() - startedAt) / 1_000)
}

type SmtpSink = { port: number; stop(): void }

/** Starts Postfix's smtp-sink, which discards all mail. */
export async function startSmtpSink(): Promise<SmtpSink> {
  const port = await findFreePort()
  const child = spawn('smtp-sink', ['-u', 'postfix', `127.0.0.1:${port}`, '1000'], {
    stdio: 'ignore',
  })
  await waitForPort(port)
  return { port, stop: () => child.kill() }
}
