/** The lab: the server's machine, and everything of the internet that it needs. */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { DAY_MS } from '../../../src/base/clock.ts'
import { makeCertificate } from '../../fakes/certificate.ts'
import { isPebbleInstalled, openPebble, type Pebble } from '../certificates/pebble.ts'
import { isDnsmasqInstalled, startDnsmasq, type ZoneRecord } from '../mail/dnsmasq.ts'
import { isPostfixInstalled, type Mx, startPostfix } from '../mail/postfix.ts'
import { createMachine, type Machine, mountDataDisk } from './machine.ts'
import { ADDRESS, type Network, openNetwork, whyNoNetwork } from './network.ts'
import { startOtherWeb } from './web.ts'
import { AUTHORITY, HOST, INTERNET, OTHER } from './zone.ts'

export type Lab = {
  network: Network
  machine: Machine
  /** The same machine with another configuration file. */
  withConfig(file: string): Machine
  /** Where ada, bob and carl have mailboxes. */
  mx: Mx
  /** The authority for certificates. */
  pebble: Pebble
  /** The root of its certificates, in PEM. */
  root: string
  /** All that DNS knows when nothing is wrong. */
  records(): readonly ZoneRecord[]
  /** Adds records for good. */
  addRecords(added: readonly ZoneRecord[]): Promise<void>
  /** DNS knows these records and no others. */
  publish(records: readonly ZoneRecord[]): Promise<void>
  /** The files of a certificate for HOST that has expired. */
  expired: { cert: string; key: string }
}

export const USERS = ['ada', 'bob', 'carl'] as const

const CERTIFICATES = '/var/tmp/certificates'

/** What is missing for the lab, or false. */
export function whyNoLab(): string | false {
  if (!isPostfixInstalled()) return 'Postfix is not installed, or this is not root'
  if (!isDnsmasqInstalled()) return 'dnsmasq is not installed'
  return isPebbleInstalled() ? whyNoNetwork() : 'pebble is not installed'
}

/** Once, in the run that `enterOwnNetwork` begins. It ends with the file's tests. */
export async function openLab(t: Pick<TestContext, 'after'>): Promise<Lab> {
  const network = await openNetwork(t)
  mountDataDisk()
  let records: readonly ZoneRecord[] = INTERNET
  const dns = await startDnsmasq(t, { host: ADDRESS.dns, port: 53, records })
  const mailboxes = Object.fromEntries(USERS.map((user) => [`${user}@dest.test`, user]))
  const mx = await startPostfix(t, mailboxes, { host: ADDRESS.mx, port: 25 })
  const pebble = await openPebble(t, {
    place: {
      ...{ host: ADDRESS.authority, name: AUTHORITY },
      ...{ dnsServer: `${ADDRESS.dns}:53`, challengePort: 80 },
    },
  })
  await pebble.start()
  const root = await pebble.root()
  const other = makeCertificate([OTHER])
  await startOtherWeb(t, other)
  const { trusted, expired } = writeCertificates([root, other.cert])
  const withConfig = (config?: string) => createMachine(t, { network, trusted, config })
  return {
    ...{ network, machine: withConfig(), withConfig, mx, pebble, root, expired },
    records: () => records,
    async addRecords(added) {
      records = [...records, ...added]
      await dns.replace(records)
    },
    publish: (published) => dns.replace(published),
  }
}

/** Returns paths. The expired certificate is trusted, but for its dates. */
function writeCertificates(roots: readonly string[]) {
  const { cert, key } = makeCertificate([HOST], {
    ...{ validFrom: Date.now() - 90 * DAY_MS, validTo: Date.now() - DAY_MS },
  })
  mkdirSync(CERTIFICATES)
  const write = (name: string, text: string) => {
    const file = path.join(CERTIFICATES, name)
    writeFileSync(file, text)
    return file
  }
  return {
    trusted: write('trusted.pem', [...roots, cert].join('')),
    expired: { cert: write('expired.pem', cert), key: write('expired-key.pem', key) },
  }
}
