/** A real DNS server: dnsmasq with a configuration of its own on a free loopback port. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { waitForPort } from '../../../scripts/bench/mail/postfix.ts'
import { canaries } from '../../fakes/dns-server.ts'

export type ZoneRecord = { type: string; name: string; value: string }

export function isDnsmasqInstalled(): boolean {
  return spawnSync('dnsmasq', ['--version']).status === 0
}

export type Dnsmasq = {
  /** It knows these records from now on, and none of the previous ones. */
  replace(records: readonly ZoneRecord[]): Promise<void>
}

type Listening = { port: number; host?: string }

/** Knows these records and the canaries, and that nothing else exists under `.test`. It ends with the test. */
export async function startDnsmasq(
  t: Pick<TestContext, 'after'>,
  { records, port, host = '127.0.0.1' }: Listening & { records: readonly ZoneRecord[] },
): Promise<Dnsmasq> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-dns-'))
  const file = path.join(folder, 'dnsmasq.conf')
  let child: ChildProcess | undefined

  async function replace(replacing: readonly ZoneRecord[]): Promise<void> {
    await stop()
    const lines = settings({ host, port, pidFile: path.join(folder, 'pid') }, replacing)
    await writeFile(file, `${lines.join('\n')}\n`)
    child = spawn('dnsmasq', ['--keep-in-foreground', `--conf-file=${file}`], { stdio: 'ignore' })
    await waitForPort(port, host)
  }

  async function stop(): Promise<void> {
    if (child?.exitCode === null && child.kill()) await once(child, 'exit')
  }

  t.after(async () => {
    await stop()
    await rm(folder, { recursive: true })
  })
  await replace(records)
  return { replace }
}

function settings(
  { host, port, pidFile }: Required<Listening> & { pidFile: string },
  records: readonly ZoneRecord[],
): string[] {
  return [
    `port=${port}`,
    `listen-address=${host}`,
    'bind-interfaces',
    'no-resolv',
    'no-hosts',
    'local=/test/',
    'local=/in-addr.arpa/',
    `pid-file=${pidFile}`,
    'user=root',
    'cache-size=0',
    ...canaries.map((name) => `mx-host=${name},mx.${name},10`),
    ...records.map(toSetting),
  ]
}

function toSetting({ type, name, value }: ZoneRecord): string {
  switch (type) {
    case 'A':
      return `host-record=${name},${value}`
    case 'MX': {
      const [preference, host] = value.split(' ')
      // dnsmasq takes no root as a host: a null MX (RFC 7505) is given as bytes.
      return host === '.' ? `dns-rr=${name},15,000000` : `mx-host=${name},${host},${preference}`
    }
    case 'PTR':
      return `ptr-record=${name},${value}`
    case 'TXT': {
      const strings = value.match(/.{1,255}/g) ?? []
      return `txt-record=${name},${strings.map((text) => `"${text}"`).join(',')}`
    }
    default:
      throw new TypeError(`no such record: ${type}`)
  }
}
