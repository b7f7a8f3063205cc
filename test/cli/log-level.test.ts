import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attemptHere, commandHere, install, placeDatabase } from '../e2e/server.ts'

test('log level changes the running server for a while, and needs one', async (t) => {
  const installation = await install(t, "[http]\nlisten = '127.0.0.1:0'\n[log]\nlevel = 'warn'\n")
  const attempt = (...argv: string[]) => attemptHere(installation, ...argv)
  const command = (...argv: string[]) => commandHere(installation, ...argv)
  await placeDatabase(installation)
  const without = await attempt('log', 'level', 'debug')
  assert.equal(without.status, 1)
  assert.match(without.err, /No server runs on this database/)
  const serving = await installation.serve()
  assert.deepEqual(await command('log', 'level'), {
    level: 'warn',
    configured: 'warn',
    until: null,
  })
  const changed = (await command('log', 'level', 'debug', '--for', '2h')) as Record<string, unknown>
  assert.deepEqual([changed.level, changed.configured], ['debug', 'warn'])
  const leftMs = Date.parse(String(changed.until)) - Date.now()
  assert.ok(leftMs > 60 * 60_000 && leftMs <= 2 * 60 * 60_000, String(leftMs))
  const { out } = await attempt('log', 'level')
  assert.match(out, /^The level of the log is debug until .*, then warn again\.\n$/)
  assert.deepEqual(await command('log', 'level', 'warn'), {
    level: 'warn',
    configured: 'warn',
    until: null,
  })
  for (const argv of [
    ['loud'],
    ['debug', '--for', '2d'],
    ['debug', '--for', 'x'],
    ['--for', '1m'],
  ]) {
    assert.equal((await attempt('log', 'level', ...argv)).status, 2, argv.join(' '))
  }
  await command('log', 'level', 'debug')
  await serving.kill('SIGTERM')
  await installation.serve()
  assert.deepEqual(await command('log', 'level'), {
    level: 'warn',
    configured: 'warn',
    until: null,
  })
})
