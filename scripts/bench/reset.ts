/**
 * `npm run bench:reset [-- --contacts N]`: resets a project of 100,000 contacts, each with an email and its
 * attempt, two events and a membership of a segment, and deletes another one like it, while a third
 * project sends 50 emails a second.
 *
 * Required: 60 s for each from the call to the last row; a p99 of POST /v1/send below 150 ms meanwhile.
 */
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import { silentLog } from '../../src/base/log.ts'
import { loadConfig } from '../../src/config/load.ts'
import { type OpenCore, openCore } from '../../src/core/open-core.ts'
import { deleteProject, resetProject } from '../../src/features/operation/erasure/end-project.ts'
import { fillMany } from '../../test/features/operation/erasure/fill-many.ts'
import { waitForSearchIndex } from './campaign/people.ts'
import { type LoadResult, makeProject, prose, startLoad } from './mail/sender.ts'
import { type Bench, createBench, residentMegabytes } from './server.ts'
import { printTable, show } from './table.ts'

const { values: options } = parseArgs({
  strict: false,
  options: { contacts: { type: 'string', default: '100000' } },
})
const contacts = Number(options.contacts)
const configuration = `
[http]
listen = "127.0.0.1:0"
[delivery]
mode = "sandbox"
[limits]
api_requests_per_minute = 0
[log]
level = "warn"
`

type Measured = { seconds: number; sends: LoadResult; peakMegabytes: number }

const bench = createBench(configuration)
try {
  const secret = await makeProject(bench)
  const [reset, deleted] = [await addProject(bench, 'Reset'), await addProject(bench, 'Deleted')]
  fillMany(bench.database, { id: reset, number: 1 }, contacts)
  fillMany(bench.database, { id: deleted, number: 2 }, contacts)
  const server = await bench.serve()
  try {
    await waitForSearchIndex(bench.database)
    const measure = (act: (core: OpenCore) => Promise<void>, id: string) =>
      measureErasure({ url: server.url, pid: server.pid, secret, id, act })
    const results = {
      reset: await measure((core) => resetProject(core, reset), reset),
      deletion: await measure((core) => deleteProject(core, deleted), deleted),
    }
    printTable([
      [`${contacts} contacts`, 'seconds', 'send p50 ms', 'send p99 ms', 'refused', 'peak MB'],
      ...Object.entries(results).map(([name, { seconds, sends, peakMegabytes }]) => [
        ...[name, show(seconds, 1), show(sends.p50Ms, 1), show(sends.p99Ms, 1)],
        ...[show(sends.refused), show(peakMegabytes)],
      ]),
    ])
  } finally {
    await server.stop()
  }
} finally {
  bench.remove()
}

async function addProject({ command }: Bench, name: string): Promise<string> {
  const owner = ['--owner', 'bench@example.test']
  return ((await command('project', 'create', '--name', name, ...owner)) as { id: string }).id
}

async function measureErasure({
  url,
  pid,
  secret,
  id,
  act,
}: {
  url: string
  pid: number
  secret: string
  id: string
  act: (core: OpenCore) => Promise<void>
}): Promise<Measured> {
  const load = await startLoad({
    ...{ url, secret, connections: 5, perSecond: 50, from: 0 },
    body: JSON.stringify({
      ...{ to: 'reader@@@people.test', from: 'shop@example.test', subject: 'Hello' },
      body: prose(5_000),
    }),
  })
  const begunAt = performance.now()
  await beside(bench, act)
  await untilErased(id)
  const seconds = (performance.now() - begunAt) / 1_000
  const sends = await load.stop()
  return { seconds, sends, peakMegabytes: residentMegabytes(pid).peak }
}

/** As a command works beside a running server. */
async function beside({ folder }: Bench, act: (core: OpenCore) => Promise<void>): Promise<void> {
  const configPath = path.join(folder, 'pillarbox.toml')
  const config = loadConfig({ cwd: folder, configPath, env: {} })
  const core = await openCore(config, { log: silentLog() })
  await act(core).finally(() => core.close())
}

async function untilErased(id: string): Promise<void> {
  const database = new Database(bench.database, { readonly: true })
  const isOpen = database
    .prepare('SELECT 1 FROM projects WHERE id = ? AND (reset_since OR deleted_at) IS NOT NULL')
    .pluck()
  while (isOpen.get(id) === 1) await sleep(100)
  database.close()
}
