/** The whole program on a file system that is really full, or read-only. Needs root. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { fillDisk, isRoot, mountDisk } from '../../e2e/crash/small-disk.ts'
import { until } from './ledger.ts'
import { offerMail, openStage, untilHealthy, untilNoneArrive } from './stage.ts'

const skip = !isRoot && 'mounting a small file system needs root'
const NO_DISK = 'a small file system cannot be mounted here'

test('F3: on a full disk requests get 503 and mail 452, nothing is sent twice, and then all goes on', {
  skip,
}, async (t) => {
  const disk = await mountDisk(t, '32m')
  if (disk === undefined) return t.skip(NO_DISK)
  // Without a reserve, the outcomes of mail find no space either.
  const configuration = `min_free_bytes = 0\n[database]\nurl = "sqlite:${disk}/pillarbox.db"\n`
  const { ledger, secret, serve } = await openStage(t, { configuration })
  const server = await serve()
  const load = ledger.startLoad(server.url, secret)
  await until(() => ledger.arrivals.length >= 20)
  const filler = path.join(disk, 'filler')
  await fillDisk(filler)
  // What the log already has of space is used up first.
  await until(() => ledger.answers(503) >= 20)
  const sent = await untilNoneArrive(ledger)
  assert.equal((await offerMail(server)).code, 452)
  assert.equal((await fetch(new URL('/health', server.url))).status, 503)
  assert.equal(ledger.answers(500), 0)
  await rm(filler)
  const acknowledged = ledger.answers(200)
  await until(() => ledger.answers(200) >= acknowledged + 20)
  await load.stop()
  await ledger.untilAllArrived()
  assert.ok(ledger.arrivals.length > sent)
  assert.deepEqual(ledger.repeated(), [])
  await untilHealthy(server)
  assert.equal((await offerMail(server)).code, 250)
  assert.equal(await server.kill('SIGTERM'), 0)
})

test('F3: a server does not start on a read-only disk, names the file, and starts when it can write', {
  skip,
}, async (t) => {
  const disk = await mountDisk(t, '32m')
  if (disk === undefined) return t.skip(NO_DISK)
  const file = path.join(disk, 'pillarbox.db')
  const configuration = `min_free_bytes = 0\n[database]\nurl = "sqlite:${file}"\n`
  const { ledger, secret, serve } = await openStage(t, { configuration })
  execFileSync('mount', ['-o', 'remount,ro', disk])
  await assert.rejects(serve(), (error: Error) => {
    assert.ok(error.message.includes(file), error.message)
    assert.doesNotMatch(error.message, /\n\s+at /)
    return true
  })
  execFileSync('mount', ['-o', 'remount,rw', disk])
  const server = await serve()
  const load = ledger.startLoad(server.url, secret)
  await until(() => ledger.arrivals.length >= 5)
  await load.stop()
  await ledger.untilAllArrived()
  assert.equal(await server.kill('SIGTERM'), 0)
})
