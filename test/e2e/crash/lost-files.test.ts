import assert from 'node:assert/strict'
import { link, rm, unlink } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { runAt } from '../../fakes/terminal.ts'
import { eventually } from '../program.ts'
import { serveHere } from '../serve-here.ts'
import { commandHere, type Installation, installBesideSink, makeProject, post } from '../server.ts'

const message = {
  from: 'shop@example.test',
  to: 'ada@dest.test',
  subject: 'Hello',
  body: '<p>Hello</p>',
}

test('acknowledged data survives an unlinked log and a kill', async (t) => {
  const { installation } = await installBesideSink(t, { retrySchedule: '1h' })
  const { secret } = await makeProject(installation)
  await commandHere(installation, 'queue', 'hold', '--domain', 'dest.test')
  const server = await installation.serve({ keepsLog: true, env: { PILLARBOX_LOG__LEVEL: 'warn' } })
  const acknowledged: string[] = []
  let isRefused = false
  const sending = (async () => {
    while (!isRefused) {
      const { status, body } = await post(server.url, secret, message)
      const { data } = body as { data?: { emails: { email: string }[] } }
      if (status === 200) acknowledged.push(data?.emails[0]?.email ?? '')
      else {
        assert.equal(status, 503, JSON.stringify(body))
        isRefused = true
      }
    }
  })()
  while (acknowledged.length < 100) await sleep(10)
  await unlink(path.join(installation.folder, 'data', 'pillarbox.db-wal'))
  await sending
  const health = await fetch(new URL('/health', server.url))
  assert.equal(health.status, 503)
  const { reasons } = (await health.json()) as { reasons: { cause: string; reason: string }[] }
  const lost = reasons.find(({ cause }) => cause === 'database-files')
  assert.match(lost?.reason ?? '', /pillarbox\.db-wal was removed or replaced/)
  await eventually(() => server.log.find((line) => line.includes('the lost log was copied')))
  await server.kill('SIGKILL')
  const listed = (await commandHere(installation, 'queue', 'list')) as { id: string }[]
  const ids = new Set(listed.map(({ id }) => id))
  assert.deepEqual(
    acknowledged.filter((id) => !ids.has(id)),
    [],
  )
  const again = await serveHere(t, installation)
  assert.equal((await post(again.url, secret, message)).status, 200)
  await again.stop()
})

test('a log that is removed after a kill is told by the first process, a command or a server', async (t) => {
  const { installation } = await installBesideSink(t, { retrySchedule: '1h' })
  const { secret } = await makeProject(installation)
  await commandHere(installation, 'queue', 'hold', '--domain', 'dest.test')
  const database = path.join(installation.folder, 'data', 'pillarbox.db')
  const env = { PILLARBOX_LOG__LEVEL: 'warn' }
  const tellings = (log: string[]) => log.filter((line) => line.includes('log is missing')).length
  const serve = () => installation.serve({ keepsLog: true, env })
  const sendAndKill = async ({ url, kill }: Awaited<ReturnType<typeof serve>>) => {
    for (let sent = 0; sent < 3; sent += 1) {
      assert.equal((await post(url, secret, message)).status, 200)
    }
    await kill('SIGKILL')
  }
  const list = async () => {
    const { status, err } = await attemptHere(installation, 'queue', 'list')
    return [status, /log is missing/.test(err)]
  }
  let server = await serve()
  await sendAndKill(server)
  assert.deepEqual(await list(), [0, false], 'nothing is lost')
  server = await serve()
  assert.equal(tellings(server.log), 0)
  await sendAndKill(server)
  for (const end of ['-wal', '-shm']) await rm(database + end, { force: true })
  server = await serve()
  // What is on its standard error may be read after what it printed later.
  const { log } = server
  await eventually(() => (tellings(log) > 0 ? true : undefined))
  await sendAndKill(server)
  assert.equal(tellings(log), 1, log.join('\n'))
  await unlink(`${database}-wal`)
  assert.deepEqual(await list(), [1, true])
  assert.deepEqual(await list(), [0, false])
  const last = await serveHere(t, installation)
  const health = await (await fetch(new URL('/health', last.url))).text()
  assert.match(health, /its write-ahead log was lost/)
  const doctor = await attemptHere(installation, 'doctor')
  const { checks } = JSON.parse(doctor.out) as { checks: { id: string; status: string }[] }
  assert.equal(checks.find(({ id }) => id === 'wal')?.status, 'failed')
  await last.stop()
})

test('a second server is refused on a hard link of the database and after the lock was removed', async (t) => {
  const { installation } = await installBesideSink(t, { retrySchedule: '1h' })
  await makeProject(installation)
  await installation.serve()
  const data = path.join(installation.folder, 'data')
  await unlink(path.join(data, 'pillarbox.db.serving'))
  const second = await attemptHere(installation, 'serve')
  assert.deepEqual([second.status, JSON.parse(second.err).error.code], [1, 'CONFLICT'])
  await link(path.join(data, 'pillarbox.db'), path.join(data, 'other.db'))
  const url = 'sqlite:other.db'
  const { installation: other } = await installBesideSink(t, {
    retrySchedule: '1h',
    configuration: `[database]\nurl = "${url.replace('other.db', path.join(data, 'other.db'))}"`,
  })
  const third = await attemptHere(other, 'serve')
  assert.equal(third.status, 1)
  assert.match(JSON.parse(third.err).error.message, /has 2 names|has this database open/)
})

/** In this process, as `commandHere`, whatever its status is. */
function attemptHere({ folder }: Installation, ...argv: string[]) {
  const config = path.join(folder, 'pillarbox.toml')
  return runAt({ cwd: folder, env: process.env }, '--config', config, ...argv, '--json')
}
