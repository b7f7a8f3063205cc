/**
 * `npm run bench:accept`: measures how many messages POST /v1/send accepts durably per second over 50
 * connections, with distinct recipients and bodies of 2 KB. Postfix accepts mail from smtp-source in
 * the same minutes for comparison. Delivery is held on both sides. Required: 4 times Postfix, and a
 * p99 below 100 ms.
 */
import { isPostfixInstalled, measureIntake, startPostfix } from './mail/postfix.ts'
import { makeProject, prose, runLoad } from './mail/sender.ts'
import { createBench } from './server.ts'
import { median, printTable, show } from './table.ts'

const ROUNDS = 3
const OURS = 15_000
const THEIRS = 4_000

const configuration = `
[http]
listen = "127.0.0.1:0"
[delivery]
mode = "direct"
hostname = "bench.example.test"
[dns]
servers = ["127.0.0.1:9"]
[limits]
api_requests_per_minute = 0
[log]
level = "warn"
`

const bench = createBench(configuration)
const secret = await makeProject(bench)
await bench.command('queue', 'hold', '--domain', 'example.org')
const postfix = isPostfixInstalled() ? await startPostfix(9) : undefined
const server = await bench.serve()
try {
  const ours: number[] = []
  const p99: number[] = []
  const theirs: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    if (postfix !== undefined) theirs.push(measureIntake(postfix.port, THEIRS, 2_048))
    const result = await runLoad({
      url: server.url,
      secret,
      connections: 50,
      requests: OURS,
      body: JSON.stringify({
        to: 'user@@@example.org',
        from: 'shop@example.test',
        subject: 'Your order @@',
        body: prose(2_048),
      }),
      from: round * OURS,
    })
    if (result.refused > 0) throw new Error(`${result.refused} requests were refused`)
    ours.push(result.perSecond)
    p99.push(result.p99Ms)
  }
  printTable([
    ['accept, medians of 3', 'a second', 'p99 ms', 'ratio'],
    ['Postfix, smtp-source -s 50 -l 2048', show(median(theirs)), '', '1.0'],
    [
      'POST /v1/send, 50 connections, 2 KB',
      show(median(ours)),
      show(median(p99), 1),
      show(median(ours) / median(theirs), 1),
    ],
  ])
} finally {
  await server.stop()
  postfix?.stop()
  bench.remove()
}
