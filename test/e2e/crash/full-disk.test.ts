import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { serveHere } from '../serve-here.ts'
import { commandHere, installBesideSink, makeProject, post } from '../server.ts'

test('F3: below limits.min_free_bytes no mail is accepted, and accepted mail is sent', async (t) => {
  // More than the disks of tests have.
  const min = 1_000_000 * 1024 * 1024
  const { installation, sink } = await installBesideSink(t, { retrySchedule: '1h' })
  const { id, secret } = await makeProject(installation)
  const file = `${installation.folder}/pillarbox.toml`
  const text = await readFile(file, 'utf8')
  await writeFile(file, text.replace('[limits]', `[limits]\nmin_free_bytes = ${min}`))
  await commandHere(
    installation,
    ...['send', '--project', id, '--from', 'shop@example.test', '--to', 'ada@dest.test'],
    ...['--subject', 'Hello', '--html', '<p>Hello</p>'],
  )
  const server = await serveHere(t, installation)
  const { status, body } = await post(server.url, secret, {
    from: 'shop@example.test',
    to: 'bob@dest.test',
    subject: 'Hello',
    body: '<p>Hello</p>',
  })
  const { error } = body as { error: { code: string } }
  assert.deepEqual([status, error.code], [503, 'INSUFFICIENT_STORAGE'])
  while (sink.messages.length === 0) await sleep(10)
  const health = await (await fetch(new URL('/health', server.url))).json()
  const { status: told, reasons } = health as { status: string; reasons: { cause: string }[] }
  assert.equal(told, 'degraded')
  // On a slow machine the server has also checked itself meanwhile, with a DNS that does not know it.
  const others = reasons.filter(({ cause }) => cause !== 'checks')
  assert.deepEqual(
    others.map(({ cause }) => cause),
    ['disk'],
  )
  await server.stop()
})
