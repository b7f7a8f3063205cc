/** Fences whose setting is killed with -9: they are there as a whole or not at all, and nothing acts behind half a one. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { HOUR_MS } from '../../../src/base/clock.ts'
import { silentLog } from '../../../src/base/log.ts'
import {
  findKnown,
  generationFileOf,
  readGeneration,
} from '../../../src/features/ground/fence/generation-file.ts'
import { FENCED_UNTIL, SERVER } from '../../../src/features/ground/fence/rows.ts'
import { sql } from '../../../src/store/drizzle.ts'
import { newId } from '../../../src/store/ids.ts'
import { sessions } from '../../../src/store/schema/accounts.ts'
import { statement } from '../../../src/store/statement.ts'
import { enqueueJob } from '../../../src/work/jobs/enqueue.ts'
import { childProgram } from '../../child-program.ts'
import { addCampaign } from '../../features/outreach/campaigns/add-campaign.ts'
import { eventually, type Origin, type Program, startProgram } from '../program.ts'
import { commandHere, installBesideSink, makeProject, post } from '../server.ts'

const program = childProgram('test/e2e/crash/fence-child.ts')
const findUser = statement<{ id: string }>(() => sql`select id from users`)

const STEPS = ['inside', 'committed', 'last']

function killAt(who: string, step: string, { core }: Program): Promise<void> {
  return runKilled(who, step, core.config.dataDir, core.config.secret ?? '')
}

async function runKilled(...argv: string[]): Promise<void> {
  const args = [program, ...argv]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] })
  assert.deepEqual(await once(child, 'exit'), [null, 'SIGKILL'])
}

const LATER = '451 4.7.1 Later'

let made: Promise<{ origin: Origin; email: string }> | undefined

/** What a program has left whose mail was deferred, with a campaign, a job and a session. */
async function makeOrigin() {
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-fenced-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const started = await startProgram()
  const { core, project } = started
  await started.receive('dest.test', {
    respond: ({ verb }) => (verb === 'RCPT' ? LATER : undefined),
  })
  const [email = ''] = await started.send({ to: 'old@dest.test' })
  await started.untilState(email, 'deferred')
  await started.stop()
  const at = core.now()
  const projectId = project.id
  await addCampaign(core, { projectId, status: 'SCHEDULED', scheduledFor: at + HOUR_MS })
  await core.store.write(async (tx) => {
    // A server that starts would send it at once.
    await tx.run(sql`update emails set due_at = ${at} where id = ${email}`)
    await enqueueJob(tx, { kind: 'platform-mail', payload: {}, now: at } as never)
    const userId = (await tx.list(findUser))[0]?.id ?? ''
    const life = { createdAt: at, issuedAt: at, lastUsedAt: at, expiresAt: at + HOUR_MS }
    await tx.insert(sessions).values({ id: newId(), userId, ip: null, ...life })
  })
  return { origin: await started.closeInto(folder), email }
}

/** One that goes on from there, and has not started. */
async function setUp(t: TestContext) {
  made ??= makeOrigin()
  const { origin, email } = await made
  const started = await startProgram({}, silentLog(), origin)
  t.after(started.close)
  const receiver = { isBusy: true }
  const sink = await started.receive('dest.test', {
    respond: ({ verb }) => (verb === 'RCPT' && receiver.isBusy ? LATER : undefined),
  })
  return { started, sink, receiver, email }
}

/** What a fence changes, read at once. */
async function readFence({ core }: Program) {
  const one = async (text: ReturnType<typeof sql>) =>
    Object.values((await core.store.read.all<Record<string, unknown>>(text))[0] ?? {})[0]
  return {
    generations: await one(sql`select count(*) as n from generations`),
    fences: await one(sql`select group_concat(project_id) from
      (select project_id from fences order by project_id)`),
    campaigns: await one(sql`select group_concat(pause_reason) from campaigns`),
    heldJobs: await one(sql`select count(*) from jobs where run_at = ${FENCED_UNTIL}`),
    sessions: await one(sql`select count(*) from sessions`),
  }
}

const NONE = { generations: 0, fences: null, campaigns: null, heldJobs: 0, sessions: 1 }
const wholeOf = ({ project }: Program) => ({
  generations: 1,
  fences: [SERVER, project.id].join(','),
  campaigns: 'restored',
  heldJobs: 1,
  sessions: 0,
})

/** The server starts, and sends a new email; the sink has that alone, and the old one is held. */
async function assertHeld({ started, sink, receiver, email }: Awaited<ReturnType<typeof setUp>>) {
  receiver.isBusy = false
  await started.start()
  const [fresh = ''] = await started.send({ to: 'new@dest.test' })
  await started.untilState(fresh, 'delivered')
  await started.untilState(email, 'paused')
  assert.deepEqual(
    sink.messages.map(({ to }) => to),
    [['new@dest.test']],
  )
}

for (const step of STEPS) {
  test(`F7: fence without a server, killed at ${step}`, async (t) => {
    const world = await setUp(t)
    const { started, sink, receiver, email } = world
    await killAt('command', step, started)
    if (step !== 'inside') {
      assert.deepEqual(await readFence(started), wholeOf(started))
      return assertHeld(world)
    }
    assert.deepEqual(await readFence(started), NONE)
    receiver.isBusy = false
    await started.start()
    await started.untilState(email, 'delivered')
    assert.equal(sink.messages.length, 1)
  })

  test(`F7: the start on an older database, killed at ${step}`, async (t) => {
    const world = await setUp(t)
    const { started } = world
    const { core } = started
    const { seq } = await findKnown(core.store.read)
    const file = generationFileOf(core.config)
    const newer = { generation: 0, seq: seq + 100, at: '2026-11-21T12:00:00.000Z' }
    await writeFile(file, JSON.stringify(newer))
    await killAt('start', step, started)
    assert.deepEqual(await readFence(started), step === 'inside' ? NONE : wholeOf(started))
    // The next start sets it if it is missing, and no second one if it is there.
    await assertHeld(world)
    assert.deepEqual({ ...(await readFence(started)), sessions: 0 }, wholeOf(started))
    const known = await readGeneration(file)
    assert.ok(typeof known !== 'string')
    assert.deepEqual([known.generation, known.seq > seq + 1_000_000], [1, true])
  })
}

test('F7: fence beside a running server, killed at each step', async (t) => {
  const world = await setUp(t)
  const { started, sink, receiver, email } = world
  const { project } = started
  await started.start()
  await killAt('command', 'inside', started)
  assert.deepEqual(await readFence(started), NONE)
  await started.untilState(email, 'deferred', 'sending')
  for (const [index, step] of ['committed', 'last'].entries()) {
    await killAt('command', step, started)
    // The server finds it by itself, and puts the mail aside.
    await started.untilState(email, 'paused')
    const { generations, fences } = await readFence(started)
    assert.deepEqual([generations, fences], [index + 1, [SERVER, project.id].join(',')])
  }
  receiver.isBusy = false
  const [fresh = ''] = await started.send({ to: 'new@dest.test' })
  await started.untilState(fresh, 'delivered')
  assert.equal(sink.messages.length, 1)
  await started.stop()
  await started.start()
  await started.command('queue', 'release', '--restored')
  await started.untilState(email, 'delivered')
  assert.equal(sink.messages.length, 2)
})

test('F7: a server that is killed with the command that fences it sends nothing of before at its start', async (t) => {
  const receiver = { isBusy: true }
  const { sink, installation } = await installBesideSink(t, {
    retrySchedule: '1s',
    respond: ({ verb }) => (verb === 'RCPT' && receiver.isBusy ? '451 4.3.0 Later' : undefined),
  })
  const { id, secret } = await makeProject(installation)
  const send = async (url: string, to: string) => {
    const request = { to, from: 'shop@example.test', subject: to, body: '<p>Hello</p>' }
    assert.equal((await post(url, secret, request)).status, 200)
  }
  let server = await installation.serve()
  await send(server.url, 'old@dest.test')
  await eventually(() => (sink.lines.some((line) => line.startsWith('RCPT')) ? true : undefined))
  await runKilled('command', 'committed', path.join(installation.folder, 'data'))
  await server.kill('SIGKILL')
  receiver.isBusy = false

  server = await installation.serve()
  const holds = (await commandHere(installation, 'queue', 'holds')) as { project: string | null }[]
  assert.deepEqual(new Set(holds.map(({ project }) => project)), new Set([null, id]))
  await send(server.url, 'new@dest.test')
  await sink.waitForMessages(1)
  await eventually(async () => {
    const listed = (await commandHere(installation, 'queue', 'list')) as { state: string }[]
    return listed.every(({ state }) => state === 'paused') && listed.length === 1 ? true : undefined
  })
  assert.deepEqual(
    sink.messages.map(({ to }) => to),
    [['new@dest.test']],
  )
  assert.equal(await server.kill('SIGTERM'), 0)
})
