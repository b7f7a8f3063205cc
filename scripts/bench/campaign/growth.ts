/**
 * How much of the main file a delivered recipient takes, by table, after a checkpoint: sessions with
 * TLS, replies of 100 characters, host names of 84 bytes, contacts with 2 KB of data of which the
 * template names two keys. And how much an open or click adds.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { createKeyring } from '../../../src/config/keyring.ts'
import { linkNumber } from '../../../src/formats/html/links.ts'
import { createClickToken } from '../../../src/formats/signed-tokens.ts'
import { makeCertificate } from '../../../test/fakes/certificate.ts'
import { startDnsServer } from '../../../test/fakes/dns-server.ts'
import { verifyInsteadOfTrust } from '../mail/direct.ts'
import { makeProject, runLoad } from '../mail/sender.ts'
import { type Bench, createBench, type Running } from '../server.ts'
import { BENCH_SECRET, campaignConfiguration } from './configuration.ts'
import { addPeople, waitForSearchIndex } from './people.ts'
import { createApi, sendCampaign, startReceivers } from './processes.ts'
import { campaignLink } from './text.ts'

const RECIPIENTS = 5_000
const userAgent =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36'
const LIST = { dataBytes: 2_000, hostLength: 84 }
/** A table or index is listed if it takes so many bytes for each recipient. */
const MIN_LISTED = 20

export type Growth = {
  perDelivered: number
  tables: { name: string; bytes: number }[]
  perHit: number
}

type Sizes = Map<string, number>

export async function measureGrowth(): Promise<Growth> {
  const receivers = await startReceivers({ replyLength: 100, tls: makeCertificate() })
  const dns = await startDnsServer()
  const bench = createBench(campaignConfiguration(receivers.port, dns.address))
  try {
    const secret = await makeProject(bench)
    verifyInsteadOfTrust(bench.database)
    const people = addPeople(bench.database, { count: RECIPIENTS, ...LIST })
    for (const [name, records] of Object.entries(people.zone)) dns.set(name, records)
    await whileServing(bench.serve, () => waitForSearchIndex(bench.database))
    const before = readSizes(bench.database)
    await whileServing(bench.serve, async ({ url }) => {
      const api = createApi(url, secret)
      const id = await sendCampaign(api)
      for (let status = ''; status !== 'SENT'; await sleep(500)) {
        const found = (await api('GET', `/campaigns/${id}`)) as {
          data: { status: string }
        }
        status = found.data.status
      }
    })
    const after = readSizes(bench.database)
    const delivered = countDelivered(bench.database)
    const perDelivered = (total(after) - total(before)) / delivered
    const perHit = await measureHits(bench, total(after))
    return { perDelivered, tables: growthOf(before, after, delivered), perHit }
  } finally {
    bench.remove()
    receivers.stop()
    await dns.stop()
  }
}

async function whileServing(
  serve: () => Promise<Running>,
  act: (server: Running) => Promise<void>,
): Promise<void> {
  const server = await serve()
  try {
    await act(server)
  } finally {
    await server.stop()
  }
}

/** One click on each delivered email, an hour after its delivery: no scanner is so late. */
async function measureHits({ serve, database }: Bench, before: number): Promise<number> {
  const key = createKeyring(BENCH_SECRET).keys('click')[0]
  const db = new Database(database)
  db.prepare(
    'UPDATE emails SET delivered_at = delivered_at - 3600000, sent_at = sent_at - 3600000',
  ).run()
  const ids = db
    .prepare("SELECT id FROM emails WHERE state = 'delivered'")
    .pluck()
    .all() as string[]
  db.close()
  const target = linkNumber(campaignLink(0))
  const paths = ids.map((emailId) => `/t/c/${createClickToken(key, { emailId, link: target })}`)
  await whileServing(serve, async ({ url }) => {
    const visits = { url, connections: 10, paths, userAgent, from: 0, requests: paths.length }
    const { refused } = await runLoad({ ...visits, perSecond: 1_000 })
    if (refused > 0) throw new Error(`${refused} clicks were refused`)
  })
  return (total(readSizes(database)) - before) / paths.length
}

function countDelivered(file: string): number {
  const db = new Database(file, { readonly: true })
  const sql = "SELECT count(*) FROM emails WHERE state = 'delivered' AND campaign_id IS NOT NULL"
  const count = db.prepare(sql).pluck().get()
  db.close()
  return Number(count)
}

/** Bytes of each table and index. */
function readSizes(file: string): Sizes {
  const db = new Database(file)
  db.pragma('wal_checkpoint(TRUNCATE)')
  const rows = db.prepare('SELECT name, sum(pgsize) AS bytes FROM dbstat GROUP BY name').all()
  db.close()
  return new Map(
    (rows as { name: string; bytes: number }[]).map(({ name, bytes }) => [name, bytes]),
  )
}

function total(sizes: Sizes): number {
  return [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0)
}

function growthOf(before: Sizes, after: Sizes, delivered: number): Growth['tables'] {
  return [...after]
    .map(([name, bytes]) => ({ name, bytes: (bytes - (before.get(name) ?? 0)) / delivered }))
    .filter(({ bytes }) => bytes >= MIN_LISTED)
    .sort((one, other) => other.bytes - one.bytes)
}
