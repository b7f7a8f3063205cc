/** A certificate authority that speaks ACME: pebble on free loopback ports, with DNS of this process. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { waitForPort } from '../../../scripts/bench/mail/postfix.ts'
import { makeCertificate } from '../../fakes/certificate.ts'
import { startDnsServer } from '../../fakes/dns-server.ts'

export const DOMAINS = ['mail.example.test', 'app.example.test']
export const EAB = {
  kid: 'kid-1',
  hmacKey: 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W',
}

export type Pebble = {
  /** For `acme.directory_url`. */
  directoryUrl: string
  /** Of the TLS of the directory, for `acme.ca_file`. */
  caFile: string
  /** The port of names where challenges are looked for. */
  challengePort: number
  start(): Promise<void>
  stop(): Promise<void>
  /** The root of the certificates that this run issues, in PEM. */
  root(): Promise<string>
}

/** Where pebble is, in place of loopback, and where it looks for names and challenges. */
export type PebblePlace = {
  host: string
  /** Of its own certificate. */
  name: string
  dnsServer: string
  challengePort: number
}

type PebbleOptions = {
  requiresBinding?: boolean
  env?: Record<string, string>
  place?: PebblePlace
}

export function isPebbleInstalled(): boolean {
  return spawnSync('pebble', ['-h']).error === undefined
}

/** Without a place, every name of DOMAINS is 127.0.0.1. Ends with the test. */
export async function openPebble(
  t: Pick<TestContext, 'after'>,
  { requiresBinding = false, env = {}, place }: PebbleOptions = {},
): Promise<Pebble> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-pebble-'))
  const [port, managementPort, freePort] = await takePorts(3)
  const { host, name, dnsServer, challengePort } = place ?? (await placeOnLoopback(t, freePort))
  const { cert, key } = makeCertificate([name])
  const caFile = path.join(folder, 'cert.pem')
  await writeFile(caFile, cert)
  await writeFile(path.join(folder, 'key.pem'), key)
  const settings = {
    listenAddress: `${host}:${port}`,
    managementListenAddress: `${host}:${managementPort}`,
    certificate: caFile,
    privateKey: path.join(folder, 'key.pem'),
    httpPort: challengePort,
    tlsPort: 1,
    externalAccountBindingRequired: requiresBinding,
    externalAccountMACKeys: { [EAB.kid]: EAB.hmacKey },
  }
  const file = path.join(folder, 'pebble.json')
  await writeFile(file, JSON.stringify({ pebble: settings }))
  let child: ChildProcess | undefined

  async function start(): Promise<void> {
    child = spawn('pebble', ['-config', file, '-dnsserver', dnsServer], {
      stdio: 'ignore',
      env: { ...process.env, PEBBLE_VA_NOSLEEP: '1', ...env },
    })
    for (const each of [port, managementPort]) await waitForPort(each, host)
  }

  async function stop(): Promise<void> {
    if (child !== undefined && child.exitCode === null && child.kill('SIGKILL')) {
      await once(child, 'exit')
    }
    child = undefined
  }

  t.after(async () => {
    await stop()
    await rm(folder, { recursive: true })
  })
  return {
    directoryUrl: `https://${name}:${port}/dir`,
    caFile,
    challengePort,
    start,
    stop,
    root: () => fetchRoot({ host, servername: name, port: managementPort, ca: cert }),
  }
}

async function placeOnLoopback(
  t: Pick<TestContext, 'after'>,
  challengePort: number,
): Promise<PebblePlace> {
  const dns = await startDnsServer(
    Object.fromEntries(DOMAINS.map((name) => [name, { A: ['127.0.0.1'] }])),
  )
  t.after(() => dns.stop())
  return { host: '127.0.0.1', name: 'localhost', dnsServer: dns.address, challengePort }
}

/** Free now: nothing else on this machine takes ports of this range in a hurry. */
async function takePorts(count: number): Promise<[number, number, number]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => once(server.close(), 'close')))
  return ports as [number, number, number]
}

type RootPlace = { host: string; servername: string; port: number; ca: string }

async function fetchRoot(place: RootPlace): Promise<string> {
  const [response] = await once(request({ ...place, path: '/roots/0' }).end(), 'response')
  return new X509Certificate(await text(response)).toString()
}
