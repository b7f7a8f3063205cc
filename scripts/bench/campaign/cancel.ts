/**
 * The cancellation of a campaign that is being sent while half of its emails wait: how long the
 * answer takes, how long after it a message still begins (contract: a second at most), and when the
 * last row has ended.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { startDnsServer } from '../../../test/fakes/dns-server.ts'
import { verifyInsteadOfTrust } from '../mail/direct.ts'
import { makeProject } from '../mail/sender.ts'
import { createBench } from '../server.ts'
import { campaignConfiguration } from './configuration.ts'
import { addPeople, type PeopleOptions, waitForSearchIndex } from './people.ts'
import { createApi, type Receivers, sendCampaign } from './processes.ts'

export type Cancellation = {
  waiting: number
  answerMs: number
  /** From the answer to the last DATA command; negative if none came after it. */
  lastDataMs: number
  /** From the answer to the end of the last email. */
  endedSeconds: number
}

export async function measureCancel(
  receivers: Receivers,
  list: PeopleOptions,
): Promise<Cancellation> {
  const dns = await startDnsServer()
  const configuration = campaignConfiguration(receivers.port, dns.address)
  const bench = createBench(`${configuration}\n[campaigns]\nrows_ahead = 0\n`)
  const secret = await makeProject(bench)
  verifyInsteadOfTrust(bench.database)
  const people = addPeople(bench.database, list)
  for (const [name, records] of Object.entries(people.zone)) dns.set(name, records)
  const server = await bench.serve()
  await waitForSearchIndex(bench.database)
  const database = new Database(bench.database, { readonly: true })
  try {
    const api = createApi(server.url, secret)
    const id = await sendCampaign(api)
    const waiting = database
      .prepare("SELECT count(*) FROM emails WHERE state IN ('queued', 'deferred', 'sending')")
      .pluck()
    while (Number(waiting.get()) < list.count / 2) await sleep(200)
    const before = Number(waiting.get())
    const askedAt = Date.now()
    await api('POST', `/campaigns/${id}/cancel`)
    const answeredAt = Date.now()
    while (Number(waiting.get()) > 0) await sleep(100)
    const endedAt = Date.now()
    return {
      waiting: before,
      answerMs: answeredAt - askedAt,
      lastDataMs: (await receivers.lastDataAt()) - answeredAt,
      endedSeconds: (endedAt - answeredAt) / 1_000,
    }
  } finally {
    database.close()
    await server.stop()
    bench.remove()
    await dns.stop()
  }
}
