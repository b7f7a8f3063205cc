/**
 * `npm run bench:login`: 200 logins a second are attempted for a minute (or `-- --seconds N`), from distinct
 * addresses and at distinct accounts, every second one with the right password, while another client sends
 * 50 emails a second. Then 10,000 pages of contacts (`--reads N`) are read by key and by cookie in turn. Required: 15
 * sessions a second are opened, the others are turned away within 100 ms (p99), the sends keep a p99 of
 * 150 ms, memory is as large at the end as in the middle, and a cookie costs at most 0.2 ms more than a key.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { hashPassword } from '../../src/features/tenancy/accounts/passwords/passwords.ts'
import { newId } from '../../src/store/ids.ts'
import { type Api, createApi } from './api.ts'
import { accountOf, type LoginLoad, type LoginResult } from './login/load.ts'
import { type LoadResult, makeProject, prose, startLoad } from './mail/sender.ts'
import { type Bench, createBench, type Running, residentMegabytes } from './server.ts'
import { median, printTable, show } from './table.ts'

type Memory = { start: number; middle: number; end: number }
type Measured = { logins: LoginResult; sends: LoadResult; memory: Memory }

const PER_SECOND = 200
const SENDS_A_SECOND = 50
const WARM_UP_SECONDS = 3
const CONTACTS = 100
const PASSWORD = 'the right password'
const OWNER = 'owner@example.test'
/** Memory that the caches of so many accounts may take between the middle and the end. */
const GROWTH_MB = 20

const configuration = `
[http]
listen = "127.0.0.1:0"
trusted_proxies = ["loopback"]
[delivery]
mode = "sandbox"
[limits]
api_requests_per_minute = 0
session_requests_per_minute = 0
[log]
level = "warn"
`

const seconds = readCount('seconds', 60)
const readsEach = readCount('reads', 10_000)
const bench = createBench(configuration)
try {
  const secret = await makeProject(bench)
  await addAccounts(bench, (seconds + WARM_UP_SECONDS) * PER_SECOND)
  const server = await bench.serve()
  try {
    await addContacts(createApi({ url: server.url, secret }))
    await attemptLogins(server, { seconds: WARM_UP_SECONDS, from: seconds * PER_SECOND })
    const measured = await measureLogins(server, secret)
    console.error(`${measured.logins.opened} of ${measured.logins.attempted} logins succeeded`)
    const reads = await measureReads(server, secret)
    report(measured, reads)
  } finally {
    await server.stop()
  }
} finally {
  bench.remove()
}

/** A whole number that an option gives. */
function readCount(option: string, absent: number): number {
  const at = process.argv.indexOf(`--${option}`)
  const given = at === -1 ? absent : Number(process.argv[at + 1])
  if (Number.isInteger(given) && given > 0) return given
  throw new Error(`--${option}: expected a whole number above 0`)
}

/** All have one password, and so one hash: checking it takes as long as checking another. */
async function addAccounts({ database }: Bench, count: number): Promise<void> {
  const passwordHash = await hashPassword(PASSWORD)
  const db = new Database(database)
  const add = db.prepare(
    `INSERT INTO users (id, email, password_hash, verified_at, created_at, updated_at)
     VALUES (?, ?, ?, @at, @at, @at)`,
  )
  const at = Date.now()
  db.transaction(() => {
    for (let number = 0; number < count; number += 1) {
      add.run(newId(), accountOf(number), passwordHash, { at })
    }
    const owner = newId()
    add.run(owner, OWNER, passwordHash, { at })
    db.prepare(
      `INSERT INTO memberships (user_id, project_id, role, created_at, updated_at)
       SELECT ?, id, 'ADMIN', @at, @at FROM projects WHERE name = 'Bench'`,
    ).run(owner, { at })
  })()
  db.close()
}

async function addContacts(api: Api): Promise<void> {
  for (let number = 0; number < CONTACTS; number += 1) {
    await api.ask('POST', '/contacts', { email: `contact${number}@example.org` })
  }
  api.close()
}

async function attemptLogins(
  { url }: Running,
  load: Pick<LoginLoad, 'seconds' | 'from'>,
): Promise<LoginResult> {
  const child = fork(path.join(import.meta.dirname, 'login/load.ts'))
  child.send({ url, perSecond: PER_SECOND, password: PASSWORD, ...load } satisfies LoginLoad)
  const [result] = (await once(child, 'message')) as [LoginResult]
  child.kill()
  return result
}

async function measureLogins(server: Running, secret: string): Promise<Measured> {
  const megabytes = () => residentMegabytes(server.pid).now
  const sending = await startLoad({
    ...{ url: server.url, secret, connections: 10, perSecond: SENDS_A_SECOND, from: 0 },
    body: JSON.stringify({
      to: 'customer@@@example.org',
      from: 'shop@example.test',
      subject: 'Your order @@',
      body: prose(2_048),
    }),
  })
  const start = megabytes()
  const attempting = attemptLogins(server, { seconds, from: 0 })
  await sleep((seconds * 1_000) / 2)
  const middle = megabytes()
  const logins = await attempting
  const memory = { start, middle, end: megabytes() }
  return { logins, sends: await sending.stop(), memory }
}

/** Medians in milliseconds. */
async function measureReads({ url }: Running, secret: string) {
  const byKey = createApi({ url, secret })
  const byCookie = createApi({ url, headers: await logIn(url, byKey) })
  const times: [Api, number[]][] = [
    [byKey, []],
    [byCookie, []],
  ]
  for (let round = 0; round < readsEach; round += 1) {
    for (const [api, all] of times) {
      const { status, ms } = await api.call('GET', '/contacts')
      if (status !== 200) throw new Error(`GET /contacts: ${status}`)
      all.push(ms)
    }
  }
  byKey.close()
  byCookie.close()
  const [key = Number.NaN, cookie = Number.NaN] = times.map(([, all]) => median(all))
  return { key, cookie }
}

async function logIn(url: string, byKey: Api): Promise<Record<string, string>> {
  const response = await fetch(`${url}/auth/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email: OWNER, password: PASSWORD }),
  })
  const [cookie = ''] = response.headers.getSetCookie()
  const { data } = (await byKey.ask('GET', '/contacts')) as { data: { projectId: string }[] }
  return { Cookie: cookie.replace(/;.*/, ''), 'X-Project-Id': data[0]?.projectId ?? '' }
}

function report({ logins, sends, memory }: Measured, reads: { key: number; cookie: number }): void {
  const openedPerSecond = logins.opened / logins.seconds
  const growthMb = memory.end - memory.middle
  const cookieMs = reads.cookie - reads.key
  printTable([
    [`${PER_SECOND} logins a second for ${seconds} s`, 'measured', 'required'],
    ['sessions opened a second', show(openedPerSecond, 1), '15'],
    ['wrong passwords refused a second', show(logins.refused / logins.seconds, 1), ''],
    ['opened: p50, p99 ms', `${show(logins.openedP50Ms)}, ${show(logins.openedP99Ms)}`, ''],
    ['turned away (503, 429)', `${show((100 * logins.turnedAway) / logins.attempted)}%`, ''],
    ['turned away: p99 ms', show(logins.turnedAwayP99Ms), '100'],
    ['other answers', show(logins.failed), '0'],
    ['POST /v1/send at 50 a second: p99 ms', show(sends.p99Ms), '150'],
    ['sends refused', show(sends.refused), '0'],
    ['memory at the start, MB', show(memory.start), ''],
    ['memory in the middle, MB', show(memory.middle), ''],
    ['memory at the end, MB', show(memory.end), `${show(memory.middle + GROWTH_MB)}`],
    ['GET /contacts by key, median ms', show(reads.key, 3), ''],
    ['GET /contacts by cookie, median ms', show(reads.cookie, 3), ''],
    ['the cookie costs, ms', show(cookieMs, 3), '0.2'],
  ])
  const isMet =
    openedPerSecond >= 15 &&
    !(logins.turnedAwayP99Ms > 100) &&
    logins.failed + sends.refused === 0 &&
    sends.p99Ms <= 150 &&
    growthMb <= GROWTH_MB &&
    cookieMs <= 0.2
  if (!isMet) process.exitCode = 1
}
