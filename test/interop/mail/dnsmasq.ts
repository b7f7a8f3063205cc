/** A real DNS server: dnsmasq with a configuration of its own on a free loopback port. */
import { spawn, spawnSync } from 'node:child_process'
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

/** Knows these records and the canaries, and that nothing else exists under `.test`. It ends with the test. */
export async function startDnsmasq(
  t: Pick<TestContext, 'after'>,
  { port, records }: { port: number; records: readonly ZoneRecord[] },
): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-dns-'))
  const file = path.join(folder, 'dnsmasq.conf')
  const settings = [
    `port=${port}`,
    'listen-address=127.0.0.1',
    'bind-interfaces',
    'no-resolv',
    'no-hosts',
    'local=/test/',
    `pid-file=${path.join(folder, 'pid')}`,
    'user=root',
    'cache-size=0',
    ...canaries.map((name) => `mx-host=${name},mx.${name},10`),
    ...records.map(toSetting),
  ]
  await writeFile(file, `${settings.join('\n')}\n`)
  const child = spawn('dnsmasq', ['--keep-in-foreground', `--conf-file=${file}`], {
    stdio: 'ignore',
  })
  t.after(async () => {
    if (child.exitCode === null && child.kill()) await once(child, 'exit')
    await rm(folder, { recursive: true })
  })
  await waitForPort(port)
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
    case 'TXT': {
      const strings = value.match(/.{1,255}/g) ?? []
      return `txt-record=${name},${strings.map((text) => `"${text}"`).join(',')}`
    }
    default:
      throw new TypeError(`no such record: ${type}`)
  }
}
