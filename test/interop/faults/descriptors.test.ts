/** The server while it can open no file and no connection. Needs prlimit and /proc. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { eventually } from '../../e2e/program.ts'
import { commandHere, installBesideSink, makeProject, post } from '../../e2e/server.ts'
import { keepConnection } from './kept-connection.ts'

const isPrlimitMissing = spawnSync('prlimit', ['--version']).error !== undefined
const FREE = 8
const EMAILS = 20
const MAX_LOG_LINES = 20

test('F3: without free descriptors nothing ends, mail waits, and all goes on with free ones', {
  skip: isPrlimitMissing && 'prlimit is not installed',
}, async (t) => {
  const { sink, dns, installation } = await installBesideSink(t, { retrySchedule: '1s' })
  dns.set('new.test', { MX: [[10, 'mx.new.test']] })
  dns.set('mx.new.test', { A: ['127.0.0.1'] })
  const { secret } = await makeProject(installation)
  const server = await installation.serve({ keepsLog: true })
  const kept = keepConnection(server.url, secret)
  t.after(kept.close)
  const send = (to: string) => kept.call('POST', '/v1/send', messageTo(to))
  assert.equal(await send('first@dest.test'), 200)
  await sink.waitForMessages(1)

  const { soft, hard } = limitOf(server.pid)
  const holders = await exhaust(t, server)
  for (let at = 0; at < EMAILS; at += 1) assert.equal(await send(`u${at}@new.test`), 200)
  assert.equal(await kept.call('GET', '/health'), 200)
  const waiting = await eventually(async () => {
    const listed = (await commandHere(installation, 'queue', 'list')) as { state: string }[]
    const open = listed.filter(({ state }) => state === 'deferred')
    return open.length === EMAILS ? open : undefined
  })
  assert.equal(waiting.length, EMAILS)
  assert.equal(sink.acceptedCount(), 1)
  assert.ok(server.log.length < MAX_LOG_LINES, server.log.join('\n'))

  setLimit(server.pid, `${soft}:${hard}`)
  for (const socket of holders) socket.destroy()
  await sink.waitForMessages(1 + EMAILS)
  const recipients = sink.messages.flatMap(({ to }) => to)
  assert.equal(new Set(recipients).size, 1 + EMAILS)
  assert.equal(recipients.length, 1 + EMAILS)
  assert.equal((await post(server.url, secret, messageTo('last@dest.test'))).status, 200)
  await sink.waitForMessages(2 + EMAILS)
  kept.close()
  assert.equal(await server.kill('SIGTERM'), 0)
})

/**
 * Takes the last descriptors with connections that stay open; ends when the server ends some without
 * an answer. Resolves to those that it has answered.
 */
async function exhaust(
  t: TestContext,
  { pid, url }: { pid: number; url: string },
): Promise<Socket[]> {
  setLimit(pid, `${readdirSync(`/proc/${pid}/fd`).length + FREE}:`)
  const held: Socket[] = []
  t.after(() => {
    for (const socket of held) socket.destroy()
  })
  for (let ended = 0; ended < FREE; ) {
    const socket = await openAnswered(url)
    if (socket === undefined) ended += 1
    else held.push(socket)
    assert.ok(held.length < 10 * FREE, 'the limit holds')
  }
  return held
}

/** A connection with one answered request; undefined if the server ends it instead. */
async function openAnswered(url: string): Promise<Socket | undefined> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const { promise, resolve } = Promise.withResolvers<boolean>()
  socket.once('data', () => resolve(true))
  socket.once('error', () => resolve(false))
  socket.once('close', () => resolve(false))
  socket.write('GET /health HTTP/1.1\r\nHost: pillarbox.test\r\n\r\n')
  return (await promise) ? socket : undefined
}

function messageTo(to: string) {
  return { to, from: 'shop@example.test', subject: 'Hello', body: '<p>Hello</p>' }
}

function limitOf(pid: number): { soft: string; hard: string } {
  const options = ['--pid', `${pid}`, '--nofile', '--noheadings', '--output', 'SOFT,HARD']
  const [soft = '', hard = ''] = String(execFileSync('prlimit', options)).trim().split(/\s+/)
  return { soft, hard }
}

function setLimit(pid: number, limit: string): void {
  execFileSync('prlimit', ['--pid', `${pid}`, `--nofile=${limit}`])
}
