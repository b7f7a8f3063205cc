/** A stop that others make hard: it takes as long as it may, so it is not among the quick tests. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ShownEmail } from '../../e2e/mail/shown-email.ts'
import { eventually } from '../../e2e/program.ts'
import { installBesideSink, makeProject, post } from '../../e2e/server.ts'
import { silence } from '../../fakes/smtp-sink.ts'

/** A client waits for minutes for the reply; a busy machine may prolong the seconds that a stop gives it. */
const LONGEST_MS = 60_000

test('SIGTERM ends the server within seconds while a receiver never replies', async (t) => {
  let isSilent = true
  const { sink, installation } = await installBesideSink(t, {
    retrySchedule: '1s',
    respond: ({ verb }) => (isSilent && verb === 'DATA' ? silence : undefined),
  })
  const { secret } = await makeProject(installation)
  const server = await installation.serve()
  const to = Array.from({ length: 20 }, (_, at) => `user${at}@dest.test`)
  const request = { to, from: 'shop@example.test', subject: 'Hello', body: '<p>Hello</p>' }
  const { status, body } = await post(server.url, secret, request)
  assert.equal(status, 200)
  const { data } = body as { data: { emails: { email: string }[] } }
  await eventually(() => (sink.lines.some((line) => line.startsWith('DATA')) ? true : undefined))

  const startedAt = performance.now()
  assert.equal(await server.kill('SIGTERM'), 0)
  const tookMs = performance.now() - startedAt
  console.log(`stopped after ${tookMs.toFixed(0)} ms`)
  assert.ok(tookMs < LONGEST_MS, `${tookMs} ms`)
  const open = (await installation.command('queue', 'list')) as ShownEmail[]
  assert.equal(open.length, to.length)
  assert.ok(open.every(({ state }) => state === 'queued' || state === 'deferred'))

  isSilent = false
  const again = await installation.serve()
  await sink.waitForMessages(to.length)
  const ids = new Set(
    sink.messages.map(
      ({ bytes }) =>
        /<([^@>]+)@example\.test>/.exec(String(bytes).match(/^Message-ID: .*/im)?.[0] ?? '')?.[1],
    ),
  )
  assert.deepEqual(ids, new Set(data.emails.map(({ email }) => email)))
  assert.equal(await again.kill('SIGTERM'), 0)
})
