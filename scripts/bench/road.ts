/**
 * `npm run bench:road`: the whole road of 20,000 messages of 5 KB, from the first request to the last
 * delivery, each signed with RSA-2048. Ours come by POST /v1/send, theirs by smtp-source into Postfix
 * with OpenDKIM as its milter; both go to the same smtp-sink. Required: 5 times Postfix; the aim is 7.
 * Needs root, Postfix and OpenDKIM.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { startDnsServer } from '../../test/fakes/dns-server.ts'
import {
  directConfiguration,
  makeMessage,
  verifyInsteadOfTrust,
  WIRE_BYTES,
  waitForDelivery,
  zone,
} from './mail/direct.ts'
import { isOpenDkimInstalled, startOpenDkim } from './mail/opendkim.ts'
import { isPostfixInstalled, measureIntake, startPostfix, startSmtpSink } from './mail/postfix.ts'
import { makeProject, runLoad } from './mail/sender.ts'
import { measureSigningLimit, showShare } from './mail/signing.ts'
import { createBench } from './server.ts'
import { median, printTable, show } from './table.ts'

const ROUNDS = 3
const MESSAGES = 20_000
const CONNECTIONS = 50
const FLOOR = 5
const AIM = 7

if (!isPostfixInstalled() || !isOpenDkimInstalled()) {
  throw new Error('the comparison needs root, Postfix and OpenDKIM')
}
const sink = await startSmtpSink()
const dns = await startDnsServer(zone)
try {
  await requireSignatures()
  const limits: number[] = []
  const ours: number[] = []
  const theirs: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    limits.push(await measureSigningLimit())
    ours.push(await measureOurs())
    theirs.push(await measureTheirs())
    const ratio = median(ours.slice(-1)) / median(theirs.slice(-1))
    console.log(`round ${round + 1}: ${show(ratio, 2)} times Postfix`)
  }
  const ratio = median(ours) / median(theirs)
  printTable([
    [`road, medians of ${ROUNDS}`, 'a second', 'share', 'ratio'],
    ['RSA-2048 signatures, all cores', show(median(limits)), '100%', ''],
    [
      'smtp-source, Postfix, OpenDKIM',
      show(median(theirs)),
      showShare(median(theirs), median(limits)),
      '1.0',
    ],
    ['POST /v1/send', show(median(ours)), showShare(median(ours), median(limits)), show(ratio, 2)],
    ['floor', '', '', show(FLOOR, 1)],
    ['aim', '', '', show(AIM, 1)],
  ])
  if (ratio < FLOOR) process.exitCode = 1
} finally {
  sink.stop()
  await dns.stop()
}

/** Postfix without its milter would be an unfair comparison, so this reads one of its messages. */
async function requireSignatures(): Promise<void> {
  const milter = await startOpenDkim()
  const postfix = await startPostfix(sink.port, { milterPort: milter.port })
  try {
    measureIntake(postfix.port, 1, WIRE_BYTES)
    if (!/^DKIM-Signature:/m.test(postfix.readHeld())) throw new Error('OpenDKIM does not sign')
  } finally {
    postfix.stop()
    await milter.stop()
  }
}

async function measureOurs(): Promise<number> {
  const bench = createBench(directConfiguration(sink.port, dns.address))
  const secret = await makeProject(bench)
  verifyInsteadOfTrust(bench.database)
  const server = await bench.serve()
  try {
    const startedAt = Date.now()
    const lastAt = waitForDelivery(bench.database, MESSAGES)
    const { refused } = await runLoad({
      url: server.url,
      secret,
      connections: CONNECTIONS,
      requests: MESSAGES,
      body: makeMessage('user@@@example.org'),
      from: 0,
    })
    if (refused > 0) throw new Error(`${refused} requests were refused`)
    return MESSAGES / (((await lastAt) - startedAt) / 1_000)
  } finally {
    await server.stop()
    bench.remove()
  }
}

async function measureTheirs(): Promise<number> {
  const milter = await startOpenDkim()
  const postfix = await startPostfix(sink.port, { milterPort: milter.port, isHeld: false })
  try {
    const startedAt = performance.now()
    measureIntake(postfix.port, MESSAGES, WIRE_BYTES)
    while (postfix.queued() > 0) await sleep(50)
    return MESSAGES / ((performance.now() - startedAt) / 1_000)
  } finally {
    postfix.stop()
    await milter.stop()
  }
}
