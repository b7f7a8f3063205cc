/**
 * `npm run bench:clicks`: follows links of 5,000 delivered emails, each with its own content, over 50
 * persistent connections: first 2,000 clicks per second, as in the first minutes of a campaign, then
 * as fast as possible. Half of the links are numbers into the content, half contain the address.
 * POST /v1/send runs at 50 requests per second meanwhile, and once without clicks for comparison. Times
 * are measured at the client. Required: 2,000 clicks per second, a p99 below 5 ms, and every click in
 * the database.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { createKeyring } from '../../src/config/keyring.ts'
import { linkNumber } from '../../src/formats/html/links.ts'
import { createClickToken } from '../../src/formats/signed-tokens.ts'
import { type LoadResult, makeProject, prose, runLoad } from './mail/sender.ts'
import { type Bench, createBench, directConfiguration, type Running } from './server.ts'
import { median, printTable, show } from './table.ts'

const EMAILS = 5_000
const LINKS = 10
const ROUNDS = 3
const SECONDS = 6
const FAST_CLICKS = 20_000

type Round = Record<'alone' | 'steady' | 'beside' | 'fastest', LoadResult>

const secretOfLinks = 'a secret of the benchmark of clicks'
const userAgent =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36'

const configuration = `secret = "${secretOfLinks}"
${directConfiguration({ logLevel: 'warn' })}`

const bench = createBench(configuration)
try {
  const secret = await makeProject(bench)
  await bench.command('queue', 'hold', '--domain', 'example.org')
  await deliverEmails(bench, secret)
  const server = await bench.serve()
  try {
    const follow = createFollower(server, makePaths(bench))
    await follow({ perSecond: 1_000, seconds: 2 })
    const rounds: Round[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      const alone = await send(server, secret)
      const beside = send(server, secret)
      const steady = await follow({ perSecond: 2_000, seconds: SECONDS })
      rounds.push({
        ...{ alone, steady, beside: await beside },
        fastest: await follow({ requests: FAST_CLICKS }),
      })
    }
    printTable([
      ['clicks, medians of 3', 'a second', 'p50 ms', 'p99 ms'],
      row('2,000 a second', rounds, 'steady'),
      row('as many as go', rounds, 'fastest'),
      row('POST /v1/send alone', rounds, 'alone'),
      row('POST /v1/send beside 2,000 clicks a second', rounds, 'beside'),
    ])
    const counted = await countClicks(bench, follow.answered())
    console.log(`${counted} of ${follow.answered()} clicks are in the database`)
  } finally {
    await server.stop()
  }
} finally {
  bench.remove()
}

/** Each call continues where the previous one ended. */
function createFollower({ url }: Running, paths: string[]) {
  let answered = 0
  const follow = async (pace: { perSecond: number; seconds: number } | { requests: number }) => {
    const visits = { url, connections: 50, paths, userAgent, from: answered }
    const result = await runLoad({ ...visits, ...pace })
    if (result.refused > 0) throw new Error(`${result.refused} clicks were refused`)
    answered += result.answered
    return result
  }
  return Object.assign(follow, { answered: () => answered })
}

/** Sends emails and marks them as delivered an hour ago. */
async function deliverEmails({ serve, database }: Bench, secret: string): Promise<void> {
  const server = await serve()
  const { refused } = await runLoad({
    ...{ url: server.url, secret, connections: 20, requests: EMAILS, from: 0 },
    body: JSON.stringify({
      to: 'user@@@example.org',
      from: 'shop@example.test',
      subject: 'Your order @@',
      body:
        prose(2_048) +
        links()
          .map((link) => `<p><a href="${link}">Look</a></p>`)
          .join('\n'),
    }),
  })
  await server.stop()
  if (refused > 0) throw new Error(`${refused} requests were refused`)
  const db = new Database(database)
  db.prepare(
    "UPDATE emails SET state = 'delivered', status = 'DELIVERED', shelf = NULL, held_at = NULL, due_at = NULL, sent_at = @at, delivered_at = @at",
  ).run({ at: Date.now() - 3_600_000 })
  db.close()
}

function links(): string[] {
  return Array.from({ length: LINKS }, (_, index) => `https://shop.example.test/article/${index}`)
}

/** Alternates between emails, so that no contact looks like a scanner. */
function makePaths({ database }: Bench): string[] {
  const key = createKeyring(secretOfLinks).keys('click')[0]
  const db = new Database(database, { readonly: true })
  const ids = db.prepare('SELECT id FROM emails ORDER BY id').pluck().all() as string[]
  db.close()
  return links().flatMap((link, index) =>
    ids.map((emailId, position) => {
      const isNumbered = (position + index) % 2 === 0
      const target = isNumbered ? linkNumber(link) : `${link}?for=${emailId}`
      return `/t/c/${createClickToken(key, { emailId, link: target })}`
    }),
  )
}

function send({ url }: Running, secret: string): Promise<LoadResult> {
  return runLoad({
    ...{ url, secret, connections: 5, perSecond: 50, seconds: SECONDS, from: 0 },
    body: JSON.stringify({
      to: 'other@@@example.org',
      from: 'shop@example.test',
      subject: 'Your order @@',
      body: prose(2_048),
    }),
  })
}

/** Resolves when all clicks are recorded, or when their number stops growing. */
async function countClicks({ database }: Bench, expected: number): Promise<number> {
  const db = new Database(database, { readonly: true })
  const count = db.prepare('SELECT sum(clicks + machine_clicks) FROM emails').pluck()
  let counted = 0
  for (let tries = 0; tries < 50 && counted < expected; tries += 1) {
    await sleep(100)
    counted = Number(count.get())
  }
  db.close()
  return counted
}

function row(name: string, rounds: readonly Round[], load: keyof Round): string[] {
  const of = (figure: 'perSecond' | 'p50Ms' | 'p99Ms') =>
    median(rounds.map((round) => round[load][figure]))
  return [name, show(of('perSecond')), show(of('p50Ms'), 2), show(of('p99Ms'), 2)]
}
