/**
 * The crash test of resets and deletions: a server is killed with -9 again and again while it erases a
 * project. In the end no row of the project is left, and none of another one has changed that has
 * contacts with the same addresses.
 */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { silentLog } from '../../../src/base/log.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { DUTIES } from '../../../src/core/areas.ts'
import { type OpenCore, openCore } from '../../../src/core/open-core.ts'
import { startLazyReader } from '../../../src/features/ground/events/readers.ts'
import { analyticsHandler } from '../../../src/features/insight/analytics/counting/follow-events.ts'
import { deleteProject, resetProject } from '../../../src/features/operation/erasure/end-project.ts'
import { listErasedTables } from '../../../src/features/operation/erasure/erase-rows.ts'
import { createProject } from '../../../src/features/tenancy/accounts/projects/projects.ts'
import { eq, sql } from '../../../src/store/drizzle.ts'
import { takeServeLock } from '../../../src/store/files/serve-lock.ts'
import { projects } from '../../../src/store/schema/accounts.ts'
import type { Reader } from '../../../src/store/store.ts'
import { findText, listAll } from '../../features/operation/erasure/fill.ts'
import { fillMany } from '../../features/operation/erasure/fill-many.ts'
import { PATIENCE_MS } from '../../patience.ts'
import { eventually } from '../program.ts'
import { serveHere } from '../serve-here.ts'
import { type Installation, install, makeProject } from '../server.ts'

const configuration = `
[http]
listen = "127.0.0.1:0"
[delivery]
mode = "direct"
hostname = "mail.example.test"
[dns]
servers = ["127.0.0.1:9"]
[limits]
api_requests_per_minute = 0
[log]
level = "fatal"
`

type Crash = { contacts: number; kills: number; runMs: number }
type Erased = { installation: Installation; id: string; secret: string; core: OpenCore }

/** Returns how often the server was killed while rows were left. */
export async function crashReset(t: TestContext, crash: Crash): Promise<number> {
  return crashErasure(t, crash, {
    begin: ({ core, id }) => resetProject(core, id),
    isDone: async ({ core, id }) => (await findProject(core, id))?.resetSince === null,
    check: async ({ installation, core, id, secret }) => {
      for (const { name } of await tablesOfProjects(core.store.read)) {
        const left = await countOf(core.store.read, name, id)
        // Its own job stays, as a finished one.
        if (name === 'jobs') assert.equal(left, 1)
        else if (listErasedTables(DUTIES.tables, 'deletion').includes(name))
          assert.ok(left > 0 || !FILLED.includes(name), name)
        else assert.equal(left, 0, name)
      }
      await checkUsable(t, { installation, secret })
    },
  })
}

/** As `crashReset`. */
export async function crashDeletion(t: TestContext, crash: Crash): Promise<number> {
  return crashErasure(t, crash, {
    begin: ({ core, id }) => deleteProject(core, id),
    isDone: async ({ core, id }) => (await findProject(core, id)) === undefined,
    check: async ({ core, id }) => assert.deepEqual(await findText(core.store.read, id), []),
  })
}

/** Kept tables of which the erased project has rows. */
const FILLED = ['domains', 'memberships']

type Erasure = {
  begin(erased: Erased): Promise<void>
  isDone(erased: Erased): Promise<boolean>
  check(erased: Erased): Promise<void>
}

async function crashErasure(
  t: TestContext,
  { contacts, kills, runMs }: Crash,
  { begin, isDone, check }: Erasure,
): Promise<number> {
  const installation = await install(t, configuration)
  const { id, secret } = await makeProject(installation)
  const file = path.join(installation.folder, 'data/pillarbox.db')
  const cwd = installation.folder
  const config = loadConfig({ cwd, configPath: path.join(cwd, 'pillarbox.toml'), env: {} })
  const log = silentLog()
  // A server has run here before: its lock's file is there, and who has the database open is welcome.
  const lock = await takeServeLock(config.database.file, { log })
  lock.release()
  const core = await openCore(config, { log })
  t.after(() => core.close())
  const other = { name: 'Other', ownerAddress: 'owner@example.test' }
  const { id: otherId } = await createProject(core, other)
  fillMany(file, { id, number: 1 }, contacts)
  fillMany(file, { id: otherId, number: 2 }, Math.ceil(contacts / 10))
  await countAll(core)
  const erased = { installation, id, secret, core }
  const digest = await digestOf(core.store.read, otherId)
  await begin(erased)
  let killed = 0
  while (killed < kills && !(await isDone(erased))) {
    const before = await countRows(erased)
    const server = await installation.serve()
    await untilRandomMoment(erased, { before, runMs })
    await server.kill('SIGKILL')
    killed += 1
    // A job that is lost again rests for a minute.
    await core.store.write((tx) => tx.run(sql`update jobs set losses = 0 where state = 'active'`))
  }
  const killedMidway = (await isDone(erased)) ? killed - 1 : killed
  const server = await installation.serve()
  const giveUpAt = performance.now() + PATIENCE_MS + contacts
  while (!(await isDone(erased))) {
    assert.ok(performance.now() < giveUpAt, 'the erasure never ended')
    await sleep(50)
  }
  assert.equal(await server.kill('SIGTERM'), 0)
  await checkChildren(core.store.read)
  assert.deepEqual(await digestOf(core.store.read, otherId), digest)
  await check(erased)
  return killedMidway
}

/** Resolves before most of what was there has gone, however late a busy machine looks at the clock. */
async function untilRandomMoment(
  erased: Erased,
  { before, runMs }: { before: number; runMs: number },
): Promise<void> {
  const endsAt = performance.now() + runMs / 2 + (Math.random() * runMs) / 2
  await eventually(async () => {
    const isDue = performance.now() >= endsAt || (await countRows(erased)) < before / 2
    return isDue || undefined
  })
}

/** Of the tables that take most of the time. */
async function countRows({ core, id }: Erased): Promise<number> {
  const tables = ['contacts', 'emails', 'events']
  const counts = await Promise.all(tables.map((table) => countOf(core.store.read, table, id)))
  return counts.reduce((sum, count) => sum + count, 0)
}

/** As the followers do, so that only the erasure changes figures. */
async function countAll(core: OpenCore): Promise<void> {
  // This write also tells the store of rows that another connection has added.
  await core.store.write((tx) =>
    tx.run(sql`update event_followers set seq = (select max(seq) from events)
      where name = 'billing'`),
  )
  const follower = startLazyReader(core, [analyticsHandler(core)])
  await follower.caughtUp()
  await follower.stop()
}

function findProject({ store }: OpenCore, id: string) {
  return store.read.select().from(projects).where(eq(projects.id, id)).get()
}

async function tablesOfProjects(read: Reader) {
  const all = await listAll(read)
  return all.filter(({ columns }) => columns.some(({ name }) => name === 'project_id'))
}

async function countOf(read: Reader, table: string, id: string): Promise<number> {
  const text = sql`select count(*) as n from ${sql.identifier(table)} where project_id = ${id}`
  return (await read.get<{ n: number }>(text)).n
}

/** Of the project, its rows and what goes with them. */
async function digestOf(read: Reader, id: string): Promise<Record<string, string>> {
  const digest: Record<string, string> = {}
  const add = async (table: string, isOwn: ReturnType<typeof sql>) => {
    const rows = await read.all(sql`select * from ${sql.identifier(table)} where ${isOwn}`)
    digest[table] = `${rows.length} ${hash('sha256', JSON.stringify(rows))}`
  }
  await add('projects', sql`id = ${id}`)
  for (const { name } of await tablesOfProjects(read)) await add(name, sql`project_id = ${id}`)
  await add('attempts', sql`email_id in (select id from emails where project_id = ${id})`)
  const people = sql`(select id from contacts where project_id = ${id})`
  await add('segment_members', sql`contact_id in ${people}`)
  return digest
}

/** No row is left whose owner has gone. */
async function checkChildren(read: Reader): Promise<void> {
  const orphans: [string, string, string][] = [
    ['attempts', 'email_id', 'emails'],
    ['segment_members', 'segment_id', 'segments'],
    ['webhook_deliveries', 'endpoint_id', 'webhook_endpoints'],
    ['job_progress', 'job_id', 'jobs'],
  ]
  for (const [table, column, owner] of orphans) {
    const { n } = await read.get<{ n: number }>(
      sql.raw(
        `select count(*) as n from ${table} where ${column} not in (select id from ${owner})`,
      ),
    )
    assert.equal(n, 0, table)
  }
  assert.deepEqual(await read.all(sql`pragma foreign_key_check`), [])
}

async function checkUsable(
  t: TestContext,
  { installation, secret }: Pick<Erased, 'installation' | 'secret'>,
): Promise<void> {
  const server = await serveHere(t, installation)
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ email: 'person1@people.test' })
  const made = await fetch(`${server.url}/contacts`, { method: 'POST', headers, body })
  assert.equal(made.status, 201)
  const listed = await fetch(`${server.url}/contacts`, { headers })
  assert.equal(((await listed.json()) as { total: number }).total, 1)
  await server.stop()
}
