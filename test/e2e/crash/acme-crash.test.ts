/** A server that is killed with -9 at the steps of an order, and the starts after it. */
import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { DAY_MS, MINUTE_MS } from '../../../src/base/clock.ts'
import { findCurrent } from '../../../src/features/operation/acme/folder.ts'
import { childProgram } from '../../child-program.ts'
import { type Authority, createAuthority, idOf, textOf } from '../../fakes/authority.ts'
import type { ToParent } from './acme-child.ts'

const program = childProgram('test/e2e/crash/acme-child.ts')
const START = Date.UTC(2026, 10, 21, 12)
/** The delay after one failure. */
const BACK_OFF_MS = 2 * MINUTE_MS

async function setUp(t: TestContext) {
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-acme-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const clock = { now: START }
  let child: ReturnType<typeof fork> | undefined
  const asked = new Map<string, (answer: string | undefined) => void>()
  const authority = createAuthority({
    now: () => clock.now,
    findAnswer: (token) =>
      new Promise((resolve) => {
        asked.set(token, resolve)
        child?.send({ token })
      }),
  })

  /** Runs a server until nothing is due, or until it is killed where `killAt` says; its reason in `/health`. */
  async function run(killAt = ''): Promise<string | null> {
    const started = fork(program, [folder, String(clock.now), killAt])
    child = started
    t.after(() => void started.kill('SIGKILL'))
    let fault: string | null = null
    authority.onDone = async (step) => {
      if (step !== killAt) return
      started.kill('SIGKILL')
      await exited
    }
    started.on('message', async (message: ToParent) => {
      if ('done' in message) fault = message.fault
      else if ('token' in message) asked.get(message.token)?.(message.answer)
      else await answer(started, message)
    })
    const exited = once(started, 'exit')
    const [status, signal] = await exited
    assert.deepEqual([status, signal], killAt === '' ? [0, null] : [null, 'SIGKILL'], killAt)
    return fault
  }

  async function answer(started: NonNullable<typeof child>, message: ToParent & { id: number }) {
    if (!('request' in message)) return
    const answered = await authority.request(message.request)
    const { status, headers = {} } = answered
    if (started.connected)
      started.send({ id: message.id, answer: { status, headers, text: textOf(answered) } })
  }

  const acme = path.join(folder, 'acme')
  return { acme, authority, clock, run, files: async () => (await readdir(acme)).sort() }
}

async function assertHeld(acme: string, { orders }: Authority): Promise<void> {
  const held = await findCurrent(acme)
  const fingerprints = orders.flatMap(({ chain }) => (chain === null ? [] : [idOf(chain)]))
  assert.ok(held !== undefined)
  assert.equal(idOf(held.certificate.toString()), fingerprints.at(-1), 'the newest is in use')
}

const NAMES = [/^account-[0-9a-f]{16}\.json$/, /^certificate\.pem$/, /^state\.json$/]

async function assertClean(files: readonly string[]): Promise<void> {
  assert.equal(files.length, NAMES.length, files.join())
  for (const [index, name] of NAMES.entries()) assert.match(files[index] ?? '', name)
}

const STEPS = ['new-order', 'challenge', 'certificate', 'rename']

for (const step of STEPS) {
  test(`F6: an order that is killed at ${step} ends with one certificate, after the back-off`, async (t) => {
    const { acme, authority, clock, run, files } = await setUp(t)
    await run(step)
    const orders = authority.orders.length
    assert.equal(orders, 1)
    assert.equal(await findCurrent(acme), undefined)
    const begun = await run()
    assert.match(begun ?? '', /stopped during the order\. The next attempt is at /)
    assert.ok((await files()).every((name) => !name.endsWith('.unfinished')))
    assert.equal(authority.orders.length, orders)
    // How long it rests is one rule for all steps.
    if (step === STEPS[0]) {
      clock.now += BACK_OFF_MS - 1
      await run()
      assert.equal(authority.orders.length, orders)
      clock.now += 1
    } else clock.now += BACK_OFF_MS
    const fault = await run()
    assert.equal(fault, null)
    assert.equal(authority.orders.length, orders + 1)
    await assertHeld(acme, authority)
    await assertClean(await files())
    assert.equal(authority.accounts.size, 1)
  })
}

test('F6: an order that is killed once its certificate is in place is not repeated, and leaves no fault', async (t) => {
  const { acme, authority, clock, run, files } = await setUp(t)
  await run('renamed')
  for (const wait of [0, BACK_OFF_MS]) {
    clock.now += wait
    const fault = await run()
    assert.equal(fault, null)
  }
  assert.equal(authority.orders.length, 1)
  await assertHeld(acme, authority)
  await assertClean(await files())
})

test('F6: a renewal that is killed when its successor was issued is ordered again, and the old one kept', async (t) => {
  const { acme, authority, clock, run, files } = await setUp(t)
  await run()
  const first = await findCurrent(acme)
  clock.now += 70 * DAY_MS
  await run('certificate')
  assert.equal((await findCurrent(acme))?.certificate.fingerprint, first?.certificate.fingerprint)
  assert.equal(authority.orders.length, 2)
  await run()
  assert.equal(authority.orders.length, 2)
  clock.now += BACK_OFF_MS
  assert.equal(await run(), null)
  assert.equal(authority.orders.length, 3)
  await assertHeld(acme, authority)
  await assertClean(await files())
})
