/**
 * `npm run bench:deliver`: delivers 20,000 queued messages of 5 KB to smtp-sink, each rendered with
 * contact data and signed with RSA-2048, while POST /v1/send runs at 50 requests per second. Postfix
 * delivers as many unsigned messages of the same size to the same sink for comparison. Required: 3
 * times Postfix, resident memory below 350 MB, and a p99 of the sends below 150 ms.
 * The share is that of the machine's own limit of RSA-2048 signatures, measured in the same rounds.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { startDnsServer } from '../../test/fakes/dns-server.ts'
import { startSink } from '../../test/fakes/smtp-sink.ts'
import { isPostfixInstalled, measureIntake, startPostfix, startSmtpSink } from './postfix.ts'
import { type LoadResult, makeProject, prose, runLoad } from './sender.ts'
import { createBench, residentMegabytes } from './server.ts'
import { measureSigningLimit, showShare } from './signing.ts'
import { median, printTable, show } from './table.ts'

const ROUNDS = 3
const MESSAGES = 20_000
/** With this body, the message on the wire (text and HTML) has about 5 KB. */
const HTML_BYTES = 2_300
const WIRE_BYTES = 5_500

type Round = { perSecond: number; peakMegabytes: number; meanwhile: LoadResult }

const hasPostfix = isPostfixInstalled()
const sink = hasPostfix ? await startSmtpSink() : await startOwnSink()
const dns = await startDnsServer({
  'example.org': { MX: [[10, 'mx.example.org']] },
  'example.net': { MX: [[10, 'mx.example.org']] },
  'mx.example.org': { A: ['127.0.0.1'] },
})
try {
  const theirs: number[] = []
  const rsa: Round[] = []
  const both: Round[] = []
  const limits: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    limits.push(await measureSigningLimit())
    if (hasPostfix) theirs.push(await emptyPostfix(sink.port))
    rsa.push(await measureSink({ isTrusted: false }))
    both.push(await measureSink({ isTrusted: true }))
  }
  const row = (name: string, rounds: Round[]) => [
    name,
    show(median(rounds.map((each) => each.perSecond))),
    show(median(rounds.map((each) => each.perSecond)) / median(theirs), 2),
    showShare(median(rounds.map((each) => each.perSecond)), median(limits)),
    show(median(rounds.map((each) => each.peakMegabytes))),
    show(median(rounds.map((each) => each.meanwhile.p99Ms)), 1),
  ]
  printTable([
    ['deliver, medians of 3', 'a second', 'ratio', 'share', 'peak MB', 'send p99 ms'],
    ['Postfix, unsigned', show(median(theirs)), '1.0', '', '', ''],
    ['RSA-2048 signatures, all cores', show(median(limits)), '', '100%', '', ''],
    row('rendered, RSA-2048', rsa),
    row('rendered, RSA-2048 and Ed25519', both),
  ])
} finally {
  sink.stop()
  await dns.stop()
}

async function emptyPostfix(sinkPort: number): Promise<number> {
  const postfix = await startPostfix(sinkPort)
  try {
    measureIntake(postfix.port, MESSAGES, WIRE_BYTES)
    const startedAt = performance.now()
    postfix.release()
    while (postfix.queued() > 0) await sleep(50)
    return MESSAGES / ((performance.now() - startedAt) / 1_000)
  } finally {
    postfix.stop()
  }
}

async function measureSink({ isTrusted }: { isTrusted: boolean }): Promise<Round> {
  const bench = createBench(configuration(sink.port, dns.address))
  const secret = await makeProject(bench)
  if (!isTrusted) verifyInsteadOfTrust(bench.database)
  await bench.command('queue', 'hold', '--domain', 'example.org')
  const server = await bench.serve()
  try {
    const fill = { url: server.url, secret, connections: 20, requests: MESSAGES, from: 0 }
    await runLoad({ ...fill, body: message('user@@@example.org') })
    const meanwhile = runLoad({
      url: server.url,
      secret,
      connections: 5,
      perSecond: 50,
      seconds: 5,
      body: message('other@@@example.net'),
      from: 0,
    })
    await sleep(300)
    const releasedAt = Date.now()
    await bench.command('queue', 'release', '--domain', 'example.org')
    const lastAt = await waitForDelivery(bench.database)
    return {
      perSecond: MESSAGES / ((lastAt - releasedAt) / 1_000),
      peakMegabytes: residentMegabytes(server.pid).peak,
      meanwhile: await meanwhile,
    }
  } finally {
    await server.stop()
    bench.remove()
  }
}

function message(to: string): string {
  return JSON.stringify({
    to,
    from: 'shop@example.test',
    subject: 'Your order {{ order }}',
    body: prose(HTML_BYTES),
    data: { name: 'Ada @@', order: '@@', city: 'Zürich' },
  })
}

/** A trusted domain signs with both keys; a domain verified by its RSA key signs with that key only. */
function verifyInsteadOfTrust(database: string): void {
  const db = new Database(database)
  db.prepare(
    "UPDATE domains SET is_verified = 1, is_trusted = 0, status = 'Success', checked_at = ?",
  ).run(Date.now() + 3_600_000)
  db.close()
}

/** The time of the last delivery in epoch ms. */
async function waitForDelivery(database: string): Promise<number> {
  const db = new Database(database, { readonly: true })
  const delivered = db.prepare<[], { count: number; lastAt: number }>(
    "SELECT count(*) AS count, max(delivered_at) AS lastAt FROM emails WHERE state = 'delivered' AND recipient_domain = 'example.org'",
  )
  for (;;) {
    const row = delivered.get()
    if (row?.count === MESSAGES) {
      db.close()
      return row.lastAt
    }
    await sleep(250)
  }
}

function configuration(sinkPort: number, dnsAddress: string): string {
  return `
[http]
listen = "127.0.0.1:0"
[delivery]
mode = "direct"
hostname = "bench.example.test"
port = ${sinkPort}
allow_private_networks = true
[dns]
servers = ["${dnsAddress}"]
[limits]
api_requests_per_minute = 0
[log]
level = "warn"
`
}

async function startOwnSink() {
  const own = await startSink({ forgets: true })
  return { port: own.port, stop: () => void own.stop() }
}
