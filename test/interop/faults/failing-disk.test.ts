/**
 * The whole program on a disk that fails: it acknowledges nothing that is not durable, sends nothing
 * whose outcome it cannot record, and goes on when the disk works. Needs a C compiler.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { installBesideSink, makeProject, type Serving } from '../../e2e/server.ts'
import { connect } from '../../inbound/dialogue.ts'
import { buildFailingDisk, EIO, EROFS, type FailingDisk, isCompilerMissing } from './failing-disk.ts'
import { createLedger, type Ledger, until } from './ledger.ts'

const skip = isCompilerMissing && 'a C compiler is not installed'

type Stage = {
  disk: FailingDisk
  ledger: Ledger
  secret: string
  server: Serving
  restart(): Promise<Serving>
}

async function openStage(t: TestContext): Promise<Stage> {
  const disk = buildFailingDisk(t)
  const ledger = createLedger()
  const { installation } = await installBesideSink(t, {
    retrySchedule: '1s',
    forgets: true,
    configuration: '[inbound]\nlisten = ["127.0.0.1:0"]\n',
    respond: ({ verb, line }) => {
      if (verb === 'MESSAGE') ledger.arrived(line)
      return undefined
    },
  })
  const { secret } = await makeProject(installation)
  const serve = () => installation.serve({ env: disk.env, keepsLog: true })
  return { disk, ledger, secret, server: await serve(), restart: serve }
}

const faults = [
  ['syncs fail', `sync ${EIO}`],
  ['writes fail', `write ${EIO}`],
  ['the file system is read-only', `write ${EROFS}`],
] as const

for (const [what, mode] of faults) {
  test(`F3: while ${what} nothing is acknowledged or sent twice, and then all goes on`, {
    skip,
  }, async (t) => {
    const { disk, ledger, secret, server } = await openStage(t)
    const load = ledger.startLoad(server.url, secret)
    await until(() => ledger.arrivals.length >= 20)
    disk.set(mode)
    await until(() => ledger.answers(503) >= 4)
    const acknowledged = ledger.answers(200)
    assert.equal((await fetch(new URL('/health', server.url))).status, 503)
    assert.match(await offerMail(server), /^4\d\d /)
    const sent = await untilNoneArrive(ledger)
    assert.equal(ledger.answers(200), acknowledged, 'nothing is acknowledged')
    disk.set('ok')
    await until(() => ledger.answers(200) >= acknowledged + 20)
    await load.stop()
    await ledger.untilAllArrived()
    assert.ok(ledger.arrivals.length > sent)
    assert.deepEqual(ledger.repeated(), [])
    await until(async () => (await fetch(new URL('/health', server.url))).status === 200)
    assert.equal(await offerMail(server), '250')
    assert.equal(findLost(disk), 0)
    assert.equal(await server.kill('SIGTERM'), 0)
  })
}

test('F3: a server killed while syncs fail has all that it acknowledged', { skip }, async (t) => {
  const { disk, ledger, secret, server, restart } = await openStage(t)
  const load = ledger.startLoad(server.url, secret)
  await until(() => ledger.arrivals.length >= 20)
  const failingAt = performance.now()
  disk.set(`sync ${EIO}`)
  await until(() => ledger.answers(503) >= 4)
  await server.kill('SIGKILL')
  await load.stop()
  disk.set('ok')
  const again = await restart()
  await ledger.untilAllArrived()
  for (const { id, at } of ledger.repeated()) {
    assert.ok(at > failingAt - IN_FLIGHT_MS, `${id} arrived twice, and its outcome was recorded`)
  }
  assert.equal(findLost(disk), 0)
  assert.equal(await again.kill('SIGTERM'), 0)
})

test('F3: slow syncs are shared by all who wait', { skip }, async (t) => {
  const { disk, ledger, secret, server } = await openStage(t)
  disk.set('slow 40')
  const before = disk.calls().filter(({ kind }) => kind === 'sync').length
  const load = ledger.startLoad(server.url, secret, 40)
  await until(() => ledger.answers(200) >= 200)
  await load.stop()
  const syncs = disk.calls().filter(({ kind }) => kind === 'sync').length - before
  t.diagnostic(`${ledger.answers(200)} answers after ${syncs} syncs`)
  assert.ok(syncs < ledger.answers(200) / 2)
  disk.set('ok')
  await ledger.untilAllArrived()
  assert.deepEqual(ledger.repeated(), [])
  assert.equal(await server.kill('SIGTERM'), 0)
})

/** So long before a failure an outcome may not have been recorded, on a machine that is busy. */
const IN_FLIGHT_MS = 2_000
const QUIET_ASKS = 200

/** Resolves to the number of arrivals once there are no more while health is asked many times. */
async function untilNoneArrive({ arrivals }: Ledger): Promise<number> {
  for (;;) {
    const { length } = arrivals
    for (let at = 0; at < QUIET_ASKS; at += 1) await new Promise((done) => setTimeout(done, 10))
    if (arrivals.length === length) return length
  }
}

/** The reply to a message for a mailbox of the project, or the refusal before it. */
async function offerMail(server: Serving): Promise<string> {
  const port = Number(server.inbound[0]?.split(':').at(-1))
  const session = await connect(port, { ehlo: 'client.test' })
  try {
    const mail = await session.say('MAIL FROM:<ada@people.test>')
    if (mail.code !== 250) return `${mail.code} ${mail.text}`
    const recipient = await session.say('RCPT TO:<help@example.test>')
    if (recipient.code !== 250) return `${recipient.code} ${recipient.text}`
    await session.say('DATA')
    const { code, text } = await session.data('Subject: Hello\r\n\r\nHello')
    return code === 250 ? '250' : `${code} ${text}`
  } finally {
    session.close()
  }
}

/**
 * A sync that failed may have lost what was written before it, also if a later one succeeds: it has to
 * be written again. Returns how many writes of the log were committed without that.
 */
function findLost({ calls }: FailingDisk): number {
  const unsynced = new Map<number, number>()
  const lost = new Set<number>()
  let committed = 0
  for (const call of calls()) {
    if (call.kind === 'write') {
      unsynced.set(call.offset, call.offset + call.length)
      lost.delete(call.offset)
    } else if (call.isDone) {
      const end = Math.max(0, ...unsynced.values())
      committed += [...lost].filter((offset) => offset < end).length
      unsynced.clear()
    } else {
      for (const offset of unsynced.keys()) lost.add(offset)
      unsynced.clear()
    }
  }
  return committed
}
