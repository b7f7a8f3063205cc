/**
 * `npm run bench:accept`: measures how many messages POST /v1/send accepts durably per second over 50
 * connections, with distinct recipients and bodies of 2 KB. Postfix accepts mail from smtp-source in
 * the same minutes for comparison. Delivery is held on both sides. Required: 4 times Postfix, and a
 * p99 below 100 ms.
 *
 * `npm run bench:accept -- --before FILE` compares with another executable: ten interleaved slices of
 * each after 20,000 requests of warming, in microseconds of processor time a request over all threads, median
 * and first quartile. Required: at most 3% more.
 */
import { parseArgs } from 'node:util'
import { costTable, interleave } from './interleave.ts'
import { isPostfixInstalled, measureIntake, startPostfix } from './mail/postfix.ts'
import { makeProject, prose, runLoad } from './mail/sender.ts'
import { createBench, directConfiguration, processorMicroseconds, type Running } from './server.ts'
import { median, printTable, show } from './table.ts'

const ROUNDS = 3
const OURS = 15_000
const THEIRS = 4_000

/** V8 compiles until then: colder, more code costs more than it will. */
const WARM_UP = 20_000
const REQUESTS_OF_SLICE = 2_000

const configuration = directConfiguration({ logLevel: 'warn' })

type Subject = { server: Running; secret: string; sent: number; remove(): Promise<void> }

const { values } = parseArgs({ options: { before: { type: 'string' } }, strict: false })
if (typeof values.before === 'string') await compare(values.before)
else await measure()

async function measure(): Promise<void> {
  const subject = await startSubject()
  await send(subject, WARM_UP)
  const postfix = isPostfixInstalled() ? await startPostfix(9) : undefined
  try {
    const ours: number[] = []
    const p99: number[] = []
    const theirs: number[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      if (postfix !== undefined) theirs.push(measureIntake(postfix.port, THEIRS, 2_048))
      const result = await send(subject, OURS)
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
    await subject.remove()
    postfix?.stop()
  }
}

async function compare(before: string): Promise<void> {
  const subjects = [await startSubject(before), await startSubject()] as const
  try {
    for (const subject of subjects) await send(subject, WARM_UP)
    const [older, newer] = await interleave(subjects, costOf)
    printTable(costTable('processor time a request, us', older ?? [], newer))
  } finally {
    for (const subject of subjects) await subject.remove()
  }
}

async function startSubject(program?: string): Promise<Subject> {
  const bench = createBench(configuration, program)
  const secret = await makeProject(bench)
  await bench.command('queue', 'hold', '--domain', 'example.org')
  const server = await bench.serve()
  const remove = async () => {
    await server.stop()
    bench.remove()
  }
  return { server, secret, sent: 0, remove }
}

async function send(subject: Subject, requests: number) {
  const { server, secret } = subject
  const result = await runLoad({
    url: server.url,
    secret,
    connections: 50,
    requests,
    body: JSON.stringify({
      to: 'user@@@example.org',
      from: 'shop@example.test',
      subject: 'Your order @@',
      body: prose(2_048),
    }),
    from: subject.sent,
  })
  if (result.refused > 0) throw new Error(`${result.refused} requests were refused`)
  subject.sent += requests
  return result
}

/** Microseconds of processor time a request. */
async function costOf(subject: Subject): Promise<number> {
  const { pid } = subject.server
  const start = processorMicroseconds(pid)
  await send(subject, REQUESTS_OF_SLICE)
  return (processorMicroseconds(pid) - start) / REQUESTS_OF_SLICE
}
