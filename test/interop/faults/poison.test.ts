import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type { ShownEmail } from '../../e2e/mail/shown-email.ts'
import { eventually } from '../../e2e/program.ts'
import { commandHere, installBesideSink, makeProject, post } from '../../e2e/server.ts'
import { MARKER } from './eat-memory.ts'

const EATER = pathToFileURL(path.join(import.meta.dirname, 'eat-memory.ts')).href
const OTHERS = 30
/** Its delivery thread, then its composing thread. */
const ENDED_THREADS = 2

test('F10: a message that exhausts the memory of its thread fails after two threads, and others arrive', async (t) => {
  const { sink, installation } = await installBesideSink(t, { retrySchedule: '1s' })
  const { secret } = await makeProject(installation)
  const server = await installation.serve({
    env: { NODE_OPTIONS: `--import=${EATER}` },
    keepsLog: true,
  })
  const send = async (to: string, body: string) => {
    const request = { to, from: 'shop@example.test', subject: 'Hello', body }
    const answer = await post(server.url, secret, request)
    assert.equal(answer.status, 200)
    const { data } = answer.body as { data: { emails: { email: string }[] } }
    return data.emails[0]?.email ?? ''
  }
  const before = Array.from({ length: OTHERS / 2 }, (_, at) =>
    send(`a${at}@dest.test`, '<p>Hi</p>'),
  )
  const poison = send('poison@dest.test', `<p>{{ email }} ${MARKER}</p>`)
  const after = Array.from({ length: OTHERS / 2 }, (_, at) => send(`b${at}@dest.test`, '<p>Hi</p>'))
  const others = await Promise.all([...before, ...after])
  const id = await poison
  const endedThreads = () => server.log.filter((line) => line.includes('thread ended'))
  // A busy machine may need long for it.
  while (endedThreads().length < ENDED_THREADS) await sleep(20)
  await sink.waitForMessages(others.length)
  const failed = await eventually(async () => {
    const email = (await commandHere(installation, 'queue', 'show', id)) as ShownEmail
    return email.state === 'failed' ? email : undefined
  })
  assert.match(failed.error ?? '', /memory|too long/)
  await send('last@dest.test', '<p>Hi</p>')
  await sink.waitForMessages(others.length + 1)
  const recipients = sink.messages.flatMap(({ to }) => to)
  assert.equal(new Set(recipients).size, recipients.length)
  assert.ok(!recipients.includes('poison@dest.test'))
  assert.equal(endedThreads().length, ENDED_THREADS, server.log.join('\n'))
  assert.equal(await server.kill('SIGTERM'), 0)
})
