/** Ten faults of an installation, each with the one check that must name it. */
import { chownSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import Database from 'better-sqlite3'
import { DAY_MS } from '../../../src/base/clock.ts'
import type { CheckId, CheckStatus } from '../../../src/features/operation/doctor/check.ts'
import { until } from '../faults/ledger.ts'
import type { ZoneRecord } from '../mail/dnsmasq.ts'
import type { Lab } from './lab.ts'
import { BACKUPS, DATA, type Keys, resizeDataDisk } from './machine.ts'
import { ADDRESS, CLOSED_PORT } from './network.ts'
import { HOST, OTHER, replaceRecord, reverseName, SENDER } from './zone.ts'

export type Scene = Pick<Lab, 'network' | 'machine' | 'records' | 'publish' | 'expired'> & {
  /** Changes the configuration file and restarts the service; without keys it is the file of before. */
  reconfigure(keys?: Keys): Promise<void>
}

export type Sabotage = {
  name: string
  do(scene: Scene): unknown
  undo(scene: Scene): unknown
  fault: [CheckId, CheckStatus]
  /** What the evidence and the fix must contain. */
  says: readonly string[]
}

const portClosed: Sabotage = {
  name: 'port 25 is closed',
  do: ({ network }) => network.run('ip', 'rule', 'add', ...CLOSED_PORT),
  undo: ({ network }) => network.run('ip', 'rule', 'delete', ...CLOSED_PORT),
  // The campaign of this hour was delivered: the port was open then.
  fault: ['smtp_egress', 'warning'],
  says: ['mx.dest.test', 'ENETUNREACH', 'answered a delivery', 'outgoing TCP port 25'],
}

/** A record with another value. */
function inZone(fault: Omit<Sabotage, 'do' | 'undo'>, record: ZoneRecord | ZoneRecord[]): Sabotage {
  const [changed, ...added] = [record].flat()
  return {
    ...fault,
    do: ({ records, publish }) =>
      publish([...replaceRecord(records(), changed as ZoneRecord), ...added]),
    undo: ({ records, publish }) => publish(records()),
  }
}

const includes = Array.from({ length: 10 }, (_, index) => `spf${index}.other.test`)

const tooManyLookups = inZone(
  {
    name: 'SPF takes 11 look-ups',
    fault: ['spf', 'failed'],
    says: ['11 look-ups', `bounce.${SENDER}. IN TXT "v=spf1 mx ~all"`],
  },
  [
    {
      type: 'TXT',
      name: `bounce.${SENDER}`,
      value: `v=spf1 mx ${includes.map((name) => `include:${name}`).join(' ')} ~all`,
    },
    ...includes.map((name) => ({ type: 'TXT', name, value: 'v=spf1 ip4:192.0.2.1 ~all' })),
  ],
)

const replacedKey: Sabotage = {
  name: 'the DKIM key is replaced',
  do({ records, publish }) {
    const key = records().find(({ value }) => value.startsWith('v=DKIM1; k=rsa'))
    if (key === undefined) throw new Error('there is no DKIM record')
    return publish(
      replaceRecord(records(), { ...key, value: key.value.replace('p=MIIB', 'p=MIIC') }),
    )
  },
  undo: ({ records, publish }) => publish(records()),
  fault: ['dkim', 'failed'],
  says: ['has another key', `._domainkey.${SENDER}. IN TXT "v=DKIM1; k=rsa; p=MIIB`],
}

const expiredCertificate: Sabotage = {
  name: 'the certificate has expired',
  do: ({ reconfigure, expired: { cert, key } }) =>
    reconfigure({
      ...{ 'http.tls_cert': cert, 'http.tls_key': key },
      ...{ 'inbound.tls_cert': cert, 'inbound.tls_key': key },
    }),
  undo: ({ reconfigure }) => reconfigure(),
  fault: ['certificates', 'failed'],
  says: ['port 25', 'HTTPS', 'expired', 'inbound.tls_cert'],
}

const otherHost: Sabotage = {
  name: 'base_url is of another host',
  do: ({ reconfigure }) => reconfigure({ base_url: `https://${OTHER}` }),
  undo: ({ reconfigure }) => reconfigure(),
  fault: ['base_url', 'failed'],
  says: ['another server answers', 'status 200', `A record of ${OTHER}`],
}

const FILLER = path.join(DATA, 'filler')
const FILLER_BYTES = 200 * 1024 * 1024
const DISK_BYTES = 4 * 1024 ** 3

/** A full disk of gigabytes would take as much memory: the disk becomes smaller around its files. */
const fullDisk: Sabotage = {
  name: 'the disk is full to 99%',
  do() {
    writeFileSync(FILLER, Buffer.alloc(FILLER_BYTES))
    const { blocks, bfree, bsize } = statfsSync(DATA)
    resizeDataDisk(Math.ceil(((blocks - bfree) * bsize) / 0.99))
  },
  undo() {
    rmSync(FILLER)
    resizeDataDisk(DISK_BYTES)
  },
  fault: ['disk_space', 'failed'],
  says: [DATA, 'less than limits.min_free_bytes', 'df -h'],
}

/** The service could not write to the folder all the time. */
const oldBackup: Sabotage = {
  name: 'the last backup is a month old',
  do() {
    chownSync(BACKUPS, 0, 0)
    const database = new Database(path.join(DATA, 'pillarbox.db'))
    database
      .prepare('update backups set started_at = started_at - ?, ended_at = ended_at - ?')
      .run(30 * DAY_MS, 30 * DAY_MS)
    database.close()
  },
  async undo({ machine }) {
    const { uid, gid } = statSync(DATA)
    chownSync(BACKUPS, uid, gid)
    // The service may have begun one by itself.
    await until(async () => {
      const { status } = await machine.attempt(['backup', path.join(BACKUPS, 'by-hand.tar.zst')])
      return status === 0
    })
  },
  fault: ['backup', 'failed'],
  says: ['30 days old', 'pillarbox backup FILE'],
}

export const SABOTAGES: readonly Sabotage[] = [
  portClosed,
  inZone(
    {
      name: 'the PTR record is wrong',
      fault: ['reverse_dns', 'failed'],
      says: ['host-1.provider.test', `${reverseName(ADDRESS.server)}. IN PTR ${HOST}.`],
    },
    { type: 'PTR', name: reverseName(ADDRESS.server), value: 'host-1.provider.test' },
  ),
  tooManyLookups,
  replacedKey,
  inZone(
    {
      name: 'DMARC is misaligned',
      fault: ['dmarc', 'warning'],
      says: ['aspf=s', `_dmarc.${SENDER}. IN TXT "v=DMARC1; p=reject; adkim=s; aspf=r"`],
    },
    { type: 'TXT', name: `_dmarc.${SENDER}`, value: 'v=DMARC1; p=reject; adkim=s; aspf=s' },
  ),
  inZone(
    {
      name: 'the MX record of a return path leads elsewhere',
      fault: ['return_path', 'failed'],
      says: ['mx.dest.test', `bounce.${SENDER}. IN MX 10 ${HOST}.`],
    },
    { type: 'MX', name: `bounce.${SENDER}`, value: '10 mx.dest.test' },
  ),
  expiredCertificate,
  otherHost,
  fullDisk,
  oldBackup,
]
