/** Runs the measured server on a copy of the seeded database, and sends mail meanwhile. */
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { type Api, createApi } from './api.ts'
import { type LoadResult, prose, startLoad } from './mail/sender.ts'
import { copyDatabase, prepareDatabase } from './seeded-database.ts'
import { type ProjectName, projectPlans, SECRET, type Size } from './seeding/plan.ts'
import { createBench, type Running } from './server.ts'

export type SeededServer = {
  server: Running
  /** The API with the key of a project. */
  api(project: ProjectName): Api
  /** Queries the database directly. */
  query<T>(read: (database: Database.Database) => T): T
  /** Runs `work` while the big project sends 50 emails per second; returns the times of the sends. */
  besideSends<T>(work: () => Promise<T>): Promise<{ result: T; sends: LoadResult }>
  stop(): Promise<void>
}

const SENDS_A_SECOND = 50
const WARM_UP_MS = 5_000

const configuration = `
secret = "${SECRET}"
[http]
listen = "127.0.0.1:0"
[dns]
servers = ["127.0.0.1:9"]
[security]
auto_disable = false
[limits]
api_requests_per_minute = 0
session_requests_per_minute = 0
[log]
level = "warn"
`

type SeededOptions = {
  /** In full if absent. */
  size?: Size
  /** Changes the copy before the server starts. */
  change?(database: Database.Database): void
}

async function startSeededServer({ size, change }: SeededOptions): Promise<SeededServer> {
  const file = await prepareDatabase(size)
  const bench = createBench(configuration)
  copyDatabase(file, bench.database)
  if (change !== undefined) {
    const database = new Database(bench.database)
    change(database)
    database.close()
  }
  const server = await bench.serve()
  const apis: Api[] = []
  const sender = createSender(server)
  return {
    server,
    api(name) {
      const api = createApi({ url: server.url, secret: planOf(name).keys.secretKey })
      apis.push(api)
      return api
    },
    query(read) {
      const database = new Database(bench.database, { readonly: true })
      try {
        return read(database)
      } finally {
        database.close()
      }
    },
    async besideSends(work) {
      const load = await sender()
      try {
        const result = await work()
        return { result, sends: await load.stop() }
      } catch (error) {
        await load.stop()
        throw error
      }
    },
    async stop() {
      for (const api of apis) api.close()
      await server.stop()
      bench.remove()
    },
  }
}

/** Runs `work` with its own server on a fresh copy. */
export async function withSeededServer(
  work: (seeded: SeededServer) => Promise<void>,
  options: SeededOptions = {},
): Promise<void> {
  const seeded = await startSeededServer(options)
  try {
    // Warms up: a fresh server is slower, and the first sends allocate memory.
    await seeded.besideSends(() => sleep(WARM_UP_MS))
    await work(seeded)
  } finally {
    await seeded.stop()
  }
}

/** Each load continues where the previous one ended. */
function createSender({ url }: Running) {
  const { domain, keys } = planOf('big')
  let from = 0
  return async () => {
    const load = await startLoad({
      ...{ url, secret: keys.secretKey, connections: 5, perSecond: SENDS_A_SECOND, from },
      body: JSON.stringify({
        to: 'customer@@@example.org',
        from: `shop@${domain}`,
        subject: 'Your order @@',
        body: prose(2_048),
      }),
    })
    return {
      async stop() {
        const result = await load.stop()
        from += result.answered
        if (result.refused > 0) throw new Error(`${result.refused} sends were refused`)
        return result
      },
    }
  }
}

function planOf(name: ProjectName) {
  const plan = projectPlans.find((each) => each.name === name)
  if (plan === undefined) throw new TypeError(`No project is called ${name}.`)
  return plan
}
