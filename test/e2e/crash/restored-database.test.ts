/** A database that is brought back from a copy, while the mail of the copy has gone out meanwhile. */
import assert from 'node:assert/strict'
import { copyFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { runAt } from '../../fakes/terminal.ts'
import { pause } from '../../pause.ts'
import { eventually } from '../program.ts'
import { serveHere } from '../serve-here.ts'
import { installBesideSink, makeProject, post } from '../server.ts'

type Listed = { id: string; state: string; reason: string }

/** Three servers start and end, in this process. */
const TIMEOUT_MS = 600_000

test('F7: a server on a database brought back sends nothing twice until its fence is lifted', {
  timeout: TIMEOUT_MS,
}, async (t) => {
  let isDeferring = true
  const { sink, installation } = await installBesideSink(t, {
    retrySchedule: '1h',
    respond: ({ verb }) => (verb === 'RCPT' && isDeferring ? '451 4.7.1 later' : undefined),
  })
  // In this process, which costs a tenth of a process for each.
  const command = async (...argv: string[]) => {
    const options = { cwd: installation.folder, env: process.env }
    const config = path.join(installation.folder, 'pillarbox.toml')
    const { status, out, err } = await runAt(options, '--config', config, ...argv, '--json')
    assert.equal(status, 0, err)
    return JSON.parse(out) as unknown
  }
  const dataDir = path.join(installation.folder, 'data')
  const database = path.join(dataDir, 'pillarbox.db')
  const copy = path.join(installation.folder, 'copy.db')
  const list = async () => (await command('queue', 'list')) as Listed[]
  const untilState = async (state: string) => {
    await eventually(
      async () => (await list()).every((email) => email.state === state) || undefined,
    )
  }
  const project = await makeProject({ folder: installation.folder })
  const send = (url: string, to: string) =>
    post(url, project.secret, { to, from: 'shop@example.test', subject: to, body: 'Hello' })
  let server = await serveHere(t, installation)
  assert.equal((await send(server.url, 'old@dest.test')).status, 200)
  await untilState('deferred')
  const [old] = await list()
  await server.stop()
  await copyFile(database, copy)

  isDeferring = false
  server = await serveHere(t, installation)
  await command('queue', 'retry', old!.id)
  while (sink.messages.length < 1) await pause()
  await untilState('deferred')
  await server.stop()
  await copyFile(copy, database)
  for (const end of ['-wal', '-shm']) await rm(`${database}${end}`, { force: true })

  server = await serveHere(t, installation)
  const [held] = await list()
  assert.equal(held?.state, 'paused')
  assert.match(held.reason, /brought back from a copy/)
  const health = (await (await fetch(new URL('/health', server.url))).json()) as object
  assert.match(JSON.stringify(health), /degraded.*queue release --restored/)
  const holds = (await command('queue', 'holds')) as { project: string | null }[]
  assert.deepEqual(
    holds.map((each) => each.project),
    [null, project.id],
  )
  // New mail goes out at once, and the old one does not go before it.
  assert.equal((await send(server.url, 'new@dest.test')).status, 200)
  while (sink.messages.length < 2) await pause()
  assert.deepEqual(
    sink.messages.map(({ to }) => to[0]),
    ['old@dest.test', 'new@dest.test'],
  )
  assert.equal((await list()).find(({ id }) => id === old!.id)?.state, 'paused')
  const { released } = (await command(
    'queue',
    'release',
    '--restored',
    '--project',
    project.id,
  )) as {
    released: { emails: number }
  }
  assert.equal(released.emails, 1)
  while (sink.messages.length < 3) await pause()
  assert.equal(sink.messages[2]?.to[0], 'old@dest.test')
  const all = (await command('queue', 'release', '--restored')) as { released: object }
  assert.deepEqual(new Set(Object.values(all.released)), new Set([0]))
  assert.deepEqual(await command('queue', 'holds'), [])
  await server.stop()
})
