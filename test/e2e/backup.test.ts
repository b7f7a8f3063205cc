/** A backup beside the running program, restored elsewhere. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { startApp } from '../../src/app.ts'
import { silentLog } from '../../src/base/log.ts'
import { loadConfig } from '../../src/config/load.ts'
import { runAt } from '../fakes/terminal.ts'
import { startProgram } from './program.ts'

test('F7: a backup restored elsewhere resends nothing, holds what was queued, and its keys work', async (t) => {
  const program = await startProgram({ PILLARBOX_BACKUP__MIN_FREE_BYTES: '0' })
  t.after(program.close)
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-restored-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const sink = await program.receive('dest.test')
  const busy = await program.receive('busy.test', {
    respond: ({ verb }) => (verb === 'RCPT' ? '451 4.7.1 Later' : undefined),
  })
  const [delivered = ''] = await program.send({ to: 'ada@dest.test' })
  await program.untilState(delivered, 'delivered')
  const [waiting = ''] = await program.send({ to: 'eve@busy.test' })
  await program.untilState(waiting, 'deferred')
  const file = path.join(folder, 'backup.tar.zst')
  const made = (await program.command('backup', file)) as Record<string, unknown>
  assert.deepEqual(
    Object.keys(made).filter((key) =>
      ['bytes', 'databaseBytes', 'durationMs', 'file', 'generation', 'seq', 'sha256'].includes(key),
    ).length,
    7,
  )
  const verified = (await program.command('verify', file)) as {
    emails: number
    opensSecrets: boolean
  }
  assert.deepEqual([verified.emails, verified.opensSecrets], [2, true])
  // The mail goes on after the backup: the restored server must not know of it.
  await program.send({ to: 'late@dest.test' })
  await program.stop()
  const before = [sink, busy].map(({ messages }) => messages.length)

  const dataDir = path.join(folder, 'data')
  const restored = await runAt({ cwd: folder, env: {} }, 'restore', file, '--to', dataDir, '--json')
  assert.equal(restored.status, 0, restored.err)
  const report = JSON.parse(restored.out)
  assert.deepEqual([report.generation, report.held.emails], [1, 1])
  assert.equal((await readFile(path.join(dataDir, 'secret'), 'utf8')).length, 38)

  const env = {
    PILLARBOX_DATA_DIR: dataDir,
    PILLARBOX_HTTP__LISTEN: '127.0.0.1:0',
    PILLARBOX_DELIVERY__MODE: 'direct',
    PILLARBOX_DELIVERY__HOSTNAME: 'mail.example.test',
    PILLARBOX_DELIVERY__PORT: String(sink.port),
    PILLARBOX_DELIVERY__ALLOW_PRIVATE_NETWORKS: 'true',
    PILLARBOX_DNS__SERVERS: JSON.stringify([program.dns.address]),
  }
  const config = loadConfig({ cwd: folder, systemFile: path.join(folder, 'none'), env })
  const app = await startApp(config, { log: silentLog() })
  t.after(() => app.stop())
  const call = async (route: string, body?: unknown) => {
    const response = await fetch(new URL(route, app.ready.http), {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${program.project.secret}`,
        'content-type': 'application/json',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: await response.json() }
  }
  const fresh = {
    to: 'new@dest.test',
    from: 'shop@example.test',
    subject: 'New',
    body: '<p>New</p>',
  }
  assert.equal((await call('/v1/send', fresh)).status, 200, 'the key works')
  await sink.waitForMessages((before[0] ?? 0) + 1)
  assert.equal(sink.messages.length, (before[0] ?? 0) + 1, 'the new email alone')
  assert.equal(busy.messages.length, before[1])
  const listed = await runAt({ cwd: folder, env }, 'queue', 'show', waiting, '--json')
  const { state } = JSON.parse(listed.out)
  assert.ok(['held', 'paused'].includes(state), state)
})
