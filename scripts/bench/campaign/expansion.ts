/** Expansion alone: how many emails of a campaign are made a second while nothing is delivered. */
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { findFreePort } from '../mail/postfix.ts'
import { makeProject } from '../mail/sender.ts'
import { createBench } from '../server.ts'
import { heldConfiguration } from './configuration.ts'
import { addPeople, waitForSearchIndex } from './people.ts'
import { createApi, sendCampaign } from './processes.ts'

export async function measureExpansion(
  count: number,
  list: { dataBytes: number; hostLength: number },
): Promise<number> {
  const bench = createBench(heldConfiguration(await findFreePort()))
  const secret = await makeProject(bench)
  addPeople(bench.database, { count, ...list })
  const server = await bench.serve()
  await waitForSearchIndex(bench.database)
  const database = new Database(bench.database, { readonly: true })
  try {
    const api = createApi(server.url, secret)
    await sendCampaign(api)
    const progress = database.prepare<[], { ms: number | null; rows: number }>(
      'SELECT expanded_at - begun_at AS ms, rows_made AS rows FROM campaign_progress',
    )
    for (;;) {
      const row = progress.get()
      if (row?.ms != null) return row.rows / (row.ms / 1_000)
      await sleep(100)
    }
  } finally {
    database.close()
    await server.stop()
    bench.remove()
  }
}
