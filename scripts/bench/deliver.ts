/**
 * `npm run bench:deliver`: delivers 20,000 queued messages of 5 KB to smtp-sink, each rendered with
 * contact data and signed with RSA-2048, while POST /v1/send runs at 50 requests per second. Postfix
 * delivers as many unsigned messages of the same size to the same sink for comparison. Required: 3
 * times Postfix, resident memory below 350 MB, and a p99 of the sends below 150 ms.
 * The share is that of the machine's own limit of RSA-2048 signatures, measured in the same rounds.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { startDnsServer } from '../../test/fakes/dns-server.ts'
import { startSink } from '../../test/fakes/smtp-sink.ts'
import {
  directConfiguration,
  makeMessage,
  verifyInsteadOfTrust,
  WIRE_BYTES,
  waitForDelivery,
  zone,
} from './mail/direct.ts'
import { isPostfixInstalled, measureIntake, startPostfix, startSmtpSink } from './mail/postfix.ts'
import { type LoadResult, makeProject, runLoad } from './mail/sender.ts'
import { measureSigningLimit, showShare } from './mail/signing.ts'
import { createBench, residentMegabytes } from './server.ts'
import { median, printTable, show } from './table.ts'

const ROUNDS = 3
const MESSAGES = 20_000

type Round = { perSecond: number; peakMegabytes: number; meanwhile: LoadResult }

const hasPostfix = isPostfixInstalled()
const sink = hasPostfix ? await startSmtpSink() : await startOwnSink()
const dns = await startDnsServer(zone)
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
  const bench = createBench(directConfiguration(sink.port, dns.address))
  const secret = await makeProject(bench)
  if (!isTrusted) verifyInsteadOfTrust(bench.database)
  await bench.command('queue', 'hold', '--domain', 'example.org')
  const server = await bench.serve()
  try {
    const fill = { url: server.url, secret, connections: 20, requests: MESSAGES, from: 0 }
    await runLoad({ ...fill, body: makeMessage('user@@@example.org') })
    const meanwhile = runLoad({
      url: server.url,
      secret,
      connections: 5,
      perSecond: 50,
      seconds: 5,
      body: makeMessage('other@@@example.net'),
      from: 0,
    })
    await sleep(300)
    const releasedAt = Date.now()
    await bench.command('queue', 'release', '--domain', 'example.org')
    const lastAt = await waitForDelivery(bench.database, MESSAGES)
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

async function startOwnSink() {
  const own = await startSink({ forgets: true })
  return { port: own.port, stop: () => void own.stop() }
}
