/**
 * A mail server from an unpacked Debian package, in a folder of its own: its users, its `/etc`, its
 * spool, the libraries it needs, and nothing of this machine. Packages of mail servers exclude each
 * other, and these have their folders built in. Needs root, for chroot.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import {
  chmod,
  chown,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  writeFile,
} from 'node:fs/promises'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { waitForPort } from '../../../scripts/bench/mail/postfix.ts'

/** Where `.ci/run` unpacks them: `<package>/usr/sbin/…`. */
const packages = path.resolve('node_modules/.cache/mail-servers')

const MAIL_UID = 65_533
const DAEMON_UID = 65_532

type ChrootOptions = {
  /** Folder of the unpacked package. */
  name: string
  /** Files by their path inside. */
  files: Readonly<Record<string, readonly string[]>>
  /** Besides root, `mail` (whose the mailboxes are) and `nobody`. */
  users: readonly string[]
  /** Folders that the server writes to. */
  folders: readonly { path: string; user?: 'daemon' | 'mail'; mode?: number }[]
  programs: readonly string[]
  command: readonly string[]
  host: string
  port: number
}

/** Where a server is to listen, and to whom it sends its own mail: bounces. On 127.0.0.0/8. */
export type Listening = { host: string; port: number; bouncePort: number }

export type ChrootedServer = {
  root: string
  messages(user: string): Promise<Buffer[]>
  /** The end of what it printed. */
  log(): string
}

/** What is missing for it, or false. */
export function whyNoChroot(name: string, program: string): string | false {
  if (process.getuid?.() !== 0) return 'a mail server needs root'
  if (!existsSync(path.join(packages, name, program))) return `${name} is not unpacked`
  const { stdout } = spawnSync('ldd', [path.join(packages, name, program)], { encoding: 'utf8' })
  const missing = /^\s*(\S+) => not found/m.exec(stdout)
  return missing === null ? false : `${name} lacks ${missing[1]}`
}

/** It ends with the test. */
export async function startInChroot(
  t: Pick<TestContext, 'after'>,
  options: ChrootOptions,
): Promise<ChrootedServer> {
  const root = await mkdtemp('/var/tmp/pillarbox-chroot-')
  let output = ''
  let server: ChildProcess | undefined
  t.after(async () => {
    if (server !== undefined) await end(server)
    await rm(root, { recursive: true, force: true })
  })
  await chmod(root, 0o755)
  await fillRoot(root, options)
  const [program = '', ...args] = options.command
  server = spawn('chroot', [root, program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const collect = (chunk: Buffer) => {
    output = (output + chunk.toString('utf8')).slice(-20_000)
  }
  server.stdout?.on('data', collect)
  server.stderr?.on('data', collect)
  await waitForPort(options.port, options.host).catch((cause) => {
    throw new Error(`${options.name} did not start: ${output}`, { cause })
  })
  return {
    root,
    messages: (user) => readMaildir(path.join(root, 'mail', user)),
    log: () => output,
  }
}

async function fillRoot(root: string, { name, files, users, folders, programs }: ChrootOptions) {
  await cp(path.join(packages, name), root, { recursive: true, preserveTimestamps: true })
  for (const program of ['/bin/sh', ...programs]) copyWithLibraries(root, name, program)
  await mkdir(path.join(root, 'dev'))
  for (const [device, minor] of Object.entries({ null: 3, urandom: 9, random: 8 })) {
    execFileSync('mknod', ['-m', '666', path.join(root, 'dev', device), 'c', '1', String(minor)])
  }
  const accounts = [
    ['root', 0],
    ['mail', MAIL_UID],
    ['nobody', 65_534],
    ...users.map((user, index) => [user, DAEMON_UID - index]),
  ]
  const etc: Record<string, readonly string[]> = {
    'etc/passwd': accounts.map(([user, id]) => `${user}:x:${id}:${id}::/:/bin/sh`),
    'etc/group': accounts.map(([user, id]) => `${user}:x:${id}:`),
    'etc/hosts': ['127.0.0.1 localhost'],
    'etc/nsswitch.conf': ['passwd: files', 'group: files', 'hosts: files'],
    'etc/resolv.conf': ['nameserver 127.0.0.1'],
  }
  for (const [file, lines] of Object.entries({ ...etc, ...files })) {
    const target = path.join(root, file)
    await mkdir(path.dirname(target), { recursive: true })
    await writeFile(target, `${lines.join('\n')}\n`)
  }
  for (const { path: folder, user, mode = 0o755 } of [
    { path: 'mail', user: 'mail' as const },
    { path: 'tmp', mode: 0o1777 },
    ...folders,
  ]) {
    const target = path.join(root, folder)
    await mkdir(target, { recursive: true })
    if (user === 'daemon') await chown(target, DAEMON_UID, DAEMON_UID)
    if (user === 'mail') await chown(target, MAIL_UID, MAIL_UID)
    await chmod(target, mode)
  }
}

/** Of the package, or else of this machine. */
function copyWithLibraries(root: string, name: string, program: string): void {
  const own = path.join(packages, name, program)
  const source = existsSync(own) ? own : program
  if (source === program) copyInto(root, program)
  const { stdout } = spawnSync('ldd', [source], { encoding: 'utf8' })
  for (const [, library] of stdout.matchAll(/(\/\S+\.so\S*)/g)) {
    if (library !== undefined) copyInto(root, library)
  }
}

function copyInto(root: string, file: string): void {
  const target = path.join(root, file)
  if (existsSync(target)) return
  mkdirSync(path.dirname(target), { recursive: true })
  copyFileSync(file, target)
}

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const ended = once(server, 'exit')
  server.kill('SIGTERM')
  await ended
}

export async function readMaildir(folder: string): Promise<Buffer[]> {
  const target = path.join(folder, 'new')
  const names = await readdir(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  return Promise.all(names.map((name) => readFile(path.join(target, name))))
}
