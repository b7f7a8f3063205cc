/**
 * Two networks of their own for one test file: the test's, which is the internet, and the server's, joined
 * by a cable. The file runs once more in name spaces of its own, as their first process, so everything in
 * them ends with it, also when it is killed. `/etc`, `/usr/local` and `/var` are overlays there: what
 * changes in them is gone with the name spaces. Needs root.
 */
import { execFileSync, type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import dns from 'node:dns'
import { chmodSync, mkdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { until } from '../faults/ledger.ts'

/** Public addresses, because the server delivers to no others. */
export const ADDRESS = {
  server: '45.77.1.10',
  mx: '45.77.1.20',
  authority: '45.77.1.30',
  otherWeb: '45.77.1.40',
  dns: '45.77.1.53',
} as const

/** A rule that refuses connections to port 25 of other machines; those to itself never leave. */
export const CLOSED_PORT = ['priority', '100', 'ipproto', 'tcp', 'dport', '25', 'unreachable']

/** A file system in memory, with the upper sides of the overlays and the temporary files. */
const MEMORY = '/media'
const OVERLAYS = ['/etc', '/usr/local', '/var']
const MARK = 'IN_OWN_NETWORK'
const PROJECT = path.join(import.meta.dirname, '../../..')
const TOOLS = ['ip', 'mount', 'nsenter', 'script', 'setpriv', 'unshare', 'useradd']
const NAMESPACES = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc']

/** What is missing for it, or false. */
export function whyNoNetwork(): string | false {
  if (process.getuid?.() !== 0) return 'name spaces need root'
  const missing = TOOLS.filter((tool) => spawnSync('which', [tool]).status !== 0)
  if (missing.length > 0) return `${missing.join(', ')} not installed`
  const places = [PROJECT, process.execPath]
  if (places.some((place) => place.startsWith(`${MEMORY}/`))) return `${MEMORY} is in use`
  const attempt = `mount -t tmpfs tmpfs ${MEMORY} && ${overlayCommand('/etc')} && ip link add type veth && ip rule add ${CLOSED_PORT.join(' ')}`
  const tried = spawnSync('unshare', [...NAMESPACES, 'sh', '-c', attempt])
  return tried.status !== 0 && 'name spaces, overlays or cables cannot be made here'
}

/** Whether this is the run in name spaces. Its number is 1 there: no stray variable mounts anything. */
export function isOwnNetwork(): boolean {
  return process.env[MARK] !== undefined && process.pid === 1
}

/** Runs the file once more and ends with its status, unless this is that run. */
export function enterOwnNetwork(file: string): void {
  if (isOwnNetwork()) return
  const program = [process.execPath, ...process.execArgv, file]
  // Whoever kills this process kills the name spaces.
  const args = ['--pdeathsig', 'KILL', 'unshare', ...NAMESPACES, ...program]
  const env = { ...process.env, [MARK]: '1' }
  process.exit(spawnSync('setpriv', args, { stdio: 'inherit', env }).status ?? 1)
}

export type Network = {
  /** Starts a program in the network of the server. */
  spawn(argv: readonly string[], options?: SpawnOptions): ReturnType<typeof spawn>
  /** Runs a program there to its end. */
  run(...argv: string[]): string
}

/** Call it once, in the run in name spaces. */
export async function openNetwork(t: Pick<TestContext, 'after'>): Promise<Network> {
  mountOverlays()
  const holder = spawn('unshare', ['--net', 'sleep', 'infinity'], { stdio: 'ignore' })
  t.after(() => holder.kill('SIGKILL'))
  const own = readlinkSync('/proc/self/ns/net')
  await until(() => readlinkSync(`/proc/${holder.pid}/ns/net`) !== own)
  const enter = ['--target', String(holder.pid), '--net', '--']
  const network: Network = {
    spawn: (argv, options = {}) => spawn('nsenter', [...enter, ...argv], options),
    run: (...argv) => execFileSync('nsenter', [...enter, ...argv], { encoding: 'utf8' }),
  }
  layCable(network, String(holder.pid))
  return network
}

function mountOverlays(): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8g', 'tmpfs', MEMORY])
  for (const folder of OVERLAYS) execFileSync('sh', ['-c', overlayCommand(folder)])
  for (const folder of [`${MEMORY}/tmp`, `${MEMORY}/compiled`]) {
    mkdirSync(folder)
    chmodSync(folder, 0o1777)
  }
  execFileSync('mount', ['--bind', `${MEMORY}/tmp`, '/var/tmp'])
  Object.assign(process.env, { TMPDIR: '/var/tmp', NODE_COMPILE_CACHE: `${MEMORY}/compiled` })
  // Makes root's part of it: commands that root starts write there as another user.
  execFileSync(process.execPath, ['--eval', '0'])
  execFileSync('chmod', ['--recursive', 'a+rwX', `${MEMORY}/compiled`])
  // It may be a link to a file that does not exist here.
  rmSync('/etc/resolv.conf', { force: true })
  writeFileSync('/etc/resolv.conf', `nameserver ${ADDRESS.dns}\n`)
  writeFileSync('/etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n')
  dns.setServers([ADDRESS.dns])
}

function overlayCommand(folder: string): string {
  const name = `${MEMORY}/overlay${folder.replaceAll('/', '-')}`
  const options = `lowerdir=${folder},upperdir=${name}/upper,workdir=${name}/work`
  return `mkdir -p ${name}/upper ${name}/work && mount -t overlay overlay -o ${options} ${folder}`
}

function layCable(network: Network, pid: string): void {
  const ip = (...argv: string[]) => execFileSync('ip', argv)
  ip('link', 'add', 'internet', 'type', 'veth', 'peer', 'name', 'uplink', 'netns', pid)
  const { server, ...outside } = ADDRESS
  for (const address of Object.values(outside)) {
    ip('address', 'add', `${address}/24`, 'dev', 'internet')
  }
  for (const name of ['lo', 'internet']) ip('link', 'set', name, 'up')
  network.run('ip', 'address', 'add', `${server}/24`, 'dev', 'uplink')
  for (const name of ['lo', 'uplink']) network.run('ip', 'link', 'set', name, 'up')
}
