/** An import that was acknowledged is done whole and once, however often the server is killed. */
import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import { silentLog } from '../../../src/base/log.ts'
import { eq } from '../../../src/store/drizzle.ts'
import { contacts } from '../../../src/store/schema/contacts.ts'
import { events } from '../../../src/store/schema/events.ts'
import { importChunks } from '../../../src/store/schema/jobs.ts'
import { openStore, type Store } from '../../../src/store/store.ts'
import { eventually } from '../program.ts'
import { type Installation, install, makeProject } from '../server.ts'

const KNOWN = 500
const ROWS = 4_000
const KILLS = 2

const configuration = `
[http]
listen = "127.0.0.1:0"
[delivery]
mode = "sandbox"
[limits]
api_requests_per_minute = 0
[log]
level = "fatal"
`

type Status = {
  state: string
  progress: number
  result: { totalRows: number; createdCount: number; updatedCount: number; failureCount: number }
}

test('an import resumes after each kill -9, and imports and counts every row once', async (t) => {
  const installation = await install(t, configuration)
  const { secret } = await makeProject(installation)
  let server = await installation.serve()
  const call = async (route: string, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${secret}` }
    const response = await fetch(server.url + route, { ...init, headers })
    return (await response.json()) as never
  }
  const upload = async (csv: string): Promise<string> => {
    const body = new FormData()
    body.append('file', new Blob([csv], { type: 'text/csv' }), 'people.csv')
    const { jobId } = (await call('/contacts/import', { method: 'POST', body })) as {
      jobId: string
    }
    return `/contacts/import/${jobId}`
  }
  const until = (route: string, isThere: (status: Status) => boolean): Promise<Status> =>
    eventually(async () => {
      const status: Status = await call(route)
      return isThere(status) ? status : undefined
    })
  const isOver = ({ state }: Status) => state === 'completed' || state === 'failed'

  const first = Array.from({ length: KNOWN }, (_, at) => `p${at}@dest.test`)
  await until(await upload(`email\n${first.join('\n')}\n`), isOver)
  const rows = Array.from({ length: ROWS }, (_, at) => `p${at}@dest.test,no,${at}`)
  const route = await upload(`email,subscribed,number\n${rows.join('\n')}\n`)
  let progress = 0
  for (let kill = 0; kill < KILLS; kill += 1) {
    const status = await until(route, (now) => isOver(now) || now.progress > progress)
    progress = status.progress
    await server.kill('SIGKILL')
    server = await installation.serve()
  }
  t.diagnostic(`the last kill came at ${progress} %`)
  // Each step of its progress has the deadline to itself: the machine may be slow, the import not stuck.
  let status = await until(route, () => true)
  while (!isOver(status)) {
    const { progress: reached } = status
    status = await until(route, (now) => isOver(now) || now.progress > reached)
  }
  const { state, result } = status
  assert.equal(state, 'completed')
  assert.deepEqual(
    [result.totalRows, result.createdCount, result.updatedCount, result.failureCount],
    [ROWS, ROWS - KNOWN, KNOWN, 0],
  )
  assert.equal(await server.kill('SIGTERM'), 0)
  await inDatabase(installation, async ({ read }) => {
    assert.equal(await read.$count(contacts), ROWS)
    assert.equal(await read.$count(contacts, eq(contacts.subscribed, false)), ROWS)
    assert.equal(await read.$count(events, eq(events.name, 'contact.unsubscribed')), KNOWN)
    assert.equal(await read.$count(importChunks), 0)
  })
})

async function inDatabase(
  { folder }: Installation,
  look: (store: Store) => Promise<void>,
): Promise<void> {
  const file = path.join(folder, 'data/pillarbox.db')
  const store = await openStore({ path: file, log: silentLog(), watch: false })
  await look(store)
  await store.close()
}

/** As a minute later. */
