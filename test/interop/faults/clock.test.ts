/** The whole program while the clock of its machine jumps. Needs libfaketime. */
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  commandHere,
  installBesideSink,
  makeProject,
  post,
  type Serving,
} from '../../e2e/server.ts'
import { until } from './ledger.ts'

type ListedEmail = { to: string; state: string; attempts: number }

/** The one for programs with threads. */
const [library] = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1')

/** A clock for one process, at first the right one. */
async function fakeClock(t: TestContext) {
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-clock-'))
  t.after(() => rm(folder, { recursive: true }))
  const file = path.join(folder, 'offset')
  const set = async (offset: string) => {
    // Renamed, so that it is never read while it is empty.
    await writeFile(`${file}.new`, `${offset}\n`)
    await rename(`${file}.new`, file)
  }
  await set('+0')
  const env = {
    LD_PRELOAD: library ?? '',
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: '1',
    // The monotonic clock and the times of files stay right.
    DONT_FAKE_MONOTONIC: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    NO_FAKE_STAT: '1',
  }
  return { set, env }
}

test('F3: a clock that jumps a day ahead and back gives up, doubles and loses no mail', {
  skip: library === undefined && 'libfaketime is not installed',
}, async (t) => {
  const clock = await fakeClock(t)
  let isRefusing = true
  const { sink, dns, installation } = await installBesideSink(t, {
    retrySchedule: '2s',
    respond: ({ verb, line }) => {
      if (verb !== 'RCPT' || !isRefusing || !line.includes('@busy.test')) return undefined
      return '451 4.3.2 Not now'
    },
  })
  dns.set('busy.test', { MX: [[10, 'mx.dest.test']] })
  const { secret } = await makeProject(installation)
  let server = await installation.serve({ env: clock.env, keepsLog: true })
  const sent: string[] = []
  const send = async (domain: string) => {
    const to = `user${sent.length}@${domain}`
    const request = { to, from: 'shop@example.test', subject: 'Hello', body: '<p>Hello</p>' }
    assert.equal((await post(server.url, secret, request)).status, 200)
    sent.push(to)
    if (domain === 'dest.test') await until(() => recipients().includes(to))
    else await until(async () => (await attemptsOf(to)) > 0)
  }
  const recipients = () => sink.messages.flatMap(({ to }) => to)
  const list = async () => (await commandHere(installation, 'queue', 'list')) as ListedEmail[]
  const attemptsOf = async (to: string) =>
    (await list()).find((email) => email.to === to)?.attempts ?? 0

  await send('dest.test')
  await send('busy.test')
  await clock.set('+1d')
  await until(async () => Math.abs((await clockOf(server)) - Date.now()) > 3_600_000)
  const before = await attemptsOf('user1@busy.test')
  await send('dest.test')
  await send('busy.test')
  // By the clock, this email is a day old: it is tried and not given up.
  await until(async () => (await attemptsOf('user1@busy.test')) >= before + 2)
  assert.ok((await list()).every(({ state }) => state === 'deferred' || state === 'sending'))

  await clock.set('+0')
  await until(async () => Math.abs((await clockOf(server)) - Date.now()) < 3_600_000)
  await send('dest.test')
  // A new start does not wait for the next check of the queue, which is due within a minute.
  assert.equal(await server.kill('SIGTERM'), 0)
  isRefusing = false
  server = await installation.serve({ env: clock.env, keepsLog: true })
  await until(() => sent.every((to) => recipients().includes(to)))
  assert.deepEqual(recipients().sort(), sent.sort())
  // The other side has an email a moment before the server has written that it has.
  await until(async () => (await list()).length === 0)
  assert.equal(await server.kill('SIGTERM'), 0)
})

/** What the server thinks the time is. */
async function clockOf({ url }: Serving): Promise<number> {
  const answer = await fetch(new URL('/v1/unknown', url))
  const { timestamp } = (await answer.json()) as { timestamp: string | number }
  return new Date(timestamp).getTime()
}
